"""A small city, its parameters and two of its worlds."""

from __future__ import annotations

import pytest
from simulated_worlds import begin, live

from doseflow.domain.city import City
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.step_params import StepParams, step_params
from doseflow.simulate.synthetic_city import synthetic_city
from doseflow.simulate.world import World


@pytest.fixture(scope="session")
def small_city() -> City:
    """Twelve sites with vans and neighbours, small enough to read."""
    return synthetic_city(12)


@pytest.fixture(scope="session")
def small_params(small_city: City) -> StepParams:
    return step_params(small_city, SimulationParams())


@pytest.fixture(scope="session")
def fresh_world(small_city: City, small_params: StepParams) -> World:
    return begin(small_city, small_params)


@pytest.fixture(scope="session")
def morning(fresh_world: World, small_params: StepParams) -> World:
    """The small city in the middle of its morning, with people everywhere."""
    return live(fresh_world, 300, small_params)
