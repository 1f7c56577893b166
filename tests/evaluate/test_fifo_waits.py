"""Waits out of the two curves of each queue, against people followed one by one."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.evaluate.fifo_waits import Queue, waits_in_queue, waits_through

MINUTE = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))


class Person:
    def __init__(self) -> None:
        self.waited = 0


class Site:
    """Two queues with a service between them, first in, first out, every person followed."""

    def __init__(self, first: int, served: int, second: int) -> None:
        self.everybody: list[Person] = []
        self.second = deque(self.new(second))
        self.service = deque(self.new(served))
        self.first = deque(self.new(first))
        self.joined = [[first], [second]]
        self.gone, self.started = [[0], [0]], [[0], [0]]

    def new(self, people: int) -> list[Person]:
        made = [Person() for _ in range(people)]
        self.everybody += made
        return made

    def minute(self, come: int, leave: int, take: int, finish: int, take_second: int) -> None:
        for person in (*self.first, *self.second):
            person.waited += 1
        done = [self.service.popleft() for _ in range(min(finish, len(self.service)))]
        self.first += self.new(come)
        self.second += done
        left = [self.first.popleft() for _ in range(min(leave, len(self.first)))]
        taken = [self.first.popleft() for _ in range(min(take, len(self.first)))]
        self.service += taken
        taken_second = [self.second.popleft() for _ in range(min(take_second, len(self.second)))]
        for stage, joined, gone, started in (
            (0, come, len(left) + len(taken), len(taken)),
            (1, len(done), len(taken_second), len(taken_second)),
        ):
            self.joined[stage].append(joined)
            self.gone[stage].append(gone)
            self.started[stage].append(started)

    def queues(self) -> list[Queue]:
        return [Queue(*(np.array(one[stage]) for one in (self.joined, self.gone, self.started))) for stage in range(2)]


@settings(max_examples=200)
@given(
    at_first=st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 4)),
    minutes=st.lists(MINUTE, min_size=1, max_size=40),
)
def test_everybody_waits_as_long_as_when_followed_one_by_one(at_first, minutes):
    site = Site(*at_first)
    for minute in minutes:
        site.minute(*minute)
    waited = waits_through(site.queues(), np.array([at_first[1]]))
    assert waited.tolist() == [person.waited for person in site.everybody]


@settings(max_examples=100)
@given(minutes=st.lists(MINUTE, min_size=1, max_size=60))
def test_the_sum_of_waits_is_the_area_between_the_curves(minutes):
    site = Site(2, 1, 0)
    for minute in minutes:
        site.minute(*minute)
    queue = site.queues()[0]
    waits, _ = waits_in_queue(queue)
    area = (np.cumsum(queue.joined) - np.cumsum(queue.gone))[:-1].sum()
    assert waits.sum() == area


def test_who_gives_up_has_waited_longest():
    queue = Queue(np.array([0, 2, 1, 0]), np.array([0, 0, 0, 2]), np.array([0, 0, 0, 1]))
    waits, taken = waits_in_queue(queue)
    assert waits.tolist() == [2, 2, 1]
    assert taken.tolist() == [False, True, False]


def test_nobody_came():
    nobody = Queue(*(np.zeros(3, dtype=np.int64) for _ in range(3)))
    assert waits_through([nobody, nobody], np.array([0])).tolist() == []
