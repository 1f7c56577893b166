"""The flow against Ciw, person by person: the same stages, the same minutes of arrival, the same staff."""

import numpy as np
from flow_days import fifo_wait_steps, people_per_step, play, rules_of

from doseflow.bench.ciw_reference import CiwRules, CiwSiteDay, ciw_city_day_seconds

FIXED, RANDOM = (3.0, 2.0, 3.0), (1.43, 1.0, 1.0)
DAY_MINUTES = 600
NUM_DAYS = 20
REPLICAS = 10
STANDARD_ERRORS = 3.5


def _arrivals(people_per_minute, seed):
    """One day: a flat stream from opening to an hour before closing, minutes."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0, DAY_MINUTES - 60, rng.poisson(people_per_minute * (DAY_MINUTES - 60))))


def _both(posts, people_per_minute, *, leave_after=1e4, leave_per_minute=0.0):
    """
    Ciw's and the flow's days with the same minutes of arrival: waits by day and stage, and the flow's steps.

    Each of the days is played once by Ciw and `REPLICAS` times by the flow.
    """
    days = [_arrivals(people_per_minute, seed) for seed in range(NUM_DAYS)]
    rules = CiwRules(FIXED, RANDOM, 15.0, leave_after_minutes=leave_after, leave_per_minute=leave_per_minute)
    periods = [CiwSiteDay(minutes, posts, DAY_MINUTES / len(posts)) for minutes in days]
    theirs = ciw_city_day_seconds(periods, rules, day_minutes=DAY_MINUTES + 240, seed=1)
    per_step = np.stack([people_per_step(minutes, DAY_MINUTES + 240, 1.0) for minutes in days], axis=-1)
    by_step = np.repeat(posts, DAY_MINUTES // len(posts), axis=0)
    by_step = np.concatenate([by_step, np.repeat(posts[-1:], 240, axis=0)])
    flow_rules = rules_of(1.0, FIXED, RANDOM, after=leave_after, share=leave_per_minute)
    batch = np.repeat(per_step[:, None, :], REPLICAS, axis=1)
    return theirs, play(batch, by_step[:, None, None, :], flow_rules, seed=2)


def _assert_same_means(theirs, ours, *, step_error_minutes):
    """Paired over the days; each later stage may be off by another part of a step, as people come at its end."""
    their_mean = np.array([[waits.mean() for waits in day] for day in theirs.waits_minutes])
    our_mean = (ours.waited_minutes.sum((0, 1), dtype=float) / ours.joined.sum((0, 1))).reshape(NUM_DAYS, -1)
    difference = our_mean - their_mean
    error = difference.std(0, ddof=1) / np.sqrt(NUM_DAYS)
    assert np.all(np.abs(difference.mean(0)) <= step_error_minutes + STANDARD_ERRORS * error), (
        difference.mean(0),
        error,
    )


def _p95(waits):
    return np.percentile(waits, 95)


def test_tandem_waits_agree_in_the_mean_and_at_the_95th_percentile():
    theirs, ours = _both(np.array([[5, 4, 5]]), 1.0)
    assert theirs.finished.tolist() == [people.sum() for people in ours.joined[:, 0, :, 0].T]
    _assert_same_means(theirs, ours, step_error_minutes=0.25)
    for stage in range(3):
        their_p95 = np.array([_p95(day[stage]) for day in theirs.waits_minutes])
        our_p95 = np.array([_p95_of_flow(ours, day, stage) for day in range(NUM_DAYS)])
        error = (our_p95 - their_p95).std(ddof=1) / np.sqrt(NUM_DAYS)
        # The curves tell a wait to the step.
        assert abs((our_p95 - their_p95).mean()) <= 0.5 + STANDARD_ERRORS * error, stage


def _p95_of_flow(ours, day, stage):
    """Mean over the replicas, half a step less than between the curves: a server falls free in the middle of one."""
    steps = [fifo_wait_steps(ours.joined[:, b, day, stage], ours.started[:, b, day, stage]) for b in range(REPLICAS)]
    return np.mean([_p95(waits - 0.5 * (waits > 0)) for waits in steps])


def test_waits_agree_while_staff_come_and_go():
    theirs, ours = _both(np.array([[7, 5, 6], [4, 3, 4], [6, 5, 6], [3, 2, 3]]), 1.0)
    _assert_same_means(theirs, ours, step_error_minutes=0.5)


def test_as_many_people_give_up():
    theirs, ours = _both(np.array([[4, 4, 4]]), 1.0, leave_after=10.0, leave_per_minute=0.05)
    _assert_same_means(theirs, ours, step_error_minutes=0.5)
    their_left, our_left = theirs.left.mean(0), ours.left.sum(0).mean((0, 1))
    assert their_left[0] > 20
    error = theirs.left.std(0, ddof=1) / np.sqrt(NUM_DAYS)
    assert np.all(np.abs(our_left - their_left) <= STANDARD_ERRORS * error + 0.05 * their_left), (our_left, their_left)
