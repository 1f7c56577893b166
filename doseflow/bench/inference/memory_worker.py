"""
Peak memory of some nets in this process, above what it had before it opened them.

    python -m doseflow.bench.inference.memory_worker own|shared NET [NET ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from doseflow.bench.inference.inputs import inputs_of_cities
from doseflow.serve.bundle import open_bundle
from doseflow.serve.onnx_engine import OnnxEngine, OnnxParams
from doseflow.serve.opened_model import PACKAGED_BUNDLES

NUM_THREADS, RUNS = 2, 5


def main() -> None:
    """Open the nets, ask each in turn, and print bytes."""
    way, names = sys.argv[1], sys.argv[2:]
    bundles = {name: open_bundle(PACKAGED_BUNDLES / name) for name in sorted(set(names))}
    inputs = {name: inputs_of_cities(bundle, 1, seed=1) for name, bundle in bundles.items()}
    # The one thing that every way needs once.
    before = peak_bytes()
    params = OnnxParams(NUM_THREADS, shares_memory=way == "shared", has_arena=True)
    engines = [(name, OnnxEngine(bundles[name].model, params=params)) for name in names]
    for _ in range(RUNS):
        for name, engine in engines:
            engine.run(inputs[name])
    sys.stdout.write(f"{peak_bytes() - before}\n")


def peak_bytes() -> int:
    """The most memory that this process has had at once, as the kernel counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel does not tell VmHWM")


if __name__ == "__main__":
    main()
