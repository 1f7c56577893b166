"""Gradient-boosted trees of the mean: one model for all series and steps ahead, quantiles from its past errors."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.open_steps import OpenWeek
from doseflow.forecast.series.tree_bins import TreeBins, find_bins
from doseflow.forecast.series.tree_examples import examples_of, now_of, one_thread

ROUNDS = 120
NEAR_SHARE = 0.5
"""Share of the examples that are drawn from the newest third of the history: programmes change."""
KEPT_SHARE = 0.25
"""Share of the examples that the trees do not see, from whose errors the quantiles are read."""
NUM_BANDS = 6
"""Bands of expected size, each with its own errors: a small count is not spread as a large one is."""
LEAST_EXPECTED, MOST_EXPECTED = 1e-3, 30.0
"""In units of the recent mean."""


class MeanTrees:
    """
    Direct expectations (histogram boosting of scikit-learn, Poisson deviance); quantiles from unseen examples' errors.

    Values are in units of the series' recent mean, so that one model serves series of any size.
    """

    name = "mean_trees"

    def __init__(self, seed: int, most_examples: int) -> None:
        self._seed, self._most_examples = seed, most_examples
        self._model = _model_of(seed)
        self._week: OpenWeek | None = None
        self._edges = self._ratios = np.zeros(0)
        self._bins = TreeBins(np.zeros(0, dtype=np.int64), ())

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit the expectation on most examples, and the spread on the others."""
        rng = np.random.default_rng(self._seed)
        self._week, examples = examples_of(table, horizon, self._most_examples, NEAR_SHARE, rng)
        features, target, scale, origins = examples.features, examples.target, examples.scale, examples.origins
        # Whole moments are kept, so that what strikes all series at once is an error too.
        is_kept = rng.random(size=table.num_steps)[origins] < KEPT_SHARE
        if is_kept.all() or not is_kept.any() or target[~is_kept].sum() <= 0:
            is_kept = np.arange(len(target)) % 4 == 0
        self._model = _model_of(self._seed)
        self._bins = find_bins(features[~is_kept])
        if target[~is_kept].sum() > 0 and len(self._bins.columns):
            weight = scale[~is_kept] / scale[~is_kept].mean()
            with one_thread():
                self._model.fit(self._bins.of(features[~is_kept]), target[~is_kept], sample_weight=weight)
        self._fit_spread(self._expected(features[is_kept]) * scale[is_kept], (target * scale)[is_kept])

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        assert self._week is not None, "fit comes first"  # noqa: S101 - a caller's mistake, not an input
        ahead, features, scale = now_of(table, self._week, horizon)
        quantiles = np.zeros((table.num_series, horizon, len(QUANTILE_LEVELS)))
        if len(ahead):
            found = self._spread(self._expected(features) * scale)
            quantiles[:, ahead] = found.reshape(table.num_series, len(ahead), -1)
        return quantiles

    def _expected(self, features: FloatArray) -> FloatArray:
        """Expected values in units of the scale, (E,); 0 where every example was 0."""
        if not hasattr(self._model, "n_features_in_"):
            return np.full(len(features), LEAST_EXPECTED)
        with one_thread():
            told = np.nan_to_num(self._model.predict(self._bins.of(features)))
        expected: FloatArray = np.clip(told, LEAST_EXPECTED, MOST_EXPECTED)
        return expected

    def _fit_spread(self, expected: FloatArray, came: FloatArray) -> None:
        """Quantiles of what came over what was expected, by bands of what was expected, weighted by it."""
        self._edges = np.quantile(expected, np.linspace(0, 1, NUM_BANDS + 1)[1:-1])
        band = np.searchsorted(self._edges, expected)
        self._ratios = np.ones((NUM_BANDS, len(QUANTILE_LEVELS)))
        for number in range(NUM_BANDS):
            if (band == number).any():
                ratio = came[band == number] / expected[band == number]
                self._ratios[number] = np.quantile(
                    ratio, QUANTILE_LEVELS, method="inverted_cdf", weights=expected[band == number]
                )

    def _spread(self, expected: FloatArray) -> FloatArray:
        found = expected[:, None] * self._ratios[np.searchsorted(self._edges, expected)]
        quantiles: FloatArray = np.maximum.accumulate(np.maximum(found, 0.0), axis=1)
        return quantiles


def _model_of(seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(
        loss="poisson",
        learning_rate=0.08,
        max_iter=ROUNDS,
        max_leaf_nodes=31,
        min_samples_leaf=50,
        max_features=0.8,
        max_bins=127,
        early_stopping=False,
        random_state=seed,
    )
