"""
The same sites person by person in Ciw, an independent library: what the simulator is compared with, and its speed.

Every site is a network of its own: stages in series with first-come-first-served queues, then a seat. Arrivals are the
given minutes, staff follow their schedule, and people may give up, as in the simulator; the code shares nothing with
it. Axes: N served stages, T periods of the schedule.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.errors import EnvironmentUnfit

FAR_AWAY_MINUTES = 1e7
"""A schedule begins again after its last shift: so late that no day sees it."""


@dataclass(frozen=True)
class CiwRules:
    """
    How people move, the same at every site.

    Parameters
    ----------
    fixed_minutes, random_minutes
        A service lasts the fixed part and an exponential one of that mean, (N,).
    leave_after_minutes, leave_per_minute
        Who has waited so long at one stage leaves at this rate; with a rate of 0 nobody does.
    """

    fixed_minutes: tuple[float, ...]
    random_minutes: tuple[float, ...]
    observation_minutes: float
    long_observation_minutes: float = 30.0
    long_observation_share: float = 0.0
    leave_after_minutes: float = inf
    leave_per_minute: float = 0.0


@dataclass(frozen=True)
class CiwSiteDay:
    """Who comes to a site, (people,), minutes from the day's start in order, and the servers in each period, (T, N)."""

    arrival_minutes: NDArray[np.float64]
    posts: NDArray[np.int64]
    period_minutes: float


@dataclass(frozen=True)
class CiwCityDay:
    """
    What Ciw found, and how long it took.

    Parameters
    ----------
    seconds
        Building and running the networks, without reading the records.
    waits_minutes
        For each site and stage the waits of all who were served or gave up there, S lists of N arrays (people,).
    left, finished
        People who gave up at each stage, (S, N), and who got up from the seat, (S,).
    """

    seconds: float
    waits_minutes: list[list[NDArray[np.float64]]]
    left: NDArray[np.int64]
    finished: NDArray[np.int64]

    @property
    def mean_wait_minutes(self) -> NDArray[np.float64]:
        """Mean wait of a person at each stage over all sites, (N,)."""
        by_stage = [np.concatenate(waits) for waits in zip(*self.waits_minutes, strict=True)]
        return np.array([waits.mean() if waits.size else np.nan for waits in by_stage])


def ciw_city_day_seconds(
    days: Sequence[CiwSiteDay], rules: CiwRules, *, day_minutes: float, seed: int = 0
) -> CiwCityDay:
    """
    Play one day at every site with Ciw; sites are independent networks, which is the fastest way for Ciw.

    Parameters
    ----------
    day_minutes
        The day ends here; who is still in a queue then has no wait.

    Raises
    ------
    EnvironmentUnfit
        Ciw is not installed.
    """
    ciw = _ciw()
    ciw.seed(seed)
    node_class = _same_crew_node(ciw)
    started_at = time.perf_counter()
    simulations = []
    for day in days:
        simulation = ciw.Simulation(_network(ciw, day, rules), node_class=node_class)
        simulation.simulate_until_max_time(day_minutes)
        simulations.append(simulation)
    seconds = time.perf_counter() - started_at
    num_stages = len(rules.fixed_minutes)
    records = [_SiteRecords(simulation.get_all_records(), num_stages) for simulation in simulations]
    return CiwCityDay(
        seconds,
        [site.waits_minutes for site in records],
        np.array([site.left for site in records]),
        np.array([site.finished for site in records]),
    )


