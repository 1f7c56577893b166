"""The line of stages as fluid, against a loop over quarters of a minute that has no array in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.policy.fluid_line import FluidLine, reflected
from doseflow.policy.look_ahead import CASE_WEIGHTS, LookAhead
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES

PER_MINUTE = np.array([1 / 2, 1 / 2, 1 / 4, 1.0])
STEP_MINUTES = 0.25
STEADY = np.ones(3)


def line_of(queue, rates, people, *, counted=120.0, last=0.0, cases=STEADY):
    """One site with steady people; `rates` is arrivals a minute by step, `cases` scales them."""
    come = np.cumsum(np.broadcast_to(rates, GRID_MINUTES.shape) * GRID_MINUTES)
    starts = GRID_ENDS_MINUTES - GRID_MINUTES
    is_last = (starts < counted) & (counted <= GRID_ENDS_MINUTES)
    ahead = LookAhead(
        queue_people=np.array(queue, dtype=float)[:, None],
        come_people=come[:, None, None] * np.asarray(cases)[:, None],
        people=np.zeros((len(GRID_MINUTES), 4, 1)),
        most_people=np.full((4, 1), np.inf),
        per_minute=PER_MINUTE,
        counted_minutes=np.clip(counted - starts, 0, GRID_MINUTES)[:, None],
        last_minutes=(is_last * last)[:, None],
    )
    over_time = np.repeat(np.array(people, dtype=float)[None, :, None], len(GRID_MINUTES), axis=0)
    return FluidLine(ahead, np.array([0]), over_time)


def waited_by_loop(queue, rates, people, counted=120.0, last=0.0):
    """Person-minutes of waiting, minute by minute."""
    waiting, waited, minute, step = list(map(float, queue)), 0.0, 0.0, 0
    while minute < counted:
        while minute >= GRID_ENDS_MINUTES[step]:
            step += 1
        before = sum(waiting)
        inflow = float(np.broadcast_to(rates, GRID_MINUTES.shape)[step]) * STEP_MINUTES
        for stage in range(3):
            rate = people[stage] * PER_MINUTE[stage]
            if stage == 2:
                rate = min(rate, people[3] * PER_MINUTE[3])
            served = min(waiting[stage] + inflow, rate * STEP_MINUTES)
            waiting[stage] += inflow - served
            inflow = served
        waited += (before + sum(waiting)) / 2 * STEP_MINUTES
        minute += STEP_MINUTES
    return waited + last * sum(waiting)


queues = st.lists(st.integers(0, 40), min_size=3, max_size=3)
teams = st.lists(st.integers(0, 6), min_size=4, max_size=4)
rates_by_step = st.lists(st.floats(0, 3), min_size=len(GRID_MINUTES), max_size=len(GRID_MINUTES))


@given(queue=queues, rates=rates_by_step, people=teams, last=st.floats(0, 60))
@settings(max_examples=60)
def test_waiting_is_what_a_loop_over_minutes_counts(queue, rates, people, last):
    counted = waited_by_loop(queue, rates, people, last=last)
    waiting = line_of(queue, rates, people, last=last).waiting_minutes[0]
    # A queue that runs dry inside a step is let down only at its end.
    assert waiting == pytest.approx(counted, rel=0.06, abs=30.0)


@given(queue=queues, people=teams, rate=st.floats(0, 3))
@settings(max_examples=40)
def test_with_steady_arrivals_and_a_queue_that_lasts_it_is_exact(queue, people, rate):
    queue = [one + 1000 for one in queue]
    counted = waited_by_loop(queue, rate, people)
    assert line_of(queue, rate, people).waiting_minutes[0] == pytest.approx(counted, rel=1e-4)


def test_cases_count_by_their_weights():
    alone = [line_of([5, 0, 0], 1.5, [2, 2, 4, 2], cases=[case] * 3).waiting_minutes[0] for case in (0.5, 1.0, 1.5)]
    together = line_of([5, 0, 0], 1.5, [2, 2, 4, 2], cases=[0.5, 1.0, 1.5]).waiting_minutes[0]
    assert together == pytest.approx(float(CASE_WEIGHTS @ alone), rel=1e-4)


@given(queue=queues, rates=rates_by_step, people=teams, more=teams)
@settings(max_examples=40)
def test_with_people_is_the_line_with_those_people(queue, rates, people, more):
    extra = {role: np.full((len(GRID_MINUTES), 1, 1), float(one)) for role, one in enumerate(more) if one}
    if extra:
        saved = line_of(queue, rates, people).with_people(extra)[0, 0]
        anew = line_of(queue, rates, [a + b for a, b in zip(people, more, strict=True)]).waiting_minutes[0]
        assert saved == pytest.approx(anew, rel=1e-4, abs=0.01)


@pytest.mark.parametrize("role", [0, 1])
def test_one_more_before_the_bottleneck_saves_nothing(role):
    # Vaccination serves 1 a minute, the stages before it 2; 1.5 come.
    line = line_of([0, 0, 50], 1.5, [4, 4, 4, 2])
    one = np.ones((len(GRID_MINUTES), 1, 1))
    assert line.with_people({role: one})[0, 0] == pytest.approx(line.waiting_minutes[0], rel=1e-4)
    # With a quarter more served a minute, the queue is shorter by 30 people after the two hours.
    saved = line.waiting_minutes[0] - line.with_people({2: one})[0, 0]
    assert saved == pytest.approx(120 * 30 / 2, rel=0.01)


def test_who_is_vaccinated_needs_a_watched_seat():
    line = line_of([0, 0, 50], 1.5, [4, 4, 4, 0.5])
    one = np.ones((len(GRID_MINUTES), 1, 1))
    assert line.with_people({2: one})[0, 0] == pytest.approx(line.waiting_minutes[0], rel=1e-5)
    assert line.with_people({3: one})[0, 0] < line.waiting_minutes[0] - 1000


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=12))
def test_a_reflected_netput_is_the_queue_served_step_by_step(steps):
    queue, by_hand = 0.0, []
    for step in steps:
        queue = max(queue + step, 0.0)
        by_hand.append(queue)
    assert reflected(np.cumsum(steps)[:, None])[:, 0] == pytest.approx(by_hand, abs=1e-9)
