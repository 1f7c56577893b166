"""Simulated days as arrays a net can be trained on, made by many processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import FloatArray
from doseflow.domain.state import CityState
from doseflow.forecast.booked_arrivals import BookingParams
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.forecast.net_inputs import NET_INPUTS_VERSION, Inputs, net_inputs
from doseflow.forecast.seasonal_naive import SeasonalNaive
from doseflow.ports import Forecaster
from doseflow.simulate.scenario import Scenario
from doseflow.train.by_processes import by_processes
from doseflow.train.city_days import live_day
from doseflow.train.training_scenarios import LARGEST_CITY, training_scenario

TOPOLOGY = ("neighbour_idx", "neighbour_travel", "neighbour_known")
PEERS: dict[str, Callable[[], Forecaster]] = {"bookings_first": BookingsFirst, "seasonal_naive": SeasonalNaive}
_HALF = ("recent", "ahead", "site")
"""Arrays kept in half precision: they are scaled to a few units."""


@dataclass(frozen=True)
class TrainingDay:
    """
    One day: inputs by name, (C, P, ...) for C cycles, topology without C; what came; and what peers said.

    Parameters
    ----------
    arrived_people
        (C, P, T).
    doses_left
        (C, P).
    peers
        Quantiles of plain forecasters, (C, P, T, Q), by name; empty where none were asked.
    """

    inputs: Inputs
    arrived_people: NDArray[np.float32]
    doses_left: NDArray[np.float32]
    peers: dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class DayOrder:
    """Which day is wanted: its seed, every how many cycles it is looked at, and what is asked beside the inputs."""

    seed: int
    stride: int = 3
    with_peers: bool = False
    missing_share: float | None = None
    """Share of reports that are lost, instead of what the seed says."""
    inputs_version: int = NET_INPUTS_VERSION
    """Days that a file keeps are not taken for those of other inputs."""


def training_day(order: DayOrder) -> TrainingDay:
    """Live the day of an order."""
    scenario = training_scenario(order.seed)
    if order.missing_share is not None:
        faults = replace(scenario.report_faults, late_share=0.0, missing_share=order.missing_share)
        scenario = replace(scenario, report_faults=faults)
    return day_of_scenario(scenario, order)


def day_of_scenario(scenario: Scenario, order: DayOrder) -> TrainingDay:
    """Live a scenario's day, looked at as an order says."""
    forecasters = {name: make() for name, make in PEERS.items()} if order.with_peers else {}
    padded = max(LARGEST_CITY, scenario.num_sites)
    seen: list[Inputs] = []
    said: list[dict[str, FloatArray]] = []
    cycles: list[int] = []
    counter = iter(range(10_000))

    def look(state: CityState) -> None:
        cycle = next(counter)
        if (cycle + order.seed) % order.stride:
            return
        cycles.append(cycle)
        seen.append(net_inputs(state, BookingParams(), num_padded=padded))
        said.append({name: ask(state).arrivals_people for name, ask in forecasters.items()})

    truth = live_day(scenario, order.seed, look)
    inputs = {name: _joined([one[name] for one in seen], name) for name in seen[0] if name not in TOPOLOGY}
    inputs |= {name: seen[0][name][0] for name in TOPOLOGY}
    return TrainingDay(
        inputs,
        _padded(truth.arrivals_ahead()[cycles], padded),
        _padded(truth.doses_left()[cycles], padded),
        {name: _padded(np.stack([one[name] for one in said]), padded) for name in forecasters},
    )


def made_days(
    orders: Sequence[DayOrder], workers: int | None = None, on_day: Callable[[], None] = lambda: None
) -> list[TrainingDay]:
    """Days of orders, in their order, by several processes of one thread each."""
    return by_processes(training_day, orders, workers, on_day)


def seeds_for(split: str, num_days: int) -> Iterator[int]:
    """Seeds of days: `training` and `validation` never share one."""
    first = {"training": 1, "validation": 500_000}[split]
    return iter(range(first, first + num_days))


def _joined(arrays: list[NDArray[np.float32]], name: str) -> NDArray[np.float32]:
    joined = np.concatenate(arrays, axis=0)
    return joined.astype(np.float16) if name in _HALF else joined


def _padded(array: FloatArray, padded: int) -> NDArray[np.float32]:
    width = [(0, 0)] * array.ndim
    width[1] = (0, padded - array.shape[1])
    return np.pad(array, width).astype(np.float32)
