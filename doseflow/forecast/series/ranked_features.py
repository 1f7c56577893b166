"""
The same phase of the weeks and days before, in the order of size: what came at least, in the middle, at most.

Trees split on one value at a time. A site that is open every other Sunday looks different each time in the order of
dates, and the same in the order of size.
"""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.forecast.series.plain.direct_features import Whole
from doseflow.forecast.series.plain.same_phase import mean_known

SEASONS_BACK, SEASONS_RANKED = 6, 4
MIDDLE_OF = 3
"""Newest seasons whose median is looked at."""


def ranked_features(
    whole: Whole, rows: IntArray, origins: IntArray, steps_ahead: IntArray, scale: FloatArray
) -> FloatArray:
    """Features of examples, (E, F); takes what `direct_features` does, and reads nothing at or after an origin."""
    columns: list[FloatArray] = []
    for period in sorted({whole.season_steps, whole.week_steps}):
        latest = origins + steps_ahead - period * (steps_ahead // period + 1)
        steps = latest - period * np.arange(SEASONS_BACK)[:, None]
        before = np.where(steps >= 0, whole.values[rows, np.maximum(steps, 0)], np.nan) / scale
        columns += [
            *np.sort(before[:SEASONS_RANKED], axis=0),
            np.sort(before[:MIDDLE_OF], axis=0)[MIDDLE_OF // 2],
            mean_known(before[:2]),
            mean_known(before),
            (before == 0).mean(axis=0),
        ]
    return np.column_stack(columns)
