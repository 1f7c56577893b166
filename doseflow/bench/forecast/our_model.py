"""The forecaster of `doseflow forecast`, as it comes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable


class OurForecaster:
    """`forecast_series`, unchanged: what it learnt, it learnt before it was packaged."""

    name = "doseflow"
    notes = "forecast_series with its standing parameters"

    def __init__(self) -> None:
        forecast: Callable[[SeriesTable, int], FloatArray] = import_module("doseflow.forecast.series").forecast_series
        self._forecast_series = forecast

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Nothing: it takes a history whole."""

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q)."""
        return self._forecast_series(table, horizon)
