"""The situation: what every family of rules looks at, computed once a cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS, ArrivalForecast
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.policy.arrivals_ahead import arrivals_ahead
from doseflow.policy.headcount import Headcount, headcount
from doseflow.policy.queueing import fluid_wait_minutes
from doseflow.policy.reach import Reach
from doseflow.policy.site_needs import NeedParams, SiteNeeds, rate_per_minute, site_needs
from doseflow.policy.site_standing import SiteStanding, site_standing
from doseflow.policy.standing_orders import StandingOrders, standing_orders

MIN_REMAINING_MINUTES = 30.0
"""Shift time left from which a person counts for the coming hour: at least half of it."""


@dataclass(frozen=True, slots=True)
class Situation:
    """`arrivals_people` is (S, T); `rate_per_minute` (S,), arrivals over the coming hour."""

    state: CityState
    forecast: ArrivalForecast
    orders: StandingOrders
    standing: SiteStanding
    heads: Headcount
    arrivals_people: FloatArray
    rate_per_minute: FloatArray
    needs: SiteNeeds
    reach: Reach

    def wait_minutes(self, servers: FloatArray, *, num_periods: int = HORIZON_PERIODS) -> FloatArray:
        """
        Fluid wait by stage before observation over the coming periods, (S, R - 1, T); NaN where anything is unknown.

        `servers` are people serving, (S, R). Each stage is looked at as if it were the only one: the queue of a line of
        stages stands before the slowest, and whoever queues earlier gets there too.
        """
        queue = np.cumsum(self.state.waiting_people[:, :OBSERVATION_IDX], axis=1)
        arrivals = self.arrivals_people[:, None, :num_periods]
        service_minutes = np.array(self.state.city.service_minutes[:OBSERVATION_IDX])
        return fluid_wait_minutes(queue, arrivals, servers[:, :OBSERVATION_IDX], service_minutes)


def survey(state: CityState, forecast: ArrivalForecast, params: NeedParams, reach: Reach | None = None) -> Situation:
    """Look at the city; `reach` may be that of an earlier look at the same city."""
    orders, standing = standing_orders(state), site_standing(state)
    arrivals = arrivals_ahead(forecast, params.planning_level)
    rate = rate_per_minute(arrivals, state.open_minutes_left)
    return Situation(
        state=state,
        forecast=forecast,
        orders=orders,
        standing=standing,
        heads=headcount(state, orders, MIN_REMAINING_MINUTES),
        arrivals_people=arrivals,
        rate_per_minute=rate,
        needs=site_needs(state, standing, rate, params),
        reach=reach if reach is not None and reach.city is state.city else Reach(state.city),
    )


def serving_people(people: FloatArray, stations_open: FloatArray, staff_is_fresh: BoolArray) -> FloatArray:
    """
    People who can serve, (S, R), NaN where unknown.

    No more than stations open, nor than `people` where the staff reading is fresh; whichever of the two is known
    counts.
    """
    known_people = np.where(staff_is_fresh[:, None], people, np.nan)
    return np.fmin(known_people, stations_open)
