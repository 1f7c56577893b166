"""Steps at which a series is never reported, such as nights and weekends: closed, not unknown."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.forecast.series.seasons import Seasons

BY_CHANCE_SHARE = 0.02
"""A slot counts as closed when a series as well reported as this one would miss it that often by chance at most."""
LEAST_ROUNDS = 2
LEAST_CYCLES = 3


def closed_steps(values: FloatArray, seasons: Seasons, targets: IntArray, round_start: int) -> np.ndarray:
    """
    Whether each series is closed at each target column, (S, n).

    Parameters
    ----------
    values
        (S, P), NaN where unknown.
    round_start
        Steps of a round that lie before the first column.
    """
    known = np.isfinite(values)
    has_begun = np.maximum.accumulate(known, axis=1)
    has_more = np.maximum.accumulate(known[:, ::-1], axis=1)[:, ::-1]
    is_closed = np.zeros((len(values), len(targets)), dtype=bool)
    for length, least in ((seasons.round_steps, LEAST_ROUNDS), (seasons.cycle_steps, LEAST_CYCLES)):
        if length < 2:
            continue
        never = _never_known(known, has_begun & has_more, length, least, round_start % length)
        is_closed |= never[:, (targets + round_start) % length]
    return is_closed


def _never_known(known: np.ndarray, counts: np.ndarray, length: int, least: int, start: int) -> np.ndarray:
    """Slots of a season, (S, length), that had their chances and were never known."""
    num_seasons = -(-(known.shape[1] + start) // length)
    tail = num_seasons * length - known.shape[1] - start
    shape = (len(known), num_seasons, length)
    times_known = np.pad(known, ((0, 0), (start, tail))).reshape(shape).sum(axis=1)
    chances = np.pad(counts, ((0, 0), (start, tail))).reshape(shape).sum(axis=1)
    reported = times_known > 0
    share = times_known.sum(axis=1) / np.maximum((chances * reported).sum(axis=1), 1)
    by_chance = np.maximum(1 - share, 0.0)[:, None] ** chances
    never: np.ndarray = ~reported & (chances >= least) & (by_chance <= BY_CHANCE_SHARE)
    return never
