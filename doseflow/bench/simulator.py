"""
How fast the simulator is: a whole day of a city on one core, the same day person by person in Ciw, and many cities at
once on a processor or a graphics card.

What is measured is the transition alone, from before the first shift until the last site is empty: no reports, no
planner. Every figure that is a ratio comes from one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.simulate.city_choice import city_from_name, days_of
from doseflow.simulate.day_plan import plan_day
from doseflow.simulate.decision_arrays import Neighbourhood, neighbourhood, no_decision
from doseflow.simulate.draws import Draws, NumpyDraws
from doseflow.simulate.incidents import NONE
from doseflow.simulate.opening import initial_world
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.period import transition
from doseflow.simulate.replayed_city import DEMO_DAY_ON
from doseflow.simulate.replicas import converted, replicated
from doseflow.simulate.step_params import StepParams, step_params
from doseflow.simulate.transition import step
from doseflow.simulate.world import World

DAY_SECONDS_TARGET = 1.0
GPU_TARGET_PER_SECOND = 20e6
BUSY_FROM_MINUTES = 240
"""Throughput is measured from so long after the world begins: with queues everywhere."""


@dataclass(frozen=True)
class Start:
    """The morning of a city, and what its steps need."""

    world: World
    params: StepParams
    around: Neighbourhood


def start_of(city_name: str, seed: int, params: SimulationParams | None = None) -> Start:
    """
    A city on the morning of the demonstration's day, without incidents.

    Raises
    ------
    CityWrong
    """
    city, assumed = city_from_name(city_name), params or SimulationParams()
    rng, of_city = np.random.default_rng(seed), step_params(city, assumed)
    day = plan_day(city, days_of(city, seed), DEMO_DAY_ON, NONE, assumed, rng)
    return Start(initial_world(city, day, of_city, rng), of_city, neighbourhood(city))


def live_a_day(start: Start, seed: int, on_step: Callable[[World, World], None] | None = None) -> World:
    """The city when its day is over; `on_step` is handed the worlds before and after every step."""
    world, draws = start.world, NumpyDraws(np.random.default_rng(seed))
    last = float(start.world.day.closes.max()) + start.params.assumed.overtime_minutes
    while world.epoch_minutes < last or bool(world.inside_people.any()):
        before, world = world, step(world, draws, start.params)
        if on_step is not None:
            on_step(before, world)
    return world


def day_seconds(start: Start, seed: int, num_days: int) -> list[float]:
    """Processor seconds of one day, again and again; seconds of this thread, so that other work does not count."""
    seconds = []
    for repeat in range(num_days):
        started_at = time.thread_time()
        live_a_day(start, seed + repeat)
        seconds.append(time.thread_time() - started_at)
    return seconds


def day_figure(city_name: str, num_sites: int, seconds: Sequence[float], seed: int) -> Figure:
    """Median seconds of a day; the repeats are too few for an interval, so their range stands in the notes."""
    target = DAY_SECONDS_TARGET if num_sites == 200 else None
    value = float(np.median(seconds))
    return Figure(
        "city_day_seconds",
        value,
        "seconds",
        {"sites": num_sites, "city": city_name},
        n=len(seconds),
        seed=seed,
        target=target,
        met=None if target is None else value <= target,
        notes=f"processor seconds of one thread; range of the repeats {min(seconds):.3g} to {max(seconds):.3g}",
    )


@dataclass(frozen=True)
class ArrayLibrary:
    """Where arrays live: how to bring them there, how to draw there, and how to wait for what is under way."""

    name: str
    convert: Callable[[Any], Any]
    draws: Callable[[int], Draws]
    wait: Callable[[], None]


def numpy_library() -> ArrayLibrary:
    """Arrays of numpy on the processor."""
    return ArrayLibrary(
        "numpy", lambda array: array, lambda seed: NumpyDraws(np.random.default_rng(seed)), lambda: None
    )


def throughput(start: Start, library: ArrayLibrary, num_replicas: int, *, seed: int, num_periods: int) -> list[float]:
    """Site-minutes a second, period by period, of so many replicas at once, after a warm-up."""
    world, draws = start.world, NumpyDraws(np.random.default_rng(seed))
    for _ in range(BUSY_FROM_MINUTES):
        world = step(world, draws, start.params)
    busy, params, around = (
        converted(thing, library.convert) for thing in (replicated(world, num_replicas), start.params, start.around)
    )
    stream, decision = library.draws(seed), no_decision(busy, around)
    rates = []
    for _ in range(num_periods + 2):
        library.wait()
        started_at = time.perf_counter()
        busy = transition(busy, decision, stream, params, around)
        library.wait()
        minutes = 5 * num_replicas * start.world.stations_open.shape[0]
        rates.append(minutes / (time.perf_counter() - started_at))
    return rates[2:]


def throughput_figure(
    library: ArrayLibrary, num_sites: int, num_replicas: int, rates: Sequence[float], seed: int
) -> Figure:
    """Median site-minutes a second; the range of the periods stands in the notes."""
    target = GPU_TARGET_PER_SECOND if library.name.startswith("cuda") and num_replicas * num_sites >= 100_000 else None
    value = float(np.median(rates))
    return Figure(
        "site_minutes_per_second",
        value,
        "1/s",
        {"device": library.name, "batch": num_replicas, "sites": num_sites},
        n=len(rates),
        seed=seed,
        target=target,
        met=None if target is None else value >= target,
        notes=f"one period of five minutes a sample; range of the samples {min(rates):.3g} to {max(rates):.3g}",
    )
