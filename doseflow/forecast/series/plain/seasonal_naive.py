"""As it was at the same time of the day, or of the week, before."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.same_phase import (
    lags_of,
    mean_known,
    same_phase_ahead,
    same_phase_before,
    spread_quantiles,
)

SEASONS_BACK = 7
"""Where the latest value of the same phase is unknown, earlier ones are tried, so many in all."""
WEEKS_OF_RESIDUALS = 8


class SeasonalNaive:
    """The latest known value of the same phase; a day or a week back, as did better before the part played."""

    name = "seasonal_naive"

    def __init__(self) -> None:
        self.notes = ""
        self._lag = 0

    def fit(self, table: SeriesTable, horizon: int) -> None:  # noqa: ARG002 - one season for all steps ahead
        """Choose the season."""
        errors = {
            lag: np.nanmean(np.abs(table.values - _before(table.values, lag)))
            for lag in lags_of(table.step_minutes)
            if lag < table.values.shape[1]
        }
        self._lag = min(errors, key=lambda lag: errors[lag])
        self.notes = f"season {self._lag} steps; quantiles of its past errors"

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q)."""
        values = table.values[:, -(WEEKS_OF_RESIDUALS + 1) * lags_of(table.step_minutes)[-1] :]
        point = _first_known(same_phase_ahead(values, horizon, self._lag, SEASONS_BACK))
        point = np.where(np.isnan(point), mean_known(values.T)[:, None], point)
        return spread_quantiles(values, _before(values, self._lag), np.nan_to_num(point))


def _before(values: FloatArray, lag: int) -> FloatArray:
    return _first_known(same_phase_before(values, lag, SEASONS_BACK))


def _first_known(candidates: FloatArray) -> FloatArray:
    """The first known one along the first axis."""
    chosen: FloatArray = candidates[0].copy()
    for later in candidates[1:]:
        np.copyto(chosen, later, where=np.isnan(chosen))
    return chosen
