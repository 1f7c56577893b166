"""SeasonalNaive: next Tuesday at ten will be like the last Tuesdays at ten."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import ArrivalForecast, ForecastBasis
from doseflow.domain.state import CityState
from doseflow.forecast.booked_arrivals import BookingParams, booked_arrivals
from doseflow.forecast.count_quantiles import count_quantiles
from doseflow.forecast.doses_ahead import doses_rest_of_day
from doseflow.forecast.opening_periods import open_periods, opening_window_minutes
from doseflow.forecast.weekly_pattern import weekly_pattern


@dataclass(frozen=True, slots=True)
class SeasonalNaiveParams:
    """Each has its reason in docs/background/forecast-and-rules.md."""

    week_decay: float = 0.7
    """Weight of a week over that of the next newer one; near 0 only the latest known week counts, as in textbooks."""
    assumed_rate_variance: float = 0.1
    """Squared coefficient of variation of the rate between weeks where fewer than two weeks are known anywhere."""
    rate_uncertainty_share: float = 0.25
    """Standard error of the rate beyond two hours over the rate, for doses of the rest of the day."""
    bookings: BookingParams = field(default_factory=BookingParams)

    def __post_init__(self) -> None:
        if not 0 < self.week_decay <= 1:
            raise ValueError(f"week_decay: must be above 0 and at most 1, got {self.week_decay}")
        for name in ("assumed_rate_variance", "rate_uncertainty_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}: must lie in 0..1, got {getattr(self, name)}")


class SeasonalNaive:
    """Forecasts from past weeks, else from bookings, else from the latest arrivals, else says that it knows nothing."""

    name = "seasonal_naive"

    def __init__(self, params: SeasonalNaiveParams | None = None) -> None:
        self._params = params or SeasonalNaiveParams()

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Quantiles for every site; a site's basis is the weakest that any of its open periods rests on."""
        return forecast_of(state, seasonal_arrivals(state, self._params), self.name, self._params)


def forecast_of(
    state: CityState, expected: ExpectedArrivals, name: str, params: SeasonalNaiveParams
) -> ArrivalForecast:
    """The forecast that follows from what each period would bring if every site were open."""
    starts, ends = opening_window_minutes(state)
    is_open_period = open_periods(starts, ends)
    mean = np.where(is_open_period, expected.mean_people, 0.0)
    return ArrivalForecast(
        made_at=state.as_of,
        forecaster=name,
        arrivals_people=count_quantiles(mean, expected.dispersion, expected.mean_variance_share),
        doses_rest_of_day=doses_rest_of_day(state, mean, is_open_period, ends, params.rate_uncertainty_share),
        basis=np.where(is_open_period, expected.basis, ForecastBasis.PAST_WEEKS).max(axis=1).astype(np.int64),
    )


def seasonal_arrivals(state: CityState, params: SeasonalNaiveParams) -> ExpectedArrivals:
    """What each period would bring by the past weeks, if every site were open; gaps by what is known beside them."""
    weeks = weekly_pattern(state.arrivals_past_weeks_people, params.week_decay, params.assumed_rate_variance)
    expected = ExpectedArrivals(
        mean_people=weeks.mean_people,
        dispersion=1 + weeks.rate_variance[:, None] * weeks.mean_people,
        mean_variance_share=weeks.mean_variance_share,
        basis=np.full(weeks.mean_people.shape, ForecastBasis.PAST_WEEKS, dtype=np.int64),
    )
    if np.isnan(expected.mean_people).any():
        booked_people, booked_dispersion = booked_arrivals(state, params.bookings)
        expected.fill(booked_people, booked_dispersion[:, None], 0.0, ForecastBasis.BOOKINGS)
        held_people = state.arrivals_people[:, None]
        held_dispersion = 1 + params.assumed_rate_variance * held_people
        expected.fill(held_people, held_dispersion, 1.0, ForecastBasis.LAST_PERIODS)
        expected.basis[np.isnan(expected.mean_people)] = ForecastBasis.NOTHING
    return expected


@dataclass(slots=True)
class ExpectedArrivals:
    """
    Mean, its dispersion (variance over mean), the variance of the mean as a share of one week's, and its basis, (S, T).

    Gaps are filled from one source after another.
    """

    mean_people: FloatArray
    dispersion: FloatArray
    mean_variance_share: FloatArray
    basis: IntArray

    def fill(
        self, mean_people: FloatArray, dispersion: FloatArray, mean_variance_share: float, basis: ForecastBasis
    ) -> None:
        """Take people from another source where nobody is expected yet."""
        fills = np.isnan(self.mean_people) & np.isfinite(mean_people)
        self.mean_people = np.where(fills, mean_people, self.mean_people)
        self.dispersion = np.where(fills, dispersion, self.dispersion)
        self.mean_variance_share = np.where(fills, mean_variance_share, self.mean_variance_share)
        self.basis = np.where(fills, basis, self.basis)
