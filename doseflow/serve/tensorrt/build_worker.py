"""The process that one engine is built in: `python -m doseflow.serve.tensorrt.build_worker ORDER BUILT`."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from doseflow.errors import DoseflowError
from doseflow.serve.tensorrt.engine_build import build_here


def main() -> None:
    """Read the order, build, and leave what came of it, an error too, for the process that asked."""
    asked, done = map(Path, sys.argv[1:])
    order = pickle.loads(asked.read_bytes())  # noqa: S301 - our own process wrote it
    try:
        built = build_here(order)
    except DoseflowError as error:
        done.write_bytes(pickle.dumps(error))
        return
    done.write_bytes(pickle.dumps(built))


if __name__ == "__main__":
    main()
