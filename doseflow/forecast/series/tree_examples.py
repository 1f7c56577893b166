"""What trees learn from: pairs of a past origin and a target, and what could be seen of it from there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.direct_features import Whole, direct_features
from doseflow.forecast.series.plain.open_steps import OpenWeek, filled, open_week, steps_of_week
from doseflow.forecast.series.ranked_features import ranked_features

ONE_THREAD = 1
"""Threads that wait for each other lose more on a busy machine than they gain on a quiet one."""


@dataclass(frozen=True, slots=True)
class TreeExamples:
    """
    Examples, E, with features, F.

    Parameters
    ----------
    features
        (E, F).
    target
        What came, in units of the scale, (E,).
    scale
        The series' recent mean before the origin, (E,).
    origins
        Open step of the first value that is not known, (E,).
    """

    features: FloatArray
    target: FloatArray
    scale: FloatArray
    origins: IntArray


def examples_of(
    table: SeriesTable, horizon: int, at_most: int, near_share: float, rng: np.random.Generator
) -> tuple[OpenWeek, TreeExamples]:
    """
    Past origins and targets of a table, at most so many; fewer where fewer are known.

    Parameters
    ----------
    near_share
        Share of the examples that are drawn from the newest third of the history.
    """
    week = open_week(table)
    whole = _whole_of(table, week, 0)
    known = np.isfinite(table.values[:, week.open_before(table)])
    rows, origins, steps_ahead = _drawn(known, whole, horizon, (at_most, near_share), rng)
    scale = whole.scale[rows, origins]
    features = _features(whole, rows, origins, steps_ahead, scale)
    return week, TreeExamples(features, whole.values[rows, origins + steps_ahead] / scale, scale, origins)


def now_of(table: SeriesTable, week: OpenWeek, horizon: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Which steps ahead are open, (n,), and features, (S n, F), and scale, (S n,), of each series at each of them."""
    ahead, _ = week.ahead(table, horizon)
    whole = _whole_of(table, week, horizon)
    rows = np.repeat(np.arange(table.num_series), len(ahead))
    steps_ahead = np.tile(np.arange(len(ahead)), table.num_series)
    origins = np.full(rows.shape, whole.values.shape[1])
    scale = whole.scale[rows, origins]
    return ahead, _features(whole, rows, origins, steps_ahead, scale), scale


def one_thread() -> threadpool_limits:
    """Within it, trees take one thread."""
    return threadpool_limits(ONE_THREAD)


def _features(whole: Whole, rows: IntArray, origins: IntArray, steps_ahead: IntArray, scale: FloatArray) -> FloatArray:
    return np.column_stack(
        [
            direct_features(whole, rows, origins, steps_ahead, scale),
            ranked_features(whole, rows, origins, steps_ahead, scale),
        ]
    )


def _whole_of(table: SeriesTable, week: OpenWeek, horizon: int) -> Whole:
    open_steps = week.open_before(table)
    _, ahead_of_week = week.ahead(table, horizon)
    phases = np.concatenate([steps_of_week(table, open_steps), ahead_of_week])
    return Whole(filled(table.values[:, open_steps], week.season_steps), phases, week.season_steps, week.week_steps)


def _drawn(
    known: FloatArray, whole: Whole, horizon: int, how_many: tuple[int, float], rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Series, origins and steps ahead of targets that are really known, after one week of past."""
    at_most, near_share = how_many
    num_series, num_steps = known.shape
    first = min(whole.week_steps, num_steps // 2)
    newest = max(first, num_steps - max(num_steps // 3, 2 * whole.week_steps))
    drawn = 3 * at_most
    rows = rng.integers(num_series, size=drawn)
    origins = rng.integers(np.where(rng.random(drawn) < near_share, newest, first), num_steps)
    steps_ahead = rng.integers(horizon, size=drawn)
    inside = origins + steps_ahead < num_steps
    kept = np.flatnonzero(inside & known[rows, np.minimum(origins + steps_ahead, num_steps - 1)])
    every = num_series * (num_steps - first) * horizon
    kept = kept[: min(at_most, every)]
    return rows[kept], origins[kept], steps_ahead[kept]
