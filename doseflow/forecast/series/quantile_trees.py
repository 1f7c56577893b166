"""Gradient-boosted trees with the quantile loss: one model a quantile for all series and steps ahead."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.open_steps import OpenWeek
from doseflow.forecast.series.tree_bins import TreeBins, find_bins
from doseflow.forecast.series.tree_examples import TreeExamples, examples_of, now_of, one_thread

ROUNDS = 60
NEAR_SHARE = 0.0
"""Examples lie evenly over the history; more of the newest were no better (docs/background/series-forecast.md)."""
LEAST_EXAMPLES = 100
CLOSE_SHARE = 0.1
"""Of the gaps between values, the share that is taken for the closest: few of large counts are neighbours."""


class QuantileTrees:
    """
    Direct quantiles (histogram boosting of scikit-learn), in units of each series' recent mean.

    Examples weigh by that mean, as the weighted quantile loss does.
    """

    name = "quantile_trees"

    def __init__(self, seed: int, most_examples: int) -> None:
        self._seed, self._most_examples = seed, most_examples
        self._models: list[HistGradientBoostingRegressor] = []
        self._week: OpenWeek | None = None
        self._bins = TreeBins(np.zeros(0, dtype=np.int64), ())
        self._constants = np.zeros(len(QUANTILE_LEVELS))

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit a model a quantile."""
        rng = np.random.default_rng(self._seed)
        self._week, examples = examples_of(table, horizon, self._most_examples, NEAR_SHARE, rng)
        target = _jittered(examples, grain_of(table.values), rng)
        self._bins = find_bins(examples.features)
        self._models = []
        if len(target):
            self._constants = np.quantile(examples.target, QUANTILE_LEVELS)
        if len(target) < LEAST_EXAMPLES or not len(self._bins.columns):
            return
        features = self._bins.of(examples.features)
        weight = examples.scale / examples.scale.mean()
        with one_thread():
            self._models = [
                _model_of(level, self._seed).fit(features, target, sample_weight=weight) for level in QUANTILE_LEVELS
            ]

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        assert self._week is not None, "fit comes first"  # noqa: S101 - a caller's mistake, not an input
        ahead, features, scale = now_of(table, self._week, horizon)
        quantiles = np.zeros((table.num_series, horizon, len(QUANTILE_LEVELS)))
        if len(ahead):
            found = np.maximum(self._told(features) * scale[:, None], 0.0)
            quantiles[:, ahead] = np.maximum.accumulate(found, axis=1).reshape(table.num_series, len(ahead), -1)
        return quantiles

    def _told(self, features: FloatArray) -> FloatArray:
        """Quantiles in units of the scale, (E, Q)."""
        if not self._models:
            return np.tile(self._constants, (len(features), 1))
        numbers = self._bins.of(features)
        with one_thread():
            return np.column_stack([model.predict(numbers) for model in self._models])


def grain_of(values: FloatArray) -> float:
    """The gap between neighbouring values where they lie close: 1 of counts, small of what is measured."""
    gaps = np.diff(np.unique(values[np.isfinite(values)]))
    return float(np.quantile(gaps, CLOSE_SHARE, method="lower")) if gaps.size else 0.0


def _jittered(examples: TreeExamples, grain: float, rng: np.random.Generator) -> FloatArray:
    """
    Targets with half a grain of noise to either side.

    Counts are tied, and the quantile loss has no slope to split on where most of them are 0 (Machado and Santos Silva
    2005, doi:10.1198/016214505000000330).
    """
    noise = grain * rng.uniform(-0.5, 0.5, len(examples.target))
    jittered: FloatArray = examples.target + noise / examples.scale
    return jittered


def _model_of(level: float, seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(
        loss="quantile",
        quantile=level,
        learning_rate=0.1,
        max_iter=ROUNDS,
        max_leaf_nodes=15,
        min_samples_leaf=50,
        max_features=0.8,
        max_bins=127,
        early_stopping=False,
        random_state=seed,
    )
