"""
People through a site: queues in series, each with servers, then a seat. The kernel that every simulated day runs on.

`flow_step` is pure and written against the array API standard: the same code runs on numpy and on torch, with any axes
in front. Axes: B replicas, S sites, N served stages in series, L server lanes of all sites (see `lanes`).

A queue is two curves that only grow: how many have ever joined and how many have ever gone, first in, first out. The
longest waits follow from the curves, so nobody needs to be followed. A server is a lane with the minutes it has left;
who finishes in the middle of a step hands over the rest of it to the next person in line, so no capacity is lost to
the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from doseflow.simulate.arrays import at_least_zero, device_of, flat, namespace, where
from doseflow.simulate.draws import Array, Draws, rounded_by_chance
from doseflow.simulate.lanes import Lanes


@dataclass(frozen=True)
class FlowRules:
    """
    How people move, the same at every site.

    Parameters
    ----------
    fixed_minutes, random_minutes
        A service lasts the fixed part and an exponential one of that mean, one pair for each stage, (N,).
    observation_steps, long_observation_steps
        At least 1 step on the seat after the last service; a share stays for the longer time.
    leave_after_steps
        Who has waited so long at one stage may leave: each of them in each step with `leave_share_per_step`.
    """

    step_minutes: float
    fixed_minutes: tuple[float, ...]
    random_minutes: tuple[float, ...]
    observation_steps: int
    long_observation_steps: int
    long_observation_share: float
    leave_after_steps: int
    leave_share_per_step: float

    @property
    def mean_minutes(self) -> tuple[float, ...]:
        """Mean service of each stage, (N,)."""
        return tuple(f + r for f, r in zip(self.fixed_minutes, self.random_minutes, strict=True))


@dataclass(frozen=True)
class Flow:
    """
    Everybody at the sites at one moment.

    Parameters
    ----------
    lanes
        Which server belongs where.
    queued, in_service
        People in front of the servers and with them, (B, S, N).
    left_minutes
        Minutes that each server still works on the person in front of it, (B, L); infinite when idle.
    joined, gone
        People who have ever joined a queue, and ever left it for a server or for home, (B, S, N).
    joined_before
        `joined` at the ends of the last steps, the newest first.
    seated
        (B, S).
    short_before, long_before
        People who sat down in the last steps, by how long they will stay, each (B, S), the newest first.
    """

    lanes: Lanes
    queued: Array
    in_service: Array
    left_minutes: Array
    joined: Array
    gone: Array
    joined_before: tuple[Array, ...]
    seated: Array
    short_before: tuple[Array, ...]
    long_before: tuple[Array, ...]

    @property
    def rising(self) -> Array:
        """People who leave their seat in the coming step, (B, S)."""
        return self.short_before[-1] + self.long_before[-1]

    @property
    def inside(self) -> Array:
        """Everybody at the site, (B, S)."""
        xp = namespace(self.queued)
        return xp.sum(self.queued + self.in_service, axis=-1, dtype=xp.int32) + self.seated


@dataclass(frozen=True)
class FlowCounts:
    """
    What happened in one step, int32.

    `joined`, `started`, `left` and `served` (the service ended) are (B, S, N); `finished` (the seat was left) is (B,
    S). `waited_minutes` is the waiting of all who stood in each queue, and `busy_minutes` the work of each stage's
    servers, both float64, (B, S, N).
    """

    joined: Array
    started: Array
    left: Array
    served: Array
    finished: Array
    waited_minutes: Array
    busy_minutes: Array


def empty_flow(xp: Any, rules: FlowRules, lanes: Lanes, replicas: tuple[int, ...], num_remembered: int) -> Flow:
    """
    Sites with nobody inside, on the device of the lanes.

    `replicas` are the axes before S, (B,) or (); `num_remembered` steps of the joining curve are kept.
    """
    on = device_of(lanes.cell_of_lane)
    zeros = xp.zeros((*replicas, *lanes.shape), dtype=xp.int32, device=on)
    nobody = xp.zeros((*replicas, lanes.shape[0]), dtype=xp.int32, device=on)
    return Flow(
        lanes=lanes,
        queued=zeros,
        in_service=zeros,
        left_minutes=xp.full((*replicas, lanes.num_lanes), xp.inf, dtype=xp.float32, device=on),
        joined=zeros,
        gone=zeros,
        joined_before=(zeros,) * max(num_remembered, rules.leave_after_steps + 1),
        seated=nobody,
        short_before=(nobody,) * rules.observation_steps,
        long_before=(nobody,) * rules.long_observation_steps,
    )


def flow_step(
    flow: Flow,
    arrivals: Array,
    posts: Array,
    needle_limit: Array,
    draws: Draws,
    rules: FlowRules,
    pace: Array | None = None,
) -> tuple[Flow, FlowCounts]:
    """
    One step: services and stays end, people join, some give up, free servers take the longest waiting.

    Parameters
    ----------
    arrivals
        People who join the first queue, (B, S), int32.
    posts
        Servers at work, (B, S, N), int32; one who is taken away while busy finishes first.
    needle_limit
        Most services of the last stage that may begin, (B, S), int32: doses and room to sit.
    pace
        Service times are multiplied by this, (B, S, N); 1 when not given.
    """
    xp, lanes, like = namespace(flow.queued), flow.lanes, flow.queued
    left_minutes = flow.left_minutes - rules.step_minutes
    ended = _ended(xp, lanes, left_minutes, like)
    served = ended.served
    in_service = flow.in_service - served
    joined = xp.concat([arrivals[..., None], served[..., :-1]], axis=-1)
    chance = draws.uniform((*like.shape[:-1], like.shape[-1] + 1))
    left = _giving_up(xp, flow, chance[..., :-1], rules)
    waiting = flow.queued - left + joined
    started = _startable(xp, waiting, posts - in_service, needle_limit)
    starting = _Starting(started, xp.minimum(flow.queued - left, started), pace)
    left_minutes, over_minutes = _start(xp, lanes, left_minutes, ended.at, starting, draws, rules)
    queued = waiting - started
    seats, finished = _seats(xp, flow, served[..., -1], chance[..., -1], rules)
    now_joined = flow.joined + joined
    after = Flow(
        lanes=lanes,
        queued=queued,
        in_service=in_service + started,
        left_minutes=left_minutes,
        joined=now_joined,
        gone=flow.gone + left + started,
        joined_before=(now_joined, *flow.joined_before[:-1]),
        **seats,
    )
    # Who is queued at the end waits through the next step, but for what is handed over to him then, which is taken off
    # when it is known.
    waited = queued * rules.step_minutes - over_minutes
    worked = flow.in_service * rules.step_minutes - ended.unused_minutes + over_minutes
    return after, FlowCounts(joined, started, left, served, finished, waited, worked)


@dataclass(frozen=True)
class _Starting:
    """
    Who starts in a step, (B, S, N); the first `early` of them stood in the queue before it.

    They began when their server became free, not at the end of the step.
    """

    started: Array
    early: Array
    pace: Array | None


@dataclass(frozen=True)
class _Ended:
    """The lanes whose service ended, (n,); how many, int32, and what was left of the step, float64, (B, S, N)."""

    at: Array
    served: Array
    unused_minutes: Array


def _ended(xp: Any, lanes: Lanes, left_minutes: Array, like: Array) -> _Ended:
    all_lanes = flat(left_minutes)
    at = xp.nonzero(all_lanes <= 0)[0]
    cell = lanes.cell_at(at, all_lanes.shape[0] // lanes.num_lanes)
    unused = -all_lanes[at]
    served = xp.astype(lanes.sum_at(like, cell, xp.ones_like(unused)), xp.int32)
    return _Ended(at, served, lanes.sum_at(like, cell, unused))


def emptied_queues(flow: Flow, ended: Array) -> tuple[Flow, Array]:
    """The flow with everybody who waits for a server sent home where a site's day has ended; who went, (B, S, N)."""
    going = where(ended[..., None], flow.queued)
    return replace(flow, queued=flow.queued - going, gone=flow.gone + going), going


