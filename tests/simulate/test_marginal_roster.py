"""Where people are rostered, against brute force, the stationary queue and the fluid."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.simulate.marginal_roster import QUEUE_VARIABILITY, place_people, waiting_person_minutes


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
def test_in_a_long_shift_the_queue_is_the_stationary_one(load):
    """Pollaczek (1930): an M/G/1 queue holds load^2 / (1 - load) times half of one plus the squared variation."""
    minutes = np.array(1e9)
    queue = waiting_person_minutes(np.array(load), np.array(1.0), minutes, 4.0) / minutes
    # Kimber and Hollis write load / (1 - load), whose difference is the person in service.
    assert queue == pytest.approx(QUEUE_VARIABILITY * load / (1 - load), rel=1e-3)


@pytest.mark.parametrize("load", [1.5, 3.0])
def test_far_over_full_load_the_queue_grows_as_a_fluid(load):
    people, minutes, service = np.array(200.0), np.array(480.0), 4.0
    waiting = waiting_person_minutes(load * people, people, minutes, service)
    too_many_a_minute = (load - 1) * people / service
    assert waiting == pytest.approx(too_many_a_minute * minutes**2 / 2, rel=1e-3)


@settings(max_examples=60)
@given(
    busy=st.lists(st.floats(0.2, 5.0), min_size=3, max_size=3),
    more=st.integers(0, 6),
    service=st.floats(1.0, 12.0),
)
def test_no_other_placing_of_the_same_people_waits_less(busy, more, service):
    busy = np.array(busy)[:, None]
    low, high = np.ones((3, 1), dtype=np.int64), np.full((3, 1), 6)
    minutes, shift = np.full((3, 1), 420.0), np.full((3, 1), 480.0)

    def waiting(people):
        return waiting_person_minutes(busy, np.array(people)[:, None] * minutes / shift, shift, service).sum()

    placed = place_people((3 + more) * 420.0, low, high, busy, minutes, shift, service)
    assert placed.sum() == 3 + more
    others = [people for people in product(range(1, 7), repeat=3) if sum(people) == 3 + more]
    assert waiting(placed[:, 0]) <= min(waiting(people) for people in others) + 1e-6


def test_who_has_no_work_gets_nobody_beyond_the_team():
    busy = np.array([[0.0], [2.0]])
    low, high = np.ones((2, 1), dtype=np.int64), np.full((2, 1), 9)
    minutes = np.full((2, 1), 480.0)
    assert place_people(2000.0, low, high, busy, minutes, minutes, 5.0)[0, 0] == 1
