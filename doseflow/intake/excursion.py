"""Time outside a band, from a logger's own points: a mean over a day would hide a breach of an hour."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray

MAX_GAP_MINUTES = 60.0
"""Between points farther apart nobody knows how the temperature went."""


def excursion_minutes(at_minutes: FloatArray, celsius: FloatArray, low: float, high: float) -> FloatArray:
    """
    Minutes outside the band from the first point up to each one, (P,).

    The temperature is taken to go straight from point to point. Over a gap of more than `MAX_GAP_MINUTES` it counts as
    outside where both ends are outside on the same side, and not otherwise.

    Parameters
    ----------
    at_minutes
        Moments of the points, (P,), rising.
    celsius
        Temperatures, (P,), none unknown.
    low, high
        The band; its ends are inside.
    """
    if not len(at_minutes):
        return np.zeros(0)
    length = np.diff(at_minutes)
    outside = _share_above(celsius, high) + _share_above(-celsius, -low)
    outside = np.where((length > MAX_GAP_MINUTES) & (outside < 1.0), 0.0, outside)
    return np.concatenate([[0.0], np.cumsum(length * outside)])


def _share_above(celsius: FloatArray, bound: float) -> FloatArray:
    """Part of each stretch between two points that is above a bound, (P - 1,)."""
    above = np.maximum(celsius - bound, 0.0)
    below = np.maximum(bound - celsius, 0.0)
    rise = np.abs(np.diff(celsius))
    crosses = (np.minimum(celsius[:-1], celsius[1:]) < bound) & (np.maximum(celsius[:-1], celsius[1:]) > bound)
    part = np.maximum(above[:-1], above[1:]) / np.where(crosses, rise, 1.0)
    is_whole = (below[:-1] == 0) & (below[1:] == 0) & (np.maximum(above[:-1], above[1:]) > 0)
    return np.where(crosses, part, np.where(is_whole, 1.0, 0.0))
