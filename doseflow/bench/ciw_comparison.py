"""The simulator's day against the same day person by person in Ciw, both in one process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.bench.ciw_reference import CiwCityDay, CiwRules, CiwSiteDay, arrival_minutes, ciw_city_day_seconds
from doseflow.bench.figures import Figure
from doseflow.bench.simulator import Start, live_a_day
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.flow import empty_flow, flow_step
from doseflow.simulate.world import World

TARGET_RATIO = 50.0
LATE_STEPS = 240
REPEATS = 4
"""Our runs before Ciw's and again after it; the median of all counts."""


@dataclass(frozen=True)
class Comparison:
    """
    Seconds of the flow of people in both, of our whole day, and mean wait over the three stages, minutes.

    Parameters
    ----------
    flow_seconds
        Our kernel on the same people and the same posts as Ciw.
    day_seconds
        Our whole day: doses, vials, fridges, vans, shifts, breaks and trips too, none of which Ciw was given.
    """

    flow_seconds: float
    day_seconds: float
    ciw_seconds: float
    our_wait_minutes: float
    ciw_wait_minutes: float
    people: int


class _Day:
    """What each site lived through, step by step: who joined, and how many posts were at work."""

    def __init__(self) -> None:
        self.joined: list[NDArray[np.int32]] = []
        self.posts: list[NDArray[np.int32]] = []

    def __call__(self, before: World, after: World) -> None:
        self.joined.append((after.totals.joined - before.totals.joined)[:, 0].astype(np.int32))
        at_work = after.ready.serving_posts if after.ready else np.zeros_like(after.queued_people)
        is_over = after.epoch_minutes >= after.day.closes
        # After closing the crew stays until everybody is out, so that nobody's wait ends untold in either library.
        self.posts.append(np.where(is_over[:, None], self.posts[-1] if self.posts else 0, at_work).astype(np.int32))

    def stay_late(self) -> None:
        """Let so many steps pass at the end in which nobody comes."""
        self.joined += [np.zeros_like(self.joined[0])] * LATE_STEPS
        self.posts += [self.posts[-1]] * LATE_STEPS


def compare_with_ciw(start: Start, seed: int) -> Comparison:
    """
    Live a day; then let its people flow again through the same posts, in our kernel and in Ciw.

    Raises
    ------
    EnvironmentUnfit
        Ciw is not installed.
    """
    day = _Day()
    world = live_a_day(start, seed, day)
    day.stay_late()
    waited_minutes = _with_our_kernel(start, day, seed)
    before = _timed(start, day, seed)
    ciw = _with_ciw(start, day, seed)
    after = _timed(start, day, seed)
    flow_seconds, day_seconds = (float(np.median(both)) for both in zip(*before, *after, strict=True))
    waits = [wait for site in ciw.waits_minutes for wait in site]
    people = int(world.totals.joined[:, 0].sum())
    return Comparison(
        flow_seconds=flow_seconds,
        day_seconds=day_seconds,
        ciw_seconds=ciw.seconds,
        our_wait_minutes=waited_minutes / max(people, 1),
        ciw_wait_minutes=float(sum(wait.sum() for wait in waits) / max(people, 1)),
        people=people,
    )


def _timed(start: Start, day: _Day, seed: int) -> list[tuple[float, float]]:
    """Seconds of the flow and of the whole day, some times over: short runs feel every hiccup of a shared machine."""
    pairs = []
    for _ in range(REPEATS):
        moments = [time.perf_counter()]
        _with_our_kernel(start, day, seed)
        moments.append(time.perf_counter())
        live_a_day(start, seed)
        moments.append(time.perf_counter())
        pairs.append((moments[1] - moments[0], moments[2] - moments[1]))
    return pairs


def _with_our_kernel(start: Start, day: _Day, seed: int) -> float:
    """Person-minutes of waiting."""
    rules, draws = start.params.flow, NumpyDraws(np.random.default_rng(seed))
    flow = empty_flow(np, rules, start.params.lanes, (), rules.leave_after_steps + 1)
    no_limit = np.full(len(day.joined[0]), 10_000, dtype=np.int32)
    waited_minutes = 0.0
    last = int(np.flatnonzero([people.any() for people in day.joined])[-1])
    for step, (joined, at_work) in enumerate(zip(day.joined, day.posts, strict=True)):
        flow, counts = flow_step(flow, joined, at_work, no_limit, draws, rules)
        waited_minutes += float(counts.waited_minutes.sum())
        if step > last and not flow.inside.any():
            break
    return waited_minutes


def _with_ciw(start: Start, day: _Day, seed: int) -> CiwCityDay:
    rules, assumed, rng = start.params.flow, start.params.assumed, np.random.default_rng(seed)
    joined, at_work = np.stack(day.joined, axis=1), np.stack(day.posts, axis=1)
    step = rules.step_minutes
    sites = [CiwSiteDay(arrival_minutes(joined[site], step, rng), at_work[site], step) for site in range(len(joined))]
    return ciw_city_day_seconds(
        sites,
        CiwRules(
            fixed_minutes=rules.fixed_minutes,
            random_minutes=rules.random_minutes,
            observation_minutes=rules.observation_steps * step,
            long_observation_minutes=rules.long_observation_steps * step,
            long_observation_share=rules.long_observation_share,
            leave_after_minutes=assumed.leave_after_minutes,
            leave_per_minute=assumed.leave_per_minute_share,
        ),
        day_minutes=joined.shape[1] * step,
        seed=seed,
    )


def comparison_figures(compared: Comparison, num_sites: int, seed: int) -> list[Figure]:
    """The ratios of the times, and the mean wait that each of the two found."""
    params = {"sites": num_sites, "people": compared.people}
    figures = [
        _ratio(compared, compared.flow_seconds, {**params, "part": "the same network"}, seed, target=TARGET_RATIO),
        _ratio(compared, compared.day_seconds, {**params, "part": "our whole day"}, seed, target=None),
    ]
    for library, value in (("doseflow", compared.our_wait_minutes), ("ciw", compared.ciw_wait_minutes)):
        figures.append(Figure("mean_wait_minutes", value, "minutes", {**params, "library": library}, n=1, seed=seed))
    return figures


def _ratio(compared: Comparison, seconds: float, params: dict[str, Any], seed: int, target: float | None) -> Figure:
    ratio = compared.ciw_seconds / seconds
    return Figure(
        "speedup_over_ciw",
        ratio,
        "ratio",
        params,
        n=1,
        seed=seed,
        target=target,
        met=None if target is None else ratio >= target,
        notes=f"Ciw {compared.ciw_seconds:.1f} s, ours {seconds:.2f} s, in one process",
    )