def last_wait_minutes(flow: Flow, has_taken: Array, step_minutes: float) -> Array:
    """
    Wait as a site sees it, by stage, (B, S, N), float32, at most as long as joining is remembered.

    It is that of the last person taken where somebody has been taken lately, else the age of who is first in line.

    References
    ----------
    R. Ibrahim and W. Whitt, Real-time delay estimation based on delay history, Manufacturing & Service Operations
    Management 11(3), 2009, doi:10.1287/msom.1080.0223.
    """
    xp = namespace(flow.queued)
    person = flow.gone + xp.astype(~has_taken, xp.int32)
    had_joined = xp.stack([joined >= person for joined in flow.joined_before[1:]], axis=-1)
    steps = xp.sum(had_joined, axis=-1, dtype=xp.float32)
    return where(has_taken | (flow.queued > 0), steps) * step_minutes


def _giving_up(xp: Any, flow: Flow, chance: Array, rules: FlowRules) -> Array:
    """Of those who have waited too long, some leave, (B, S, N)."""
    long_waiting = at_least_zero(flow.joined_before[rules.leave_after_steps] - flow.gone)
    expected = xp.astype(long_waiting, xp.float32) * rules.leave_share_per_step
    # With a share of 1 the sum below may round up to one person too many.
    return xp.minimum(rounded_by_chance(xp, expected, chance), long_waiting)


