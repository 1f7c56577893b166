"""The forecaster of `doseflow forecast`, as it comes."""

from __future__ import annotations

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable


class OurForecaster:
    """`forecast_series`, unchanged: what it learnt, it learnt before it was packaged."""

    name = "doseflow"
    notes = "forecast_series with its standing parameters"

    def __init__(self) -> None:
        from doseflow.forecast.series import forecast_series

        self._forecast_series = forecast_series

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Nothing: it takes a history whole."""

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q)."""
        return self._forecast_series(table, horizon)