def arrival_minutes(
    people_per_step: NDArray[np.int_], step_minutes: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Minutes of arrival, (people,), at random within the steps that the people come in, (steps,)."""
    steps = np.repeat(np.arange(people_per_step.size), people_per_step)
    return np.sort((steps + rng.random(steps.size)) * step_minutes)


class _SiteRecords:
    """A site's records by stage."""

    def __init__(self, records: list[Any], num_stages: int) -> None:
        stages = range(1, num_stages + 1)
        self.waits_minutes = [np.array([r.waiting_time for r in records if r.node == n]) for n in stages]
        self.left = [sum(r.node == n and r.record_type == "renege" for r in records) for n in stages]
        self.finished = sum(r.node == num_stages + 1 for r in records)


def _ciw() -> Any:
    try:
        return import_module("ciw")
    except ImportError as error:
        raise EnvironmentUnfit("The comparison with Ciw needs the package ciw: pip install ciw.") from error


def _network(ciw: Any, day: CiwSiteDay, rules: CiwRules) -> Any:
    """Stages 1..N with their crews, then the seat, which has room for all."""
    num_stages = len(rules.fixed_minutes)
    gaps = np.diff(day.arrival_minutes, prepend=0.0)
    dists = ciw.dists
    nobody_leaves = rules.leave_per_minute <= 0
    patience = None if nobody_leaves else _fixed_and_random(ciw, rules.leave_after_minutes, 1 / rules.leave_per_minute)
    seat = dists.Deterministic(rules.observation_minutes)
    if rules.long_observation_share > 0:
        longer = dists.Deterministic(rules.long_observation_minutes)
        share = rules.long_observation_share
        seat = dists.MixtureDistribution([seat, longer], [1 - share, share])
    return ciw.create_network(
        arrival_distributions=[dists.Sequential([*gaps.tolist(), inf]), *[None] * num_stages],
        service_distributions=[
            *(_fixed_and_random(ciw, f, r) for f, r in zip(rules.fixed_minutes, rules.random_minutes, strict=True)),
            seat,
        ],
        number_of_servers=[*(_crew(ciw, day.posts[:, n], day.period_minutes) for n in range(num_stages)), inf],
        routing=np.eye(num_stages + 1, k=1).tolist(),
        reneging_time_distributions=[*[patience] * num_stages, None],
    )


def _fixed_and_random(ciw: Any, fixed_minutes: float, random_minutes: float) -> Any:
    fixed = ciw.dists.Deterministic(fixed_minutes)
    return fixed + ciw.dists.Exponential(1 / random_minutes) if random_minutes > 0 else fixed


def _crew(ciw: Any, servers: NDArray[np.int64], period_minutes: float) -> Any:
    """Servers of one stage by period, (T,): a number where it never changes, else a schedule of the changes."""
    last_of_shift = np.append(np.flatnonzero(np.diff(servers)), servers.size - 1)
    if last_of_shift.size == 1:
        return int(servers[0])
    ends = [*((last_of_shift[:-1] + 1) * period_minutes).tolist(), FAR_AWAY_MINUTES]
    return ciw.Schedule(numbers_of_servers=servers[last_of_shift].tolist(), shift_end_dates=ends)


def _same_crew_node(ciw: Any) -> Any:
    """
    A Ciw node whose crew carries on over a change of shift.

    Ciw's own node brings a whole new crew while the old one finishes, so that each change adds work for nothing. Here
    only the difference comes or goes, and nobody starts while more are busy than there are posts.
    """

    class SameCrewNode(ciw.Node):  # type: ignore[misc]  # Ciw has no types
        def change_shift(self) -> None:
            self.schedule.get_next_shift()
            self.next_shift_change = self.schedule.next_shift_change_date
            self.c = self.schedule.c
            on_duty = [server for server in self.servers if not server.offduty]
            for server in sorted(on_duty, key=lambda server: server.busy)[: max(len(on_duty) - self.c, 0)]:
                server.shift_end = self.next_event_date
                server.offduty = True
                if not server.busy:
                    self.kill_server(server)
            self._call_in(self.c - len(on_duty))
            self.begin_service_if_possible_change_shift()

        def detatch_server(self, server: Any, individual: Any) -> None:
            going = next((other for other in self.servers if other.offduty and other is not server), None)
            if going is not None and not server.offduty:
                # Who is free first goes first; the other takes over the post.
                server.offduty, going.offduty = True, False
                server.shift_end = going.shift_end
            super().detatch_server(server, individual)

        def _call_in(self, wanted: int) -> None:
            going = [server for server in self.servers if server.offduty][: max(wanted, 0)]
            for server in going:
                server.offduty = False
            self.add_new_servers(max(wanted, 0) - len(going))

    return SameCrewNode
