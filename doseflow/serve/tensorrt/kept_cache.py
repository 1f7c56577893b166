"""
What a library has measured or compiled for one net on one card, kept between starts.

TensorRT keeps timings of kernels at building, TensorRT for RTX kernels at loading. Either is good for exactly the
library, driver, card and net that it was made with, so all of them are in its name.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from doseflow.serve.cuda_driver import CudaDevice
from doseflow.serve.tensorrt.library import TensorrtLibrary

MAX_CACHE_BYTES = 256 * 2**20


def cache_key(library: TensorrtLibrary, card: CudaDevice, model_sha256: str) -> str:
    """Of library with version, CUDA version of the driver, compute capability, card, and digest of the net."""
    parts = (library.backend, library.version, str(card.driver_version), card.capability, card.name, model_sha256)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class KeptCache:
    """A file that is missing, damaged or not ours is an empty cache: nothing depends on it but time."""

    def __init__(self, folder: Path, key: str) -> None:
        self._file = folder / f"{key[:32]}.cache"

    def read(self) -> bytes:
        """What was kept, empty where nothing was."""
        try:
            data = self._file.read_bytes()
        except OSError:
            return b""
        body, digest = data[:-32], data[-32:]
        is_whole = len(data) <= MAX_CACHE_BYTES and hashlib.sha256(body).digest() == digest
        return body if is_whole else b""

    def write(self, data: bytes) -> bool:
        """Keep it for the next start; False where the folder cannot be written."""
        beside = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data + hashlib.sha256(data).digest())
            beside.replace(self._file)
        except OSError:
            return False
        return True
