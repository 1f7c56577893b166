"""What the transition needs of a city and of the assumptions, as arrays: made once, handed to every step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import City
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.simulate.draws import Array
from doseflow.simulate.flow import FlowRules
from doseflow.simulate.lanes import Lanes, lanes_of
from doseflow.simulate.parameters import (
    SimulationParams,
    fixed_service_minutes,
    mean_service_minutes,
    random_service_minutes,
)


@dataclass(frozen=True)
class StepParams:
    """
    Arrays of one city; S sites, R stages, K products. They live where the world's arrays live.

    Parameters
    ----------
    lanes
        A lane for every station that a site can open.
    mean_service_minutes
        (R,).
    stations_possible
        (S, R).
    seats_possible
        (S,).
    """

    assumed: SimulationParams
    flow: FlowRules
    lanes: Lanes
    mean_service_minutes: Array
    stations_possible: Array
    seats_possible: Array
    seats_per_observer: int
    doses_per_vial: Array
    litres_per_vial: Array
    in_use_minutes: Array
    storage_low_celsius: Array
    storage_high_celsius: Array
    excursion_budget_minutes: Array


def step_params(city: City, assumed: SimulationParams) -> StepParams:
    """The arrays of a city, in numpy."""
    products = city.products
    stations = np.array([site.stations_possible for site in city.sites], dtype=np.int64)
    return StepParams(
        assumed=assumed,
        flow=flow_rules(city, assumed),
        lanes=lanes_of(np, stations[:, :OBSERVATION_IDX]),
        mean_service_minutes=np.array(city.service_minutes),
        stations_possible=stations,
        seats_possible=np.array([site.seats_possible for site in city.sites], dtype=np.int64),
        seats_per_observer=city.seats_per_observer,
        doses_per_vial=np.array([p.doses_per_vial for p in products], dtype=np.int64),
        litres_per_vial=np.array([p.litres_per_vial for p in products]),
        in_use_minutes=np.array([p.in_use_hours * 60 for p in products]),
        storage_low_celsius=np.array([p.storage_low_celsius for p in products]),
        storage_high_celsius=np.array([p.storage_high_celsius for p in products]),
        excursion_budget_minutes=np.array([p.excursion_budget_minutes for p in products]),
    )


def flow_rules(city: City, assumed: SimulationParams) -> FlowRules:
    """How people move; a city that states its own service times keeps the assumed share of fixed time in them."""
    pace = np.array(city.service_minutes) / np.array(mean_service_minutes(assumed))
    step = assumed.step_minutes
    return FlowRules(
        step_minutes=step,
        fixed_minutes=tuple((np.array(fixed_service_minutes(assumed)) * pace[:OBSERVATION_IDX]).tolist()),
        random_minutes=tuple((np.array(random_service_minutes(assumed)) * pace[:OBSERVATION_IDX]).tolist()),
        observation_steps=_steps_of(assumed.observation_minutes * pace[OBSERVATION_IDX], step),
        long_observation_steps=_steps_of(assumed.long_observation_minutes * pace[OBSERVATION_IDX], step),
        long_observation_share=assumed.long_observation_share,
        leave_after_steps=min(round(assumed.leave_after_minutes / step), round(NEVER_LEAVES_MINUTES / step)),
        leave_share_per_step=leave_share(assumed),
    )


NEVER_LEAVES_MINUTES = 120
"""Who is set to leave only after so long never does."""


def leave_share(assumed: SimulationParams) -> float:
    """Share of those who have waited too long that leaves in one step."""
    if assumed.leave_after_minutes >= NEVER_LEAVES_MINUTES:
        return 0.0
    return float(1 - (1 - assumed.leave_per_minute_share) ** assumed.step_minutes)


def _steps_of(minutes: float, step_minutes: float) -> int:
    return max(1, round(minutes / step_minutes))
