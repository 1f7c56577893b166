"""
The forecast of any table of series: takes a SeriesTable, gives quantiles of the coming steps of each series.

It fits on the given history in seconds, keeps nothing, and reads no covariates.
"""

from doseflow.forecast.series.forecaster import SeriesForecaster, forecast_series
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.seasons import Seasons, find_seasons

__all__ = ["Seasons", "SeriesForecastParams", "SeriesForecaster", "find_seasons", "forecast_series"]
