"""How far an answer is off a golden one: at its worst number, and as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.serve.precision import MOST_SIZE_OFF, Precision


def largest_difference(got: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference, in the output's unit or, above 1, as a share of it."""
    return float((np.abs(got - expected) / np.maximum(np.abs(expected), 1.0)).max(initial=0.0))


def size_off(got: NDArray[Any], expected: NDArray[Any]) -> float:
    """Root mean square of the differences, as a share of that of the output: 1 for an answer of zeros."""
    if expected.size == 0:
        return 0.0
    return float(np.sqrt(np.mean((got - expected) ** 2) / max(float(np.mean(expected**2)), 1e-12)))


def why_off(got: NDArray[Any], expected: NDArray[Any], tolerance: float, precision: Precision) -> str | None:
    """
    By how much an answer is too far off, as the end of a sentence; None where it is near enough.

    One number of a coarse net may be far off, so that the largest difference alone lets nearly anything pass there;
    such a net is held to the root mean square as well.
    """
    largest = largest_difference(got, expected)
    if not largest <= tolerance:
        return f"is off by {largest:.2g}, more than {tolerance:g}"
    most = MOST_SIZE_OFF[precision]
    if precision != "fp32" and not (share := size_off(got, expected)) <= most:
        return f"is off by {share:.2g} of its size, more than {most:g}"
    return None
