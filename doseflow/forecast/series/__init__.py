"""
The forecast of any table of series: takes a SeriesTable, gives quantiles of the coming steps of each series.

It fits on the given history in seconds, keeps nothing, and reads no covariates.
"""

from doseflow.forecast.series.model import forecast_series
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.seasons import Seasons, find_seasons

__all__ = ["Seasons", "SeriesForecastParams", "find_seasons", "forecast_series"]
