"""
mlforecast with LightGBM: one point forecaster for all sites, fed its own forecasts step by step, with conformal
intervals from the errors of the last windows before the part played.
"""

from __future__ import annotations

import warnings
from typing import Any

import lightgbm
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from mlforecast import MLForecast
from mlforecast.lag_transforms import RollingMean
from mlforecast.utils import PredictionIntervals

from doseflow.bench.forecast.series_set import MINUTES_OF_DAY
from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.open_steps import OpenWeek, filled, open_week

LATEST_STEPS = 3_000
LARGEST_TABLE = 400_000
"""Rows that are fitted on, at most; the latest ones."""
WINDOWS = 3
ROUNDS = 150
LEVELS: list[int | float] = [50, 80]


class MlforecastTrees:
    """Lags, rolling means and the phase; absolute error; conformal intervals a step ahead."""

    name = "mlforecast_lightgbm"
    notes = f"LightGBM on absolute error, recursive, lags and rolling means; conformal intervals of {WINDOWS} windows"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._week = OpenWeek(MINUTES_OF_DAY, np.ones(7, dtype=bool))
        self._forecaster: Any = None
        self._kept = 0

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit the trees and keep the errors of the last windows."""
        self._week = open_week(table)
        season, week = self._week.season_steps, self._week.week_steps
        steps = len(self._week.open_before(table))
        self._kept = min(steps, max(LARGEST_TABLE // len(table.series_ids), 3 * week), LATEST_STEPS)
        lags = sorted({1, 2, 3, 6, season, 2 * season, *([week] if 3 * week < self._kept else [])})
        model = lightgbm.LGBMRegressor(
            objective="l1", n_estimators=ROUNDS, learning_rate=0.1, num_leaves=31, random_state=self._seed, verbosity=-1
        )
        self._forecaster = MLForecast(
            models={"trees": model},
            freq=1,
            lags=lags,
            lag_transforms={1: [RollingMean(6)], season: [RollingMean(3)]},
            date_features=[_phase_of(week)],
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._forecaster.fit(
                self._long(table), prediction_intervals=PredictionIntervals(n_windows=WINDOWS, h=horizon)
            )

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        ahead, _ = self._week.ahead(table, horizon)
        num_series = len(table.series_ids)
        quantiles = np.zeros((num_series, horizon, len(QUANTILE_LEVELS)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self._forecaster.predict(horizon, level=LEVELS, new_df=self._long(table))
        columns = ["trees-lo-80", "trees-lo-50", "trees", "trees-hi-50", "trees-hi-80"]
        by_series = found[columns].to_numpy().reshape(num_series, horizon, len(columns))
        quantiles[:, ahead] = np.sort(np.maximum(by_series[:, : len(ahead)], 0.0), axis=-1)
        return quantiles

    def _long(self, table: SeriesTable) -> pd.DataFrame:
        """Rows of series and open step, its number counted so that the phase of the week is its remainder."""
        open_steps = self._week.open_before(table)
        values = filled(table.values[:, open_steps], self._week.season_steps)
        numbers = np.arange(len(open_steps))[-self._kept :]
        values = values[:, -self._kept :]
        return pd.DataFrame(
            {
                "unique_id": np.repeat(np.arange(len(values)), values.shape[1]),
                "ds": np.tile(numbers, len(values)),
                "y": values.ravel(),
            }
        )


def _phase_of(period: int) -> Any:
    def phase(steps: pd.Index[int]) -> pd.Index[int]:
        return steps % period

    return phase
