"""A day as it was reported and planned, kept so that it can be read again with faults."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from doseflow.bootstrap import make_planner
from doseflow.domain.city import City, FloatArray
from doseflow.domain.orders import Commitments
from doseflow.evaluate.past_weeks import history_of
from doseflow.evaluate.played_day import DayPlay
from doseflow.settings import Settings
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.simulate.step_params import step_params

Payload = dict[str, Any]


@dataclass(frozen=True)
class RecordedPeriod:
    """One cycle: the true reports of all sites, by site position, and what else the fold needs."""

    now: datetime
    payloads: list[Payload]
    past_weeks_people: FloatArray
    commitments: Commitments


@dataclass(frozen=True)
class RecordedDay:
    """A whole day of a city."""

    city: City
    starts_at: datetime
    periods: list[RecordedPeriod]


def record_day(city_name: str, seed: int, settings: Settings) -> RecordedDay:
    """
    Play a city's day, with the incidents of the demonstration, under the planner of the settings.

    Raises
    ------
    CityWrong, SettingsWrong
    """
    city = SimulatedCity.from_name(city_name, seed=seed, faults=NO_FAULTS)
    history = history_of(city.city, city.past_weeks_arrivals(), city.now)
    starts_at = city.now
    play = DayPlay(city, make_planner(settings), history, step_params(city.city, SimulationParams()), settings.intake)
    periods = []
    while not city.is_over:
        state = play.play_period().state
        payloads = [orjson.loads(report) for report in play.sent_reports]
        periods.append(RecordedPeriod(city.now, payloads, state.arrivals_past_weeks_people, state.commitments))
    return RecordedDay(city.city, starts_at, periods)
