"""
The CUDA driver as far as an engine needs it: the device, memory, one stream, and graphs captured on it.

Called through the driver's own library, which is wherever a card is, so that no toolkit has to be installed. Functions
and their order of calls: CUDA Driver API, NVIDIA, chapters 6.3 to 6.29.
"""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, EngineUnfit

_LIBRARY = "libcuda.so.1"
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
_CAPTURE_THREAD_LOCAL = 1
_POINTER = ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """A card; `driver_version` is the CUDA version that its driver speaks, such as 13000, `capability` such as 8.9."""

    name: str
    capability: str
    driver_version: int
    memory_bytes: int


@cache
def why_no_device() -> str | None:
    """Why no card can be used here, in a sentence; None where one can."""
    try:
        cuda_device()
    except EngineUnfit as error:
        return str(error)
    return None


@cache
def cuda_device() -> CudaDevice:
    """
    The first card.

    Raises
    ------
    EngineUnfit
        There is no driver, or no card.
    """
    library = _library()
    count, device, version = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        raise EngineUnfit("the NVIDIA driver finds no card; look at `nvidia-smi`")
    name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
    _check("cuDeviceGet", library.cuDeviceGet(ctypes.byref(device), 0))
    _check("cuDeviceGetName", library.cuDeviceGetName(name, 256, device))
    _check("cuDriverGetVersion", library.cuDriverGetVersion(ctypes.byref(version)))
    _check("cuDeviceTotalMem", library.cuDeviceTotalMem_v2(ctypes.byref(memory), device))
    major, minor = (_attribute(library, number, device) for number in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR))
    return CudaDevice(name.value.decode(), f"{major}.{minor}", version.value, memory.value)


class CudaStream:
    """
    One stream on the first card's primary context, where everything of an engine happens in order.

    All calls must come from one thread at a time; `use` makes the context that of the calling thread.

    Raises
    ------
    EngineUnfit
        There is no card.
    """

    def __init__(self) -> None:
        cuda_device()
        self._library = _library()
        device, self._context, stream = ctypes.c_int(), _POINTER(), _POINTER()
        _check("cuDeviceGet", self._library.cuDeviceGet(ctypes.byref(device), 0))
        retained = self._library.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), device)
        _check("cuDevicePrimaryCtxRetain", retained)
        self.use()
        # 1: it does not wait for the default stream.
        _check("cuStreamCreate", self._library.cuStreamCreate(ctypes.byref(stream), 1))
        self.handle = int(stream.value or 0)

    def use(self) -> None:
        """Make the card's context that of this thread."""
        _check("cuCtxSetCurrent", self._library.cuCtxSetCurrent(self._context))

    def allocate(self, num_bytes: int) -> int:
        """Address of fresh memory on the card, which starts as zeros."""
        address = ctypes.c_uint64()
        size = max(num_bytes, 1)
        _check("cuMemAlloc", self._library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
        _check("cuMemsetD8", self._library.cuMemsetD8_v2(address, 0, ctypes.c_size_t(size)))
        return address.value

    def free(self, address: int) -> None:
        """Give memory back."""
        _check("cuMemFree", self._library.cuMemFree_v2(ctypes.c_uint64(address)))

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[np.generic]:
        """An array of the host that the card can read and write without a copy between."""
        num_bytes = max(int(np.prod(shape)) * dtype.itemsize, 1)
        address = _POINTER()
        _check("cuMemAllocHost", self._library.cuMemAllocHost_v2(ctypes.byref(address), ctypes.c_size_t(num_bytes)))
        memory = (ctypes.c_byte * num_bytes).from_address(int(address.value or 0))
        # When no array reads it any more; not at exit, when the driver may be gone already.
        weakref.finalize(memory, self._free_pinned, address).atexit = False
        return np.ndarray(shape, dtype, buffer=memoryview(memory))

    def _free_pinned(self, address: _POINTER) -> None:
        self.use()
        self._library.cuMemFreeHost(address)

    def copy_in(self, address: int, array: NDArray[np.generic]) -> None:
        """Begin to copy an array of the host to the card."""
        at, source, size = ctypes.c_uint64(address), _POINTER(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        _check("cuMemcpyHtoDAsync", self._library.cuMemcpyHtoDAsync_v2(at, source, size, _POINTER(self.handle)))

    def copy_out(self, array: NDArray[np.generic], address: int) -> None:
        """Begin to copy memory of the card into an array of the host."""
        at, target, size = ctypes.c_uint64(address), _POINTER(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        _check("cuMemcpyDtoHAsync", self._library.cuMemcpyDtoHAsync_v2(target, at, size, _POINTER(self.handle)))

    def wait(self) -> None:
        """Wait until everything begun is done."""
        _check("cuStreamSynchronize", self._library.cuStreamSynchronize(_POINTER(self.handle)))

    def begin_capture(self) -> None:
        """From here on, record what is begun instead of doing it."""
        began = self._library.cuStreamBeginCapture_v2(_POINTER(self.handle), _CAPTURE_THREAD_LOCAL)
        _check("cuStreamBeginCapture", began)

    def end_capture(self) -> int:
        """What was recorded, ready to be launched as a whole."""
        graph, ready = _POINTER(), _POINTER()
        _check("cuStreamEndCapture", self._library.cuStreamEndCapture(_POINTER(self.handle), ctypes.byref(graph)))
        made = self._library.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, ctypes.c_ulonglong(0))
        _check("cuGraphInstantiate", made)
        _check("cuGraphDestroy", self._library.cuGraphDestroy(graph))
        return int(ready.value or 0)

    def launch(self, graph: int) -> None:
        """Begin what was recorded."""
        _check("cuGraphLaunch", self._library.cuGraphLaunch(_POINTER(graph), _POINTER(self.handle)))


@cache
def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise EngineUnfit(f"there is no NVIDIA driver here ({_LIBRARY} cannot be loaded); install it") from error


def _attribute(library: ctypes.CDLL, number: int, device: ctypes.c_int) -> int:
    value = ctypes.c_int()
    _check("cuDeviceGetAttribute", library.cuDeviceGetAttribute(ctypes.byref(value), number, device))
    return value.value


def _check(what: str, code: int) -> None:
    if code:
        raise EngineFailed(f"{what}: the CUDA driver answered with error {code}")
