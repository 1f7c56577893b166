"""Builders of small worlds, for the simulator's tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np

from doseflow.domain.city import City
from doseflow.simulate.day_plan import plan_day
from doseflow.simulate.incidents import NONE
from doseflow.simulate.opening import initial_world
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.synthetic_city import SyntheticDays, synthetic_city
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
    rng = np.random.default_rng(seed)
    for _ in range(minutes):
        world, _ = step(world, rng, params)
    return world


def one_station_city() -> City:
    """One site whose first stage has one station; the later stages are no obstacle."""
    city = synthetic_city(1)
    site = replace(city.sites[0], stations_possible=(1, 500, 500, 500), seats_possible=5000, daily_capacity_people=500)
    return replace(city, sites=(site,))
