"""Builders of small worlds, for the simulator's tests."""

from __future__ import annotations

from datetime import date

import numpy as np

from doseflow.domain.city import City
from doseflow.simulate.day_plan import plan_day
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.incidents import NONE
from doseflow.simulate.opening import initial_world
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.synthetic_city import SyntheticDays
from doseflow.simulate.transition import step
from doseflow.simulate.world import World

DAY_ON = date(2021, 5, 20)


def begin(city: City, params: StepParams, seed: int = 1) -> World:
    """The city on the morning of `DAY_ON`."""
    rng = np.random.default_rng(seed)
    day = plan_day(city, SyntheticDays(city), DAY_ON, NONE, params.assumed, rng)
    return initial_world(city, day, params, rng)


def live(world: World, minutes: int, params: StepParams, seed: int = 2) -> World:
    """The world so many steps later."""
    draws = NumpyDraws(np.random.default_rng(seed))
    for _ in range(minutes):
        world = step(world, draws, params)
    return world
