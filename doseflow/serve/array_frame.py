"""
Arrays in memory that two processes share: one writes them, the other reads them where they lie.

The memory is a file without a name, so that nothing stays behind, however a process ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNMENT = 64
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Where an array lies: `offset` in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int


class ArrayFrame:
    """
    A piece of shared memory that grows to what is put into it.

    Parameters
    ----------
    descriptor
        The file that the other process opened; None opens one.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = _nameless_file() if descriptor is None else descriptor
        if os.fstat(self.descriptor).st_size == 0:
            os.ftruncate(self.descriptor, _LEAST_BYTES)
        self._memory = mmap.mmap(self.descriptor, os.fstat(self.descriptor).st_size)

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> list[ArrayPlace]:
        """Write arrays from the beginning, over what was there; where each lies."""
        places, end = [], 0
        for name, array in arrays.items():
            places.append(ArrayPlace(name, array.dtype.str, array.shape, end))
            end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        if end > len(self._memory):
            os.ftruncate(self.descriptor, 2 * end)
        self._map_all()
        for place, array in zip(places, arrays.values(), strict=True):
            self._view(place)[...] = array
        return places

    def get(self, places: list[ArrayPlace], *, copies: bool) -> dict[str, NDArray[Any]]:
        """Arrays by name, as copies or where they lie, which the next `put` of either side writes over."""
        self._map_all()
        views = {place.name: self._view(place) for place in places}
        return {name: view.copy() for name, view in views.items()} if copies else views

    def close(self) -> None:
        """Give the memory back; arrays got without copying must not be used any more."""
        os.close(self.descriptor)
        self._memory = mmap.mmap(-1, 1)

    def _map_all(self) -> None:
        size = os.fstat(self.descriptor).st_size
        if size != len(self._memory):
            self._memory = mmap.mmap(self.descriptor, size)

    def _view(self, place: ArrayPlace) -> NDArray[Any]:
        return np.ndarray(place.shape, np.dtype(place.dtype), buffer=self._memory, offset=place.offset)


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("doseflow-arrays")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
