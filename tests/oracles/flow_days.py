"""Plays the simulator's flow over many steps and keeps what the oracles compare. Axes: T steps, then (B, S, N)."""

from dataclasses import dataclass

import numpy as np

from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.flow import Flow, FlowRules, empty_flow, flow_step
from doseflow.simulate.lanes import lanes_of

NO_LIMIT = 10**6


@dataclass(frozen=True)
class Played:
    """What happened step by step; all (T, B, S, N) but `finished`, (T, B, S)."""

    joined: np.ndarray
    started: np.ndarray
    left: np.ndarray
    served: np.ndarray
    queued: np.ndarray
    waited_minutes: np.ndarray
    busy_minutes: np.ndarray
    finished: np.ndarray
    flow: Flow


def rules_of(step_minutes, fixed, random, *, observation=15.0, long=30.0, long_share=0.0, after=1e4, share=0.0):
    steps = [round(minutes / step_minutes) for minutes in (observation, long, after)]
    # A queue that nobody leaves needs no memory.
    leave_after = steps[2] if share > 0 else 0
    return FlowRules(step_minutes, tuple(fixed), tuple(random), steps[0], steps[1], long_share, leave_after, share)


def play(arrivals, posts, rules, *, seed=0, draws=None, xp=np, needle_limit=None):
    """
    Play arrivals (T, B, S) with posts that broadcast to (T, B, S, N).

    `needle_limit(step, flow, started)` gives the services that may start at the last stage, (B, S).
    """
    num_steps, *shape = arrivals.shape
    num_stages = len(rules.fixed_minutes)
    posts = np.broadcast_to(posts, (num_steps, *shape, num_stages)).astype(np.int32)
    lanes = lanes_of(xp, posts.max(axis=(0, 1)))
    flow = empty_flow(xp, rules, lanes, tuple(shape[:-1]), num_remembered=1)
    draws = draws or NumpyDraws(np.random.default_rng(seed))
    no_limit = np.full(shape, NO_LIMIT, dtype=np.int32)
    started_last = np.zeros(shape, dtype=np.int64)
    steps = []
    for step in range(num_steps):
        limit = no_limit if needle_limit is None else needle_limit(step, started_last).astype(np.int32)
        come = xp.asarray(arrivals[step].astype(np.int32))
        flow, counts = flow_step(flow, come, xp.asarray(posts[step]), xp.asarray(limit), draws, rules)
        started_last += np.asarray(counts.started)[..., -1]
        kept = (counts.joined, counts.started, counts.left, counts.served, flow.queued, counts.waited_minutes)
        steps.append([np.asarray(array) for array in (*kept, counts.busy_minutes, counts.finished)])
    return Played(*(np.stack(arrays) for arrays in zip(*steps, strict=True)), flow)


def people_per_step(minutes, num_steps, step_minutes):
    """Arrivals by step, (T,), from minutes of arrival, (people,)."""
    steps = np.floor(np.asarray(minutes) / step_minutes).astype(int)
    return np.bincount(steps, minlength=num_steps)


def steps_of(per_step):
    """The step of every person of a curve, (people,), first in first, from people per step, (T,)."""
    return np.repeat(np.arange(per_step.size), per_step)


def fifo_wait_steps(joined, gone):
    """Steps each person waited, (people,), from who joined and who went in every step, (T,), first in, first out."""
    went = steps_of(gone)
    return went - steps_of(joined)[: went.size]


def mean_and_error(totals, people):
    """Mean a person over replicas, with its standard error, from totals and people by replica, (B, ...)."""
    ratio = totals.sum(0) / people.sum(0)
    spread = np.std(totals - ratio * people, axis=0, ddof=1) / np.sqrt(len(totals))
    return ratio, spread / people.mean(0)
