"""LastValue: the latest arrivals go on. The simplest forecast there is, to measure the others by."""

from __future__ import annotations

import numpy as np

from doseflow.domain.forecast import HORIZON_PERIODS, ArrivalForecast, ForecastBasis
from doseflow.domain.state import CityState
from doseflow.forecast.count_quantiles import count_quantiles
from doseflow.forecast.doses_ahead import doses_rest_of_day
from doseflow.forecast.opening_periods import open_periods, opening_window_minutes
from doseflow.forecast.seasonal_naive import SeasonalNaiveParams


class LastValue:
    """Holds the arrivals of the last period for the coming two hours of every open site."""

    name = "last_value"

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Quantiles for every site; NaN where the last period is unknown."""
        params = SeasonalNaiveParams()
        starts, ends = opening_window_minutes(state)
        is_open_period = open_periods(starts, ends)
        held = np.repeat(state.arrivals_people[:, None], HORIZON_PERIODS, axis=1)
        mean = np.where(is_open_period, held, 0.0)
        unknown = np.isnan(mean).any(axis=1)
        return ArrivalForecast(
            made_at=state.as_of,
            forecaster=self.name,
            arrivals_people=count_quantiles(mean, 1 + params.assumed_rate_variance * mean, mean_variance_share=1.0),
            doses_rest_of_day=doses_rest_of_day(state, mean, is_open_period, ends, params.rate_uncertainty_share),
            basis=np.where(unknown, ForecastBasis.NOTHING, ForecastBasis.LAST_PERIODS).astype(np.int64),
        )
