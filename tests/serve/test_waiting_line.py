from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.errors import EngineOverloaded
from doseflow.serve.engine_params import BatchParams
from doseflow.serve.waiting_line import WaitingLine


@dataclass(frozen=True)
class Asked:
    number: int
    city: str
    asked_at: float
    deadline: float
    sites: int = 1

    @property
    def sizes(self):
        return {"S": self.sites}


def padded_sites(sizes):
    return len(sizes) * max(one["S"] for one in sizes)


PARAMS = BatchParams(most_together=4, most_sites=40, most_waiting=12, most_waiting_of_city=5, gather_milliseconds=2.0)

events = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.floats(0, 0.02),  # since the event before
        st.floats(0.0, 0.05),  # until the deadline
        st.integers(1, 30),
        st.booleans(),  # take a run now
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(events, st.floats(0, 0.02))
def test_whatever_comes_each_question_goes_out_once_and_in_bounds(events, run_seconds):
    line, now, inside, out = WaitingLine(PARAMS, padded_sites), 0.0, set(), []
    for number, (city, pause, left, sites, takes) in enumerate(events):
        now += pause
        asked = Asked(number, city, now, now + left, sites)
        of_city = sum(one.city == city for one in inside)
        try:
            line.join(asked)
        except EngineOverloaded:
            assert len(inside) == PARAMS.most_waiting or of_city == PARAMS.most_waiting_of_city
        else:
            assert len(inside) < PARAMS.most_waiting
            assert of_city < PARAMS.most_waiting_of_city
            inside.add(asked)
        assert len(line) == len(inside)
        if takes:
            taken = line.take(now, run_seconds)
            together, late = taken.together, taken.late
            assert set(together) | set(late) <= inside
            assert len(set(together) | set(late)) == len(together) + len(late)
            assert all(one.deadline < now + run_seconds for one in late)
            assert all(one.deadline >= now + run_seconds for one in together), "never past the deadline"
            assert len(together) <= PARAMS.most_together
            if len(together) > 1:
                assert padded_sites([one.sizes for one in together]) <= PARAMS.most_sites
            inside -= set(together) | set(late)
            assert together or not inside, "a run takes somebody as long as somebody waits"
            out += together
    for city in "abcdef":
        numbers = [one.number for one in out if one.city == city]
        assert numbers == sorted(numbers), "first in, first out within a city"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40), st.integers(1, 6))
def test_the_head_of_a_citys_line_waits_for_one_run_for_each_full_round_before_it(cities, cap):
    line = WaitingLine(BatchParams(most_together=cap, most_waiting=1000, most_waiting_of_city=1000), padded_sites)
    for number, city in enumerate(cities):
        line.join(Asked(number, city, 0.0, 9.0))
    waited = {}
    while len(line):
        heads = {
            city: next(n for n, c in enumerate(cities) if c == city and n not in waited)
            for city in set(cities)
            if any(c == city and n not in waited for n, c in enumerate(cities))
        }
        bound = -(-len(heads) // cap)
        out_by = set()
        for _ in range(bound):
            out_by |= {one.number for one in line.take(0.0, 0.0).together}
        assert set(heads.values()) <= out_by
        waited |= dict.fromkeys(out_by)


def test_a_city_that_floods_the_line_does_not_keep_another_waiting():
    line = WaitingLine(BatchParams(most_together=2, most_waiting=100, most_waiting_of_city=50), padded_sites)
    for number in range(50):
        line.join(Asked(number, "flood", 0.0, 9.0))
    line.join(Asked(99, "quiet", 0.0, 9.0))
    assert [one.number for one in line.take(0.0, 0.0).together] == [0, 99]
    line.join(Asked(100, "flood", 0.0, 9.0))
    with pytest.raises(EngineOverloaded, match="50 questions of this city wait already"):
        line.join(Asked(101, "flood", 0.0, 9.0))
    line.join(Asked(102, "quiet", 0.0, 9.0))


def test_a_run_begins_when_the_first_has_waited_or_the_most_hurried_must_or_when_it_is_full():
    line = WaitingLine(PARAMS, padded_sites)
    assert line.due_at(0.001) is None
    line.join(Asked(1, "a", 10.0, 20.0))
    assert line.due_at(0.001) == pytest.approx(10.002)
    line.join(Asked(2, "b", 10.001, 10.0025))
    assert line.due_at(0.001) == pytest.approx(10.0005)
    for number in (3, 4):
        line.join(Asked(number, "c", 10.001, 20.0))
    assert line.due_at(0.001) < 10.0
