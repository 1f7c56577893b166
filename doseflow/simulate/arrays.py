"""Which library an array belongs to, and the few operations that every step needs and the standard does not name."""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np

from doseflow.simulate.draws import Array


def namespace(array: Array) -> Any:
    """
    The functions of the array's library, by the array API standard.

    numpy follows the standard by itself since 2.1, so it is not wrapped: steps on small cities are mostly call time.
    """
    return np if isinstance(array, np.ndarray) else array_api_compat.array_namespace(array)


def where(keep: Array, values: Array) -> Array:
    """Finite values where they are kept, else 0."""
    return values * keep


def at_least_zero(values: Array) -> Array:
    """Finite values, those below 0 as 0."""
    return values * (values > 0)


def flat(array: Array) -> Array:
    """All in one axis."""
    return array.reshape(-1) if isinstance(array, np.ndarray) else namespace(array).reshape(array, (-1,))


def device_of(array: Array) -> Any:
    """Where an array lives; None for numpy, which takes that for the only place it knows."""
    return None if isinstance(array, np.ndarray) else array_api_compat.device(array)


def added_at(array: Array, position: Array, amount: Array) -> Array:
    """
    The array with amounts added at positions of its flat form; a position may come several times.

    The array API standard has no such operation, so it and the next stand here once for every library.
    """
    if isinstance(array, np.ndarray):
        sums = array.copy()
        np.add.at(sums.reshape(-1), position, amount)
        return sums
    xp = namespace(array)
    added = flat(array).index_add(0, position, xp.astype(amount, array.dtype))
    return xp.reshape(added, array.shape)


def summed_at(shape: tuple[int, ...], position: Array, amount: Array) -> Array:
    """Amounts added up at positions of the flat form of a new array, float64; nothing elsewhere."""
    size = math.prod(shape)
    if isinstance(position, np.ndarray):
        return np.bincount(position, weights=amount, minlength=size).reshape(shape)
    xp = namespace(position)
    nothing = xp.zeros((size,), dtype=xp.float64, device=device_of(position))
    return xp.reshape(nothing.index_add(0, position, xp.astype(amount, xp.float64)), shape)
