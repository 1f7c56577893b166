"""Arrays side by side in one piece of memory, on the host and again on the device: one copy moves all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import structlog
from numpy.typing import DTypeLike, NDArray

from doseflow.errors import DoseflowError
from doseflow.serve.cuda_driver import CudaStream

log = structlog.get_logger(__name__)

_ALIGNMENT = 256
"""As the CUDA allocator aligns: kernels read such addresses fastest, and some read no other."""
_CARRIER = np.dtype(np.float32)
"""What the library is told the piece is made of; each array in it has a type of its own."""

_REFUSED = (DoseflowError, AttributeError)
"""What a driver says that cannot do it, or that has no such function; then everything runs as without one."""

Spec = tuple[tuple[int, ...], DTypeLike]
"""Shape and type."""


class PlacedBlock:
    """
    Memory for some arrays, zeros at first.

    Attributes
    ----------
    arrays
        By name, where they lie on the host.
    addresses
        By name, where they lie on the device.

    Parameters
    ----------
    device
        `cuda` or `cpu`, as ONNX Runtime calls it.
    stream
        Pins the host's memory, from which a card copies without a detour; None, or a driver that will not, leaves it.
    """

    def __init__(self, specs: Mapping[str, Spec], device: str, stream: CudaStream | None = None) -> None:
        self._stream, self._device = stream, device
        offsets, num_bytes = _offsets(specs)
        self._host = self._memory(num_bytes // _CARRIER.itemsize)
        self._value = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros_like(self._host), device, 0)
        raw, address = self._host.view(np.uint8), int(self._value.data_ptr())
        self.arrays: dict[str, NDArray[Any]] = {
            name: np.ndarray(shape, np.dtype(dtype), buffer=raw.data, offset=offsets[name])
            for name, (shape, dtype) in specs.items()
        }
        self.addresses = {name: address + offset for name, offset in offsets.items()}

    def send(self) -> None:
        """Copy all of it from the host to the device."""
        self._value.update_inplace(self._host)

    def fetch(self) -> None:
        """Copy all of it from the device to the host."""
        if self._stream is not None:
            try:
                self._stream.use()
                self._stream.copy_out(self._host, int(self._value.data_ptr()))
                self._stream.wait()
            except _REFUSED as error:
                log.warning("copied_without_pinned_memory", why=str(error))
                self._stream = None
            else:
                return
        self._host[...] = self._value.numpy()

    def _memory(self, length: int) -> NDArray[Any]:
        if self._stream is not None:
            try:
                self._stream.use()
                memory = self._stream.pinned((length,), _CARRIER)
            except _REFUSED as error:
                log.warning("memory_not_pinned", why=str(error))
            else:
                memory[...] = 0
                return memory
        return np.zeros(length, _CARRIER)


def _offsets(specs: Mapping[str, Spec]) -> tuple[dict[str, int], int]:
    """Where each array begins, in bytes, and the length of all together."""
    offsets, end = {}, 0
    for name, (shape, dtype) in specs.items():
        offsets[name] = end
        num_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        end += -(-num_bytes // _ALIGNMENT) * _ALIGNMENT
    return offsets, max(end, _ALIGNMENT)
