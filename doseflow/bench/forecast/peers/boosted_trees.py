"""Gradient-boosted trees of LightGBM: one model a quantile for all sites and steps ahead."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from doseflow.bench.forecast.series_set import MINUTES_OF_DAY
from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.direct_features import Whole, direct_features
from doseflow.forecast.series.plain.open_steps import OpenWeek, filled, open_week, steps_of_week

EXAMPLES = 60_000
ROUNDS = 120
PARAMS: dict[str, Any] = {
    "objective": "quantile",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_data_in_leaf": 50,
    "feature_fraction": 0.8,
    "max_bin": 127,
    "verbosity": -1,
    "deterministic": True,
}


class BoostedTrees:
    """Direct forecasts with the quantile loss, weighted by the size of the site."""

    name = "boosted_trees"
    notes = f"LightGBM, quantile loss, direct, global; {ROUNDS} rounds, {EXAMPLES:,} examples at most"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._week = OpenWeek(MINUTES_OF_DAY, np.ones(7, dtype=bool))
        self._models: list[Any] = []

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit a model a quantile."""
        self._week = open_week(table)
        whole = whole_of(table, self._week, 0)
        known = np.isfinite(table.values[:, self._week.open_before(table)])
        rows, origins, steps_ahead = _examples(known, whole, horizon, np.random.default_rng(self._seed))
        scale = whole.scale[rows, origins]
        features = direct_features(whole, rows, origins, steps_ahead, scale)
        target = whole.values[rows, origins + steps_ahead] / scale
        params = PARAMS | {"seed": self._seed}
        data = lightgbm.Dataset(features, target, weight=scale, params=params, free_raw_data=False)
        self._models = [lightgbm.train(params | {"alpha": level}, data, ROUNDS) for level in QUANTILE_LEVELS]

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        ahead, _ = self._week.ahead(table, horizon)
        num_series = len(table.series_ids)
        quantiles = np.zeros((num_series, horizon, len(QUANTILE_LEVELS)))
        whole = whole_of(table, self._week, horizon)
        rows = np.repeat(np.arange(num_series), len(ahead))
        steps_ahead = np.tile(np.arange(len(ahead)), num_series)
        origins = np.full(rows.shape, whole.values.shape[1])
        scale = whole.scale[rows, origins]
        features = direct_features(whole, rows, origins, steps_ahead, scale)
        found = np.column_stack([np.asarray(model.predict(features)) for model in self._models]) * scale[:, None]
        found = np.maximum.accumulate(np.maximum(found, 0.0), axis=1)
        quantiles[:, ahead] = found.reshape(num_series, len(ahead), -1)
        return quantiles


def whole_of(table: SeriesTable, week: OpenWeek, horizon: int) -> Whole:
    """The table's open steps without gaps, and the calendar so far ahead."""
    open_steps = week.open_before(table)
    _, ahead_of_week = week.ahead(table, horizon)
    phases = np.concatenate([steps_of_week(table, open_steps), ahead_of_week])
    return Whole(filled(table.values[:, open_steps], week.season_steps), phases, week.season_steps, week.week_steps)


def _examples(
    known: FloatArray, whole: Whole, horizon: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Series, origins and steps ahead of targets that are really known, after one week of past."""
    num_series, num_steps = known.shape
    first = min(whole.week_steps, num_steps // 2)
    drawn = 3 * EXAMPLES
    rows = rng.integers(num_series, size=drawn)
    origins = rng.integers(first, num_steps, size=drawn)
    steps_ahead = rng.integers(horizon, size=drawn)
    inside = origins + steps_ahead < num_steps
    kept = np.flatnonzero(inside & known[rows, np.minimum(origins + steps_ahead, num_steps - 1)])
    every = num_series * (num_steps - first) * horizon
    kept = kept[: min(EXAMPLES, every)]
    return rows[kept], origins[kept], steps_ahead[kept]
