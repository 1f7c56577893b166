"""The mean of the same time of the week, or of the day, over the past weeks."""

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

CANDIDATES = ((0, 7), (0, 28), (-1, 4), (-1, 8))
"""Which lag, the shortest or the longest, and how many values are averaged: the best before the part played is kept."""
WEEKS_OF_RESIDUALS = 6


class HistoricalAverage:
    """Mean by phase over the latest days or weeks; quantiles from the errors of the same mean in the past."""

    name = "historical_average"

    def __init__(self) -> None:
        self.notes = ""
        self._lag, self._count = 0, 0

    def fit(self, table: SeriesTable, horizon: int) -> None:  # noqa: ARG002 - one mean for all steps ahead
        """Choose how far back the mean reaches."""
        lags = lags_of(table.step_minutes)
        recent = table.values[:, -(8 + WEEKS_OF_RESIDUALS) * lags[-1] :]
        errors = {}
        for which, count in CANDIDATES:
            if lags[which] < recent.shape[1]:
                mean = mean_known(same_phase_before(recent, lags[which], count))
                scored = slice(min(2 * lags[-1], recent.shape[1] // 2), None)
                errors[(lags[which], count)] = np.nanmean(np.abs(recent - mean)[:, scored])
        self._lag, self._count = min(errors, key=lambda choice: errors[choice])
        self.notes = f"mean of {self._count} values {self._lag} steps apart; quantiles of its past errors"

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q)."""
        week = lags_of(table.step_minutes)[-1]
        values = table.values[:, -(WEEKS_OF_RESIDUALS * week + self._count * self._lag) :]
        past_mean = mean_known(same_phase_before(values, self._lag, self._count))
        mean = mean_known(same_phase_ahead(values, horizon, self._lag, self._count))
        mean = np.where(np.isnan(mean), mean_known(values.T)[:, None], mean)
        return spread_quantiles(values, past_mean, np.nan_to_num(mean))