def _startable(xp: Any, waiting: Array, free: Array, needle_limit: Array) -> Array:
    """How many each stage takes, (B, S, N): free posts as far as people wait; at the last stage as far as allowed."""
    started = xp.minimum(waiting, at_least_zero(free))
    last = xp.minimum(started[..., -1], at_least_zero(needle_limit))
    return xp.concat([started[..., :-1], last[..., None]], axis=-1)


def _start(
    xp: Any, lanes: Lanes, left_minutes: Array, ended_at: Array, starting: _Starting, draws: Draws, rules: FlowRules
) -> tuple[Array, Array]:
    """
    The minutes left in each lane with the new services, (B, L), and the minutes handed over, float64, (B, S, N).

    The first idle lanes of a cell are taken; there are never fewer than start, since posts are at most a cell's lanes.
    """
    before, lanes_left = flat(left_minutes), xp.asarray(flat(left_minutes), copy=True)
    lanes_left[ended_at] = xp.inf
    is_idle = xp.isinf(xp.reshape(lanes_left, left_minutes.shape))
    rank = lanes.rank(xp.astype(is_idle, xp.int32))
    at = xp.nonzero(flat(is_idle & (rank <= lanes.to_lanes(starting.started))))[0]
    cell = lanes.cell_at(at, lanes_left.shape[0] // lanes.num_lanes)
    free_minutes = -before[at]
    is_early = (flat(rank)[at] <= flat(starting.early)[cell]) & xp.isfinite(free_minutes)
    over = xp.where(is_early, free_minutes, xp.zeros_like(free_minutes))
    uniform = flat(draws.uniform(tuple(left_minutes.shape)))[at]
    minutes = _service_minutes(xp, cell % lanes.shape[1], uniform, rules)
    if starting.pace is not None:
        minutes = minutes * flat(starting.pace)[cell]
    lanes_left[at] = minutes - over
    return xp.reshape(lanes_left, left_minutes.shape), lanes.sum_at(starting.started, cell, over)


def _service_minutes(xp: Any, stage: Array, uniform: Array, rules: FlowRules) -> Array:
    """Fixed part and exponential part of services at stages, (n,), float32."""
    fixed = xp.asarray(rules.fixed_minutes, dtype=xp.float32, device=device_of(uniform))
    mean = xp.asarray(rules.random_minutes, dtype=xp.float32, device=device_of(uniform))
    return fixed[stage] - mean[stage] * xp.log1p(-uniform)


def _seats(xp: Any, flow: Flow, sitting_down: Array, chance: Array, rules: FlowRules) -> tuple[dict[str, Any], Array]:
    """Who sits down and who gets up, (B, S)."""
    expected = xp.astype(sitting_down, xp.float32) * rules.long_observation_share
    longer = xp.minimum(rounded_by_chance(xp, expected, chance), sitting_down)
    short_before = (sitting_down - longer, *flow.short_before)
    long_before = (longer, *flow.long_before)
    finished = short_before[rules.observation_steps] + long_before[rules.long_observation_steps]
    seats = {
        "seated": flow.seated + sitting_down - finished,
        "short_before": short_before[:-1],
        "long_before": long_before[:-1],
    }
    return seats, finished
