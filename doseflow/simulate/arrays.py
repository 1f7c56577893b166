"""Which library an array belongs to, and the two operations on arrays that every step needs and no standard names."""

from __future__ import annotations

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
