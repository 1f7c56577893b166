"""A scenario and a seed make a city that lives: the same pair always the same one."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from doseflow.domain.city import City
from doseflow.simulate.city_choice import days_of
from doseflow.simulate.czech_city import czech_city
from doseflow.simulate.day_plan import DayPlan, plan_day
from doseflow.simulate.parameters import mean_service_minutes
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import ReportFaults
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_days import ScenarioDays
from doseflow.simulate.scenario_draw import drawn_incidents
from doseflow.simulate.scenario_file import packaged_scenario, packaged_scenarios, scenario_from_file
from doseflow.simulate.scenario_incidents import CampaignStartIncident
from doseflow.simulate.synthetic_city import synthetic_city

__all__ = [
    "ScenarioDay",
    "packaged_scenario",
    "packaged_scenarios",
    "scenario_day",
    "scenario_from_file",
    "simulated_city_of",
]

_DAY = zlib.crc32(b"scenario day")


@dataclass(frozen=True)
class ScenarioDay:
    """What a seed makes of a scenario: the city, its days, the one that is played, and what becomes of its reports."""

    city: City
    days: ScenarioDays
    plan: DayPlan
    faults: ReportFaults


def scenario_day(scenario: Scenario, seed: int) -> ScenarioDay:
    """
    The day of a scenario.

    Raises
    ------
    ScenarioWrong
        An incident names a site that the city does not have.
    """
    city, params, day_on = _city_of(scenario), scenario.simulation_params(), scenario.day_on(seed)
    days = ScenarioDays(
        city,
        days_of(city, seed),
        day_on,
        load_scale=scenario.load_scale,
        booking_factor=_booking_factor(scenario),
        deliveries_days=scenario.deliveries_days,
    )
    incidents, silences = drawn_incidents(scenario, city, days.on(day_on), seed)
    rng = np.random.default_rng([seed, _DAY])
    plan = plan_day(city, days, day_on, incidents, params, rng, scenario.offered_load_share)
    shares = scenario.report_faults
    faults = ReportFaults(
        shares.late_share,
        shares.missing_share,
        shares.repeated_share,
        shares.wrong_share,
        shares.untold_share,
        silences,
    )
    return ScenarioDay(city, days, plan, faults)


def simulated_city_of(scenario: Scenario, seed: int) -> SimulatedCity:
    """
    The city of a scenario at the beginning of its window.

    Raises
    ------
    ScenarioWrong
        An incident names a site that the city does not have.
    """
    day = scenario_day(scenario, seed)
    return SimulatedCity(
        day.city,
        day.days,
        day.plan.today.day_on,
        seed,
        day.faults,
        params=scenario.simulation_params(),
        starts_at=scenario.window.starts_at,
        day=day.plan,
    )


def _booking_factor(scenario: Scenario) -> float:
    factors = [one.booking_factor for one in scenario.incidents if isinstance(one, CampaignStartIncident)]
    return float(np.prod(factors))


def _city_of(scenario: Scenario) -> City:
    """The city, with the service times that the scenario assumes."""
    city = czech_city() if scenario.is_real else _made_city(scenario.num_sites, scenario.city_seed)
    return replace(city, service_minutes=mean_service_minutes(scenario.simulation_params()))


@lru_cache(maxsize=4)
def _made_city(num_sites: int, seed: int) -> City:
    return synthetic_city(num_sites, seed)
