"""One run: a planner plays a scenario's day of one seed; out comes one row of results."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from doseflow import __version__
from doseflow.evaluate.code_digest import scenario_digest
from doseflow.evaluate.measures import measures_of_day, queue_by_period
from doseflow.evaluate.past_weeks import history_of
from doseflow.evaluate.planners import DayKnowledge, planner_of
from doseflow.evaluate.played_day import DayPlay
from doseflow.settings import Settings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_city import simulated_city_of
from doseflow.simulate.step_params import step_params

RunKey = tuple[str, str, int]
"""Planner, scenario and seed."""
Row = dict[str, Any]
"""One run's results, ready to be written as JSON."""


@dataclass(frozen=True)
class Run:
    """What is to be played."""

    planner: str
    scenario: Scenario
    seed: int

    @property
    def key(self) -> RunKey:
        """Which run it is among all."""
        return self.planner, self.scenario.name, self.seed


def play(run: Run, settings: Settings, code: str) -> Row:
    """Play a run; what goes wrong inside is recorded in the row, as `failed`."""
    row: Row = {
        "planner": run.planner,
        "scenario": run.scenario.name,
        "family": run.scenario.family,
        "seed": run.seed,
        "version": __version__,
        "code_digest": code,
        "scenario_digest": scenario_digest(run.scenario),
    }
    began_seconds = time.perf_counter()
    try:
        row |= _played(run, settings)
    except Exception as error:  # noqa: BLE001 - the boundary of a run: one failed run must not end the others
        row["failed"] = f"{type(error).__name__}: {error}"
    return row | {"seconds": round(time.perf_counter() - began_seconds, 3)}


def _played(run: Run, settings: Settings) -> Row:
    scenario = run.scenario
    assumed = scenario.simulation_params()
    city = simulated_city_of(scenario, run.seed)
    planner = planner_of(run.planner, settings, DayKnowledge(city, assumed, run.seed))
    history = history_of(city.city, city.past_weeks_arrivals(), city.now)
    starts_at = city.now_local
    play = DayPlay(city, planner, history, step_params(city.city, assumed), settings.intake)
    played = play.play(until=window_end(scenario, city))
    return {
        "measures": measures_of_day(played.record, played.planning, city.city),
        "starts_at_minute": starts_at.hour * 60 + starts_at.minute,
        "queue_by_period": queue_by_period(played.record),
        "cycles": played.num_cycles,
    }


def window_end(scenario: Scenario, city: SimulatedCity) -> datetime:
    """The moment of a day after which nothing of a scenario is judged."""
    return datetime.combine(city.now_local.date(), scenario.window.ends_at, city.now_local.tzinfo)
