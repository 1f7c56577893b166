"""PerfectForecast: reads the simulator's day. No real city has it; it bounds what a better forecast could bring."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS, ArrivalForecast, ForecastBasis
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.world import World
from doseflow.units import PERIOD_MINUTES


class PerfectForecast:
    """
    The people who will come: all who have booked by now, at their minute, and all walk-ins.

    Who books a slot later today is not known yet, and who comes past closing cannot be served and does not count. All
    quantiles are equal.
    """

    name = "perfect"

    def __init__(self, city: SimulatedCity) -> None:
        self._city = city

    def __call__(self, state: CityState) -> ArrivalForecast:
        """The future of every site."""
        ahead = people_by_period_ahead(self._city.world)
        waiting = np.nansum(state.waiting_people[:, :OBSERVATION_IDX], axis=-1)
        return ArrivalForecast(
            made_at=state.as_of,
            forecaster=self.name,
            arrivals_people=_same_for_all_quantiles(ahead[:, :HORIZON_PERIODS]),
            doses_rest_of_day=_same_for_all_quantiles(ahead.sum(axis=-1) + waiting),
            basis=np.full(len(ahead), int(ForecastBasis.BOOKINGS), dtype=np.int64),
        )


def people_by_period_ahead(world: World) -> FloatArray:
    """People who will come in each period from now until midnight, at least `HORIZON_PERIODS` of them, (S, periods)."""
    people = np.asarray(world.coming_people + world.walk_ins_people, dtype=np.float64)
    num_minutes = people.shape[-1]
    closes = np.asarray(world.day.closes) - world.day.midnight
    can_be_served = (np.arange(num_minutes) < closes[:, None]) & np.asarray(world.day.works_today)[:, None]
    ahead = np.where(can_be_served, people, 0.0)[:, world.minute_of_day :]
    num_periods = max(-(-ahead.shape[-1] // PERIOD_MINUTES), HORIZON_PERIODS)
    padded = np.pad(ahead, ((0, 0), (0, num_periods * PERIOD_MINUTES - ahead.shape[-1])))
    by_period: FloatArray = padded.reshape(len(ahead), num_periods, PERIOD_MINUTES).sum(axis=-1)
    return by_period


def _same_for_all_quantiles(people: FloatArray) -> FloatArray:
    return np.repeat(people[..., None], len(QUANTILE_LEVELS), axis=-1)
