"""One stage of one site against M/M/c."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from simulated_worlds import begin, one_station_city

from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.step_params import step_params
from doseflow.simulate.transition import step

SERVICE_MINUTES = 4.0
NEVER = 1e7
MEMORYLESS = replace(
    SimulationParams(),
    step_minutes=0.2,
    registration_fixed_minutes=0.0,
    registration_random_minutes=SERVICE_MINUTES,
    screening_fixed_minutes=0.0,
    screening_random_minutes=0.2,
    vaccination_fixed_minutes=0.0,
    vaccination_random_minutes=0.2,
    observation_minutes=1.0,
    long_observation_minutes=1.0,
    balk_from_minutes=1000.0,
    balk_full_minutes=NEVER,
    leave_after_minutes=NEVER,
    fridge_noise_celsius=0.0,
)


def erlang_c_wait_minutes(servers: int, load: float) -> float:
    """Mean wait of an M/M/c queue (A. K. Erlang 1917), written out from the definition."""
    below = sum(load**k / math.factorial(k) for k in range(servers))
    at = load**servers / math.factorial(servers) * servers / (servers - load)
    return at / (below + at) * SERVICE_MINUTES / (servers - load)


def many_alike(num_sites: int, servers: int, arrivals_per_minute: float):
    """Copies of one site that never closes, all with `servers` at the first stage: one run is many samples."""
    one = one_station_city()
    sites = tuple(replace(one.sites[0], site_id=f"s{k}") for k in range(num_sites))
    city = replace(
        one,
        sites=sites,
        vans=(),
        neighbour_idx=np.full((num_sites, 1), -1),
        neighbour_travel_minutes=np.full((num_sites, 1), np.nan),
        service_minutes=(SERVICE_MINUTES, 0.2, 0.2, 1.0),
    )
    params = step_params(city, MEMORYLESS)
    world = begin(city, params)
    always = replace(
        world.day,
        opens=np.full(num_sites, -np.inf),
        closes=np.full(num_sites, np.inf),
        works_today=np.ones(num_sites, dtype=bool),
        walk_ins_per_minute=np.full((num_sites, 288), arrivals_per_minute),
        shift_starts=np.full_like(world.day.shift_starts, -NEVER),
        shift_ends=np.full_like(world.day.shift_ends, np.inf),
    )
    staff = np.zeros_like(world.staff_people)
    staff[:, 0, 0, 0, 0] = servers
    for role in (1, 2, 3):
        staff[:, role, role, 0, 0] = 500
    stock = np.zeros_like(world.lots.unopened_doses)
    stock[:, 0] = 6_000_000
    return params, replace(
        world,
        day=always,
        staff_people=staff,
        stations_open=np.tile([servers, 500, 500, 500], (num_sites, 1)),
        coming_people=np.zeros_like(world.coming_people),
        free_slots=np.zeros_like(world.free_slots),
        lots=replace(world.lots, unopened_doses=stock, expires=np.full_like(world.lots.expires, np.inf)),
        waiting_people=world.waiting_people[..., :4],
    )


@pytest.mark.parametrize(("servers", "utilisation"), [(1, 0.5), (3, 0.7)])
def test_the_mean_wait_is_erlangs_within_the_monte_carlo_interval(servers, utilisation):
    arrivals_per_minute = utilisation * servers / SERVICE_MINUTES
    num_sites, warm_up, measured = 450, 300, 350
    params, world = many_alike(num_sites, servers, arrivals_per_minute)
    # Shifts this long would put everybody on a break at once.
    params = replace(params, assumed=replace(params.assumed, break_minutes=0.0))
    rng = np.random.default_rng(servers)
    for _ in range(warm_up):
        world, _ = step(world, rng, params)
    before = world.totals
    for _ in range(measured):
        world, _ = step(world, rng, params)
    waited = (world.totals.waited_minutes - before.waited_minutes)[:, 0]
    arrived = (world.totals.arrived - before.arrived).sum()
    waits = waited / arrived * num_sites
    expected = erlang_c_wait_minutes(servers, utilisation * servers)
    standard_error = waits.std(ddof=1) / math.sqrt(num_sites)
    # Half a step of discretisation on top of three standard errors.
    assert abs(waits.mean() - expected) < 3 * standard_error + params.assumed.step_minutes / 2
    assert 3 * standard_error < 0.3 * expected
    assert world.totals.left.sum() == world.totals.balked.sum() == 0
