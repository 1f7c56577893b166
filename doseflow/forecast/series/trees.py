"""Gradient-boosted trees: one model a quantile for all series and steps ahead, as one member of the blend."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.direct_features import Whole, direct_features
from doseflow.forecast.series.plain.open_steps import OpenWeek, filled, open_week, steps_of_week

EXAMPLES = 60_000
ROUNDS = 120
NEAR_SHARE = 0.5
"""Share of the examples that are drawn from the newest third of the history: programmes change."""


class BoostedTrees:
    """
    Direct forecasts with the quantile loss (histogram boosting of scikit-learn), weighted by the size of a series.

    Values are in units of the series' recent mean, so that one model serves series of any size.
    """

    name = "trees"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._models: list[HistGradientBoostingRegressor] = []
        self._week: OpenWeek | None = None

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit a model a quantile."""
        self._week = open_week(table)
        whole = _whole_of(table, self._week, 0)
        known = np.isfinite(table.values[:, self._week.open_before(table)])
        rows, origins, steps_ahead = _examples(known, whole, horizon, np.random.default_rng(self._seed))
        scale = whole.scale[rows, origins]
        features = direct_features(whole, rows, origins, steps_ahead, scale)
        target = whole.values[rows, origins + steps_ahead] / scale
        self._models = [self._model(level).fit(features, target, sample_weight=scale) for level in QUANTILE_LEVELS]

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        assert self._week is not None, "fit comes first"  # noqa: S101 - a caller's mistake, not an input
        ahead, _ = self._week.ahead(table, horizon)
        num_series = len(table.series_ids)
        quantiles = np.zeros((num_series, horizon, len(QUANTILE_LEVELS)))
        if not len(ahead):
            return quantiles
        whole = _whole_of(table, self._week, horizon)
        rows = np.repeat(np.arange(num_series), len(ahead))
        steps_ahead = np.tile(np.arange(len(ahead)), num_series)
        origins = np.full(rows.shape, whole.values.shape[1])
        scale = whole.scale[rows, origins]
        features = direct_features(whole, rows, origins, steps_ahead, scale)
        found = np.column_stack([model.predict(features) for model in self._models]) * scale[:, None]
        found = np.maximum.accumulate(np.maximum(found, 0.0), axis=1)
        quantiles[:, ahead] = found.reshape(num_series, len(ahead), -1)
        return quantiles

    def _model(self, level: float) -> HistGradientBoostingRegressor:
        return HistGradientBoostingRegressor(
            loss="quantile",
            quantile=level,
            learning_rate=0.1,
            max_iter=ROUNDS,
            max_leaf_nodes=31,
            min_samples_leaf=50,
            max_features=0.8,
            max_bins=127,
            early_stopping=False,
            random_state=self._seed,
        )


def _whole_of(table: SeriesTable, week: OpenWeek, horizon: int) -> Whole:
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
    newest = max(first, num_steps - max(num_steps // 3, 2 * whole.week_steps))
    drawn = 3 * EXAMPLES
    rows = rng.integers(num_series, size=drawn)
    origins = rng.integers(np.where(rng.random(drawn) < NEAR_SHARE, newest, first), num_steps)
    steps_ahead = rng.integers(horizon, size=drawn)
    inside = origins + steps_ahead < num_steps
    kept = np.flatnonzero(inside & known[rows, np.minimum(origins + steps_ahead, num_steps - 1)])
    every = num_series * (num_steps - first) * horizon
    kept = kept[: min(EXAMPLES, every)]
    return rows[kept], origins[kept], steps_ahead[kept]
