#!/usr/bin/env bash
# Builds, verifies and measures the nets with TensorRT on the card at hand: T4, A10, L4, GeForce RTX 20 or newer.
# Usage: benchmarks/tensorrt_on_device.sh [tensorrt-rtx|tensorrt] [FOLDER]
# Python with doseflow and the library must be on the path: pip install 'doseflow[tensorrt-rtx]'. With torch for CUDA
# and onnxruntime-gpu there too, the other forms of the nets are measured on the same card.
# Exits with 2 where it cannot begin, with 1 where something that should run did not.
set -euo pipefail
backend="${1:-tensorrt-rtx}"
out="${2:-var/tensorrt}"
read -ra python <<<"${PYTHON:-python3}"
doseflow=("${python[@]}" -m doseflow)

stop() {
  echo "$1" >&2
  exit 2
}

[[ $# -le 2 ]] || stop "usage: $0 [tensorrt-rtx|tensorrt] [FOLDER]"
[[ "$backend" == tensorrt-rtx || "$backend" == tensorrt ]] ||
  stop "the first word must be tensorrt-rtx or tensorrt, got $backend"
command -v "${python[0]}" >/dev/null || stop "${python[0]} is not there; set PYTHON to a Python that has doseflow"
"${python[@]}" -c 'import doseflow' 2>/dev/null || stop "${python[0]} has no doseflow; install it, or set PYTHON"

card="$("${python[@]}" - "$backend" <<'PY'
import sys

from doseflow.errors import DoseflowError
from doseflow.serve.cuda_driver import cuda_device
from doseflow.serve.tensorrt.library import load_library

try:
    card, library = cuda_device(), load_library(sys.argv[1])
    if library.is_rtx:
        library.capability(card.capability)
except DoseflowError as error:
    sys.exit(str(error))
print(card.capability, card.name)
PY
)" || exit 2
capability="${card%% *}"
echo "${card#* }, compute capability $capability"
mkdir -p "$out" 2>/dev/null && [[ -w "$out" ]] || stop "$out cannot be written"

precisions=(fp32 fp16 int8)
if [[ "$backend" == tensorrt-rtx && "$capability" == 7.5 ]]; then
  echo "fp32 is left out: TensorRT for RTX has no FP32 matrix product for compute capability 7.5"
  precisions=(fp16 int8)
fi

failed=0
for precision in "${precisions[@]}"; do
  folder="$out/$precision"
  if ! "${doseflow[@]}" engine build --backend "$backend" --precision "$precision" \
      --compute-capability "$capability" --out "$folder"; then
    echo "$precision: not built for $capability" >&2
    failed=1
    continue
  fi
  if ! { "${doseflow[@]}" engine inspect "$folder" && "${doseflow[@]}" engine verify "$folder"; }; then
    echo "$precision: not verified, and so not measured" >&2
    failed=1
    continue
  fi
  "${doseflow[@]}" engine bench --engine "${backend//-/_}" --folder "$folder" --precision "$precision" \
    --only arrivals --only latency --json "$out/$precision.json" || failed=1
done

if "${python[@]}" -c 'import sys, onnxruntime, torch
sys.exit(not (torch.cuda.is_available() and "CUDAExecutionProvider" in onnxruntime.get_available_providers()))' \
    2>/dev/null; then
  "${doseflow[@]}" bench inference --device cuda --json "$out/inference.json" || failed=1
else
  echo "the other forms are left out: they need torch for CUDA, and onnxruntime-gpu in place of onnxruntime"
fi
exit "$failed"
