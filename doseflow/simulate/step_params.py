"""What the transition needs of a city and of the assumptions, as arrays: made once, handed to every step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import City, FloatArray, IntArray
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.simulate.parameters import (
    SimulationParams,
    fixed_service_minutes,
    mean_service_minutes,
    random_service_minutes,
)


@dataclass(frozen=True)
class StepParams:
    """
    Arrays of one city; R stages, K products.

    Parameters
    ----------
    fixed_steps
        Steps of the fixed part of a service, (3,).
    finish_share
        Share of the people in the memoryless part who are done in one step, (3,).
    stay_steps, long_stay_steps
        Steps on a seat.
    mean_service_minutes
        (R,).
    """

    assumed: SimulationParams
    fixed_steps: IntArray
    finish_share: FloatArray
    stay_steps: int
    long_stay_steps: int
    mean_service_minutes: FloatArray
    stations_possible: IntArray
    seats_possible: IntArray
    seats_per_observer: int
    doses_per_vial: IntArray
    litres_per_vial: FloatArray
    in_use_minutes: FloatArray
    storage_low_celsius: FloatArray
    storage_high_celsius: FloatArray
    excursion_budget_minutes: FloatArray


def step_params(city: City, assumed: SimulationParams) -> StepParams:
    """The arrays of a city."""
    products = city.products
    # A city that states its own service times keeps the assumed proportion of fixed to memoryless time.
    pace = np.array(city.service_minutes) / np.array(mean_service_minutes(assumed))
    fixed = steps_of(np.array(fixed_service_minutes(assumed)) * pace[:OBSERVATION_IDX], assumed)
    random_minutes = np.array(random_service_minutes(assumed)) * pace[:OBSERVATION_IDX]
    stay_pace = pace[OBSERVATION_IDX]
    return StepParams(
        assumed=assumed,
        fixed_steps=fixed,
        finish_share=_finish_share(fixed, random_minutes, assumed.step_minutes),
        stay_steps=int(steps_of(np.array(assumed.observation_minutes * stay_pace), assumed)),
        long_stay_steps=int(steps_of(np.array(assumed.long_observation_minutes * stay_pace), assumed)),
        mean_service_minutes=np.array(city.service_minutes),
        stations_possible=np.array([site.stations_possible for site in city.sites], dtype=np.int64),
        seats_possible=np.array([site.seats_possible for site in city.sites], dtype=np.int64),
        seats_per_observer=city.seats_per_observer,
        doses_per_vial=np.array([p.doses_per_vial for p in products], dtype=np.int64),
        litres_per_vial=np.array([p.litres_per_vial for p in products]),
        in_use_minutes=np.array([p.in_use_hours * 60 for p in products]),
        storage_low_celsius=np.array([p.storage_low_celsius for p in products]),
        storage_high_celsius=np.array([p.storage_high_celsius for p in products]),
        excursion_budget_minutes=np.array([p.excursion_budget_minutes for p in products]),
    )


def steps_of(minutes: FloatArray, assumed: SimulationParams) -> IntArray:
    """Whole steps nearest to so many minutes."""
    return np.rint(minutes / assumed.step_minutes).astype(np.int64)


def _finish_share(fixed_steps: IntArray, random_minutes: FloatArray, step_minutes: float) -> FloatArray:
    """
    Share done in a step such that the mean is exact.

    After a fixed part, the geometric time may be 0 steps; without one, it is at least 1 step.
    """
    after_fixed = step_minutes / (random_minutes + step_minutes)
    alone = step_minutes / np.maximum(random_minutes, step_minutes)
    return np.where(fixed_steps > 0, after_fixed, alone)
