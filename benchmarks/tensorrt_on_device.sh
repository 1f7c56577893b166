#!/usr/bin/env bash
# Builds, verifies and measures the nets with TensorRT on the card at hand: T4, A10, L4, GeForce RTX 20 or newer.
# Usage: benchmarks/tensorrt_on_device.sh [tensorrt-rtx|tensorrt] [FOLDER]
# Python with doseflow and the library must be on the path: pip install 'doseflow[tensorrt-rtx]'.
set -euo pipefail
backend="${1:-tensorrt-rtx}"
out="${2:-var/tensorrt}"
python="${PYTHON:-python3}"
doseflow="$python -m doseflow"

capability="$($python -c 'from doseflow.serve.cuda_driver import cuda_device; print(cuda_device().capability)')"
$python -c 'from doseflow.serve.cuda_driver import cuda_device; print(cuda_device())'
mkdir -p "$out"

failed=0
for precision in fp32 fp16 int8; do
  folder="$out/$precision"
  if ! $doseflow engine build --backend "$backend" --precision "$precision" \
      --compute-capability "$capability" --out "$folder"; then
    echo "$precision: not built for $capability" >&2
    failed=1
    continue
  fi
  $doseflow engine inspect "$folder"
  if ! $doseflow engine verify "$folder"; then
    failed=1
    continue
  fi
  $doseflow engine bench --engine "${backend//-/_}" --device cuda --folder "$folder" --precision "$precision" \
    --only arrivals --only latency --json "$out/$precision.json"
done
exit "$failed"
