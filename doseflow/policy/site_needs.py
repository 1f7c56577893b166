"""People that a site needs by role, from who is expected and who is waiting already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.policy.queueing import square_root_team
from doseflow.policy.site_standing import SiteStanding
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_HOUR_PERIODS = MINUTES_PER_HOUR // PERIOD_MINUTES
_ROUNDING_SLACK = 1e-9
MOST_BETA = 5.0


@dataclass(frozen=True, slots=True)
class NeedParams:
    """The square-root rule's parameters; reasons in docs/background/forecast-and-rules.md."""

    beta_call: float = 0.0
    """A site calls for people when it has fewer than load + beta_call * sqrt(load)."""
    beta_target: float = 0.0
    """A site that calls is brought up to load + beta_target * sqrt(load)."""
    beta_give: float = 0.25
    """A site gives people away down to load + beta_give * sqrt(load)."""
    beta_open: float = 2.0
    """Stations open for people on duty up to load + beta_open * sqrt(load)."""
    planning_level: float = 0.5
    """Forecast level planned for, one of the forecast's quantile levels; 0.5 plans for the mean."""
    clear_queue_minutes: float = 180.0
    """Time in which the queue of the moment is to be worked off."""
    tolerated_wait_minutes: float = 30.0
    """Arrivals of so many minutes may stand waiting without calling for anybody."""

    def __post_init__(self) -> None:
        for name in ("beta_call", "beta_target", "beta_give", "beta_open"):
            if not 0 <= getattr(self, name) <= MOST_BETA:
                raise ValueError(f"{name}: must lie in 0..{MOST_BETA:g}, got {getattr(self, name)}")
        if not self.beta_call <= self.beta_target <= self.beta_give:
            raise ValueError("beta_call: must be at most beta_target, and that at most beta_give, or plans would flap")
        if self.planning_level not in QUANTILE_LEVELS:
            levels = ", ".join(str(level) for level in QUANTILE_LEVELS)
            raise ValueError(f"planning_level: must be one of {levels}, got {self.planning_level}")
        if not 1 <= self.clear_queue_minutes <= 240:
            raise ValueError(f"clear_queue_minutes: must lie in 1..240, got {self.clear_queue_minutes}")
        if not 0 <= self.tolerated_wait_minutes <= 60:
            raise ValueError(f"tolerated_wait_minutes: must lie in 0..60, got {self.tolerated_wait_minutes}")


@dataclass(frozen=True, slots=True)
class SiteNeeds:
    """
    People needed by site and role, whole numbers, all (S, R).

    Where a site is not operating that is nobody, but observers for those who still sit there.

    Where the arrivals are unknown, `call_people` and `target_people` are the minimum team, `give_people` and
    `open_people` infinite: such a site gives nobody away and opens what it has people for.
    """

    call_people: FloatArray
    target_people: FloatArray
    give_people: FloatArray
    open_people: FloatArray


def rate_per_minute(arrivals_people: FloatArray, open_minutes_left: FloatArray) -> FloatArray:
    """People arriving a minute over the coming hour, or until closing where that is sooner, (S,)."""
    minutes = np.clip(open_minutes_left, PERIOD_MINUTES, MINUTES_PER_HOUR)
    rate: FloatArray = arrivals_people[:, :_HOUR_PERIODS].sum(axis=1) / minutes
    return rate


def site_needs(state: CityState, standing: SiteStanding, rate: FloatArray, params: NeedParams) -> SiteNeeds:
    """Needs at the four levels of the square-root rule; `rate` is arrivals a minute, (S,)."""
    load = rate[:, None] * np.array(state.city.service_minutes)
    backlog = _backlog_people(state, rate, params)
    minimum = state.city.minimum_team_people
    known = np.isfinite(rate)[:, None]
    still_needed = np.zeros(load.shape)
    still_needed[:, OBSERVATION_IDX] = np.ceil(np.nan_to_num(state.seats_taken) / state.city.seats_per_observer)

    def needed(beta: float, where_unknown: FloatArray | float) -> FloatArray:
        people = square_root_team(load, beta)
        people[:, :OBSERVATION_IDX] += backlog
        people[:, OBSERVATION_IDX] = _observers(state, people[:, OBSERVATION_IDX])
        people = np.maximum(np.ceil(people - _ROUNDING_SLACK), minimum)
        # A person without a station serves nobody.
        people = np.fmin(people, np.maximum(state.stations_possible, minimum))
        return np.where(standing.operating[:, None], np.where(known, people, where_unknown), still_needed)

    minimum_people = minimum.astype(np.float64)
    return SiteNeeds(
        call_people=needed(params.beta_call, minimum_people),
        target_people=needed(params.beta_target, minimum_people),
        give_people=needed(params.beta_give, np.inf),
        open_people=needed(params.beta_open, np.inf),
    )


def _backlog_people(state: CityState, rate: FloatArray, params: NeedParams) -> FloatArray:
    """People on top, (S, R - 1), to work off the queue in time; who queues earlier in the visit gets here too."""
    waiting = np.cumsum(np.nan_to_num(state.waiting_people[:, :OBSERVATION_IDX]), axis=1)
    too_many = np.maximum(waiting - np.nan_to_num(rate)[:, None] * params.tolerated_wait_minutes, 0.0)
    service_minutes = np.array(state.city.service_minutes[:OBSERVATION_IDX])
    backlog: FloatArray = too_many * service_minutes / params.clear_queue_minutes
    return backlog


def _observers(state: CityState, seats: FloatArray) -> FloatArray:
    """Observers for the seats that will be taken, or are, as far as there are seats, (S,); not yet rounded."""
    seats = np.fmin(np.fmax(seats, state.seats_taken), state.seats_possible)
    return seats / state.city.seats_per_observer
