"""Gradient-boosted trees: one model a quantile for all series and steps ahead, as one member of the blend."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.direct_features import Whole, direct_features
from doseflow.forecast.series.plain.open_steps import OpenWeek, filled, open_week, steps_of_week

EXAMPLES = 30_000
ROUNDS = 120
NEAR_SHARE = 0.5
"""Share of the examples that are drawn from the newest third of the history: programmes change."""
KEPT_SHARE = 0.25
"""Share of the examples that the trees do not see, from whose errors the quantiles are read."""
NUM_BANDS = 6
"""Bands of expected size, each with its own errors: a small count is not spread as a large one is."""
ONE_THREAD = 1
"""Threads that wait for each other lose more on a busy machine than they gain on a quiet one."""
LEAST_EXPECTED, MOST_EXPECTED = 1e-3, 30.0
"""In units of the recent mean."""


class BoostedTrees:
    """
    Direct expectations (histogram boosting of scikit-learn, Poisson deviance); quantiles from unseen examples' errors.

    Values are in units of the series' recent mean, so that one model serves series of any size. One model and its
    errors take a tenth of the time of one model a quantile.
    """

    name = "trees"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._model = _model_of(seed)
        self._week: OpenWeek | None = None
        self._edges = self._ratios = np.zeros(0)
        self._columns = np.zeros(0, dtype=np.int64)

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit the expectation on most examples, and the spread on the others."""
        self._week = open_week(table)
        whole = _whole_of(table, self._week, 0)
        known = np.isfinite(table.values[:, self._week.open_before(table)])
        rng = np.random.default_rng(self._seed)
        rows, origins, steps_ahead = _examples(known, whole, horizon, rng)
        scale = whole.scale[rows, origins]
        features = direct_features(whole, rows, origins, steps_ahead, scale)
        target = whole.values[rows, origins + steps_ahead] / scale
        # Whole moments are kept, so that what strikes all series at once is an error too.
        is_kept = rng.random(size=known.shape[1:])[origins] < KEPT_SHARE
        if is_kept.all() or not is_kept.any() or target[~is_kept].sum() <= 0:
            is_kept = np.arange(len(rows)) % 4 == 0
        self._model = _model_of(self._seed)
        self._columns = _telling(features[~is_kept])
        if target[~is_kept].sum() > 0 and len(self._columns):
            weight = scale[~is_kept] / scale[~is_kept].mean()
            with threadpool_limits(ONE_THREAD):
                self._model.fit(features[~is_kept][:, self._columns], target[~is_kept], sample_weight=weight)
        self._fit_spread(self._expected(features[is_kept]) * scale[is_kept], (target * scale)[is_kept])

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
        expected = self._expected(direct_features(whole, rows, origins, steps_ahead, scale)) * scale
        found = self._spread(expected)
        quantiles[:, ahead] = found.reshape(num_series, len(ahead), -1)
        return quantiles

    def _expected(self, features: FloatArray) -> FloatArray:
        """Expected values in units of the scale, (E,); 0 where every example was 0."""
        if not hasattr(self._model, "n_features_in_"):
            return np.full(len(features), LEAST_EXPECTED)
        with threadpool_limits(ONE_THREAD):
            told = np.nan_to_num(self._model.predict(features[:, self._columns]))
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


def _telling(features: FloatArray) -> IntArray:
    """Columns that are not the same for all examples; a step that is the only one ahead tells nothing."""
    least: FloatArray = np.fmin.reduce(features, axis=0)
    most: FloatArray = np.fmax.reduce(features, axis=0)
    return np.flatnonzero(most > least)


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
