"""A replica: both futures under the same chance; what a worker is asked and what it answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.report import Weather
from doseflow.domain.state import CityState
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.pipeline import Planner
from doseflow.policy.rules_policy import RulesPolicy
from doseflow.simulate.day_profile import DAY_MINUTES, DAY_PERIODS
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.simulate.reporting import Reporters
from doseflow.simulate.step_params import step_params
from doseflow.what_if.changed_world import changed_day, changed_world
from doseflow.what_if.changes import Change, ChangeKind
from doseflow.what_if.future import RECORD_EVERY_MINUTES, Future, FutureRecord
from doseflow.what_if.rebuilt_day import rebuilt_day
from doseflow.what_if.rebuilt_world import rebuilt_world

UNHURRIED_MILLISECONDS = 2000.0
"""A solver that ran out of time would make two like futures differ."""


@dataclass(frozen=True)
class Question:
    """
    What is asked: a state with its forecast, what is supposed, and how many replicas.

    `past_weeks_people` are arrivals in the coming 24 periods of past weeks at each moment that is planned,
    (moments, S, W, T).
    """

    state: CityState
    forecast: ArrivalForecast
    past_weeks_people: FloatArray
    changes: tuple[Change, ...]
    num_replicas: int = 2
    seed: int = 1
    patience_seconds: float = 20.0


@dataclass(frozen=True)
class Replica:
    """Both futures under the same chance."""

    as_is: FutureRecord
    changed: FutureRecord


def play_replica(question: Question, number: int) -> Replica:
    """
    Live through both futures of one replica.

    Raises
    ------
    EngineTimedOut
    """
    gives_up_at = time.monotonic() + question.patience_seconds
    as_is, changed = (_future(question, number, changes, gives_up_at) for changes in ((), question.changes))
    return Replica(as_is.live(_until(as_is)), changed.live(_until(changed)))


def _future(question: Question, number: int, changes: Sequence[Change], gives_up_at: float) -> Future:
    state, assumed = question.state, SimulationParams()
    params, seed = step_params(state.city, assumed), question.seed * 1000 + number
    # Levels are spread evenly: the city's day as a whole is busier in one replica than in another.
    level = (number + 0.5) / question.num_replicas
    day = changed_day(rebuilt_day(state, question.forecast, assumed, level), changes, state.city)
    world = rebuilt_world(state, day, params, np.random.default_rng([seed, 0]))
    world = changed_world(world, changes, state.city, params)
    closed = {one.site_id for one in changes if one.kind is ChangeKind.CLOSE_SITE and one.site_id}
    bound = state.commitments
    unknown = np.full((state.city.num_sites, 1, DAY_PERIODS), np.nan)
    return Future(
        world=world,
        state=state,
        commitments=replace(bound, suspended_site_ids=bound.suspended_site_ids | closed),
        planner=rules_planner(),
        reporters=Reporters(state.city, params, unknown, _weather(state), NO_FAULTS),
        past_weeks_people=question.past_weeks_people,
        seed=seed,
        gives_up_at=gives_up_at,
    )


def rules_planner() -> Planner:
    """The planner of every future: quick, and the same whichever planner the city has."""
    feasible = FeasibleLayer(FeasibleParams(time_limit_milliseconds=UNHURRIED_MILLISECONDS))
    return Planner(forecaster=BookingsFirst(), policy=RulesPolicy(), feasible=feasible)


def _until(future: Future) -> float:
    """When the last site has closed and its overtime is over, in whole quarters from now."""
    world, assumed = future.world, future.reporters.params.assumed
    ends = min(float(world.day.closes.max()) + assumed.overtime_minutes, world.day.midnight + DAY_MINUTES)
    quarters = max(1, int(np.ceil((ends - world.epoch_minutes) / RECORD_EVERY_MINUTES)))
    return world.epoch_minutes + quarters * RECORD_EVERY_MINUTES


def _weather(state: CityState) -> Weather:
    known = state.weather_idx[state.weather_idx >= 0]
    return list(Weather)[int(known[0])] if len(known) else Weather.DRY
