"""BookingsFirst: who has an appointment comes; past weeks where no appointments are told."""

from __future__ import annotations

import numpy as np

from doseflow.domain.forecast import ArrivalForecast, ForecastBasis
from doseflow.domain.state import CityState
from doseflow.forecast.booked_arrivals import booked_arrivals
from doseflow.forecast.seasonal_naive import SeasonalNaiveParams, forecast_of, seasonal_arrivals


class BookingsFirst:
    """
    Forecasts from the appointments of the coming two hours, else as `SeasonalNaive` does.

    The level of a day is in its appointments before anybody has come, while past weeks only know other days' levels.
    """

    name = "bookings_first"

    def __init__(self, params: SeasonalNaiveParams | None = None) -> None:
        self._params = params or SeasonalNaiveParams()

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Quantiles for every site; a site's basis is the weakest that any of its open periods rests on."""
        expected = seasonal_arrivals(state, self._params)
        people, dispersion = booked_arrivals(state, self._params.bookings)
        is_told = np.isfinite(people)
        expected.mean_people = np.where(is_told, people, expected.mean_people)
        expected.dispersion = np.where(is_told, dispersion[:, None], expected.dispersion)
        expected.mean_variance_share = np.where(is_told, 0.0, expected.mean_variance_share)
        expected.basis = np.where(is_told, ForecastBasis.BOOKINGS, expected.basis)
        return forecast_of(state, expected, self.name, self._params)
