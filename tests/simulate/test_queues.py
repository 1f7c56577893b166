"""Queues as cohorts, against a queue of single people."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.simulate.queues import aged, leaving, taken_oldest_first, waited_minutes

queues = st.lists(st.integers(0, 6), min_size=1, max_size=9)


@settings(max_examples=80)
@given(queues, st.integers(0, 60))
def test_the_longest_waiting_are_taken_first(cohorts, wanted):
    people = sorted((age for age, count in enumerate(cohorts) for _ in range(count)), reverse=True)[:wanted]
    expected = [people.count(age) for age in range(len(cohorts))]
    taken = taken_oldest_first(np.array([cohorts], dtype=np.int32), np.array([wanted]))
    assert taken.tolist() == [expected]


@settings(max_examples=40)
@given(queues)
def test_everybody_grows_a_step_older_and_nobody_is_lost(cohorts):
    older = aged(np.array(cohorts, dtype=np.int32)).tolist()
    expected = [0] * len(cohorts)
    for age, count in enumerate(cohorts):
        expected[min(age + 1, len(cohorts) - 1)] += count
    assert older == expected


def test_waiting_is_the_sum_of_everybodys_age():
    assert waited_minutes(np.array([[2, 0, 3]], dtype=np.int32), 5.0).tolist() == [30.0]


def test_only_those_who_waited_long_enough_leave_and_the_share_is_right():
    waiting = np.full((2000, 4), 10, dtype=np.int32)
    left = leaving(waiting, 2, 0.1, np.random.default_rng(1))
    assert left[:, :2].sum() == 0
    assert abs(left[:, 2:].mean() - 1.0) < 0.05
    assert (left <= waiting).all()


def test_nobody_leaves_when_the_share_is_zero():
    assert leaving(np.full((3, 4), 9, dtype=np.int32), 0, 0.0, np.random.default_rng(1)).sum() == 0
