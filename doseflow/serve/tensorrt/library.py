"""The two TensorRT libraries, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from doseflow.errors import EngineUnfit, InputWrong

Backend = Literal["tensorrt", "tensorrt-rtx"]

BACKENDS: tuple[Backend, ...] = ("tensorrt", "tensorrt-rtx")
OLDEST: dict[Backend, tuple[int, int]] = {"tensorrt": (10, 12), "tensorrt-rtx": (1, 7)}
"""The first versions with strongly typed networks as used here, and with engines that tell what they need."""
HOW_TO_GET: dict[Backend, str] = {
    "tensorrt": "install NVIDIA's wheel of TensorRT 10.12 or newer",
    "tensorrt-rtx": "run `pip install 'doseflow[tensorrt-rtx]'`",
}


@dataclass(frozen=True)
class TensorrtLibrary:
    """A library that is there; `module` is the Python module itself."""

    backend: Backend
    module: Any
    version: str

    @property
    def is_rtx(self) -> bool:
        """Whether it is TensorRT for RTX: it builds without a card, and compiles the rest at loading."""
        return self.backend == "tensorrt-rtx"

    def capabilities(self) -> tuple[str, ...]:
        """Compute capabilities that it can be told to build for, such as 8.9; none where it takes the card at hand."""
        if not self.is_rtx:
            return ()
        names = [name for name in self.module.ComputeCapability.__members__ if name.startswith("SM")]
        return tuple(f"{name[2:-1]}.{name[-1]}" for name in names)

    def capability(self, asked: str) -> Any:
        """
        What the library calls a compute capability.

        Raises
        ------
        InputWrong
            It does not build for it.
        """
        if asked not in self.capabilities():
            raise InputWrong(
                f"--compute-capability: {self.backend} {self.version} builds for {', '.join(self.capabilities())},"
                f" got {asked}"
            )
        return getattr(self.module.ComputeCapability, f"SM{asked.replace('.', '')}")


def load_library(backend: Backend) -> TensorrtLibrary:
    """
    Load a library.

    Raises
    ------
    EngineUnfit
        It is missing, too old, or does not load.
    """
    try:
        module = import_module(backend.replace("-", "_"))
    except ImportError as error:
        raise EngineUnfit(f"the library {backend} cannot be loaded ({error}); {HOW_TO_GET[backend]}") from error
    version = str(module.__version__)
    found = tuple(int(part) for part in version.split(".")[:2])
    if found < OLDEST[backend]:
        oldest = ".".join(map(str, OLDEST[backend]))
        raise EngineUnfit(f"{backend} must be {oldest} or newer, got {version}; {HOW_TO_GET[backend]}")
    return TensorrtLibrary(backend, module, version)
