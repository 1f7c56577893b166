from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_samples import folded, minutes_later, no_past, nothing_known, report

from doseflow.domain.orders import Commitments
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.state.fold import fold

ALPHA, BETA = 0, 1
BOOKED = (3, 6, 9, 12, 15, 18, 21, 24)


def known_arrivals(state, site_idx=ALPHA):
    """Arrivals of the periods that are known, by how many periods ago they ended."""
    row = state.recent.arrivals_people[site_idx]
    return {24 - int(slot) - 1: row[slot] for slot in np.flatnonzero(~np.isnan(row))}


def test_the_arrivals_of_the_period_that_just_ended_are_the_newest():
    state = folded(nothing_known(), report(arrivals_people=7))
    assert known_arrivals(state) == {0: 7}
    assert known_arrivals(state, BETA) == {}


def test_arrivals_grow_older_by_a_period_a_cycle():
    state = nothing_known()
    for cycle in range(30):
        state = folded(state, report(valid=5 * cycle, arrivals_people=cycle), at=5 * cycle)
    assert known_arrivals(state) == {ago: 29 - ago for ago in range(24)}


@pytest.mark.parametrize(
    ("passed", "expected"), [(0, {0: 7}), (1, {1: 7}), (23, {23: 7}), (24, {}), (25, {}), (90, {})]
)
def test_time_moves_on_by_any_number_of_whole_periods(passed, expected):
    state = folded(nothing_known(), report(arrivals_people=7))
    assert known_arrivals(folded(state, at=5 * passed)) == expected


def test_a_cycle_late_by_less_than_a_period_moves_nothing():
    state = folded(nothing_known(), report(valid=-0.2, arrivals_people=7), at=0.1)
    assert known_arrivals(state) == {0: 7}
    assert known_arrivals(folded(state, at=4.9)) == {0: 7}
    assert known_arrivals(folded(state, at=5.0)) == {1: 7}


def test_a_report_of_a_period_that_the_clock_has_not_ended_yet_is_in_its_place_at_the_next_cycle():
    state = folded(nothing_known(), report(valid=5, arrivals_people=7), at=4.9)
    assert known_arrivals(state) == {}
    assert known_arrivals(folded(state, at=10)) == {1: 7}


def test_a_late_report_fills_the_period_it_tells():
    state = folded(nothing_known(), report(arrivals_people=7))
    state = folded(state, report(valid=10, arrivals_people=9), at=10)
    state = folded(state, report(valid=5, arrivals_people=8), at=15)
    assert known_arrivals(state) == {1: 9, 2: 8, 3: 7}
    assert state.arrivals_people[ALPHA] == 9


def test_a_late_report_from_before_the_window_changes_nothing():
    state = folded(nothing_known(), report(arrivals_people=7))
    assert known_arrivals(folded(state, report(valid=-120, arrivals_people=1))) == {0: 7}
    assert known_arrivals(folded(state, report(valid=-115, arrivals_people=1))) == {0: 7, 23: 1}


def test_a_repeated_report_changes_nothing():
    first = folded(nothing_known(), report(arrivals_people=7))
    later = folded(first, report(valid=5, arrivals_people=8), at=5)
    again = folded(later, report(valid=5, arrivals_people=8), report(arrivals_people=7), at=5)
    for name, rows in vars(later.recent).items():
        np.testing.assert_array_equal(getattr(again.recent, name), rows, err_msg=name)


def test_of_two_reports_for_one_period_the_one_valid_later_counts():
    both = (report(valid=4, arrivals_people=1), report(valid=5, arrivals_people=2))
    assert known_arrivals(folded(nothing_known(), *both, at=5)) == {0: 2}
    older = folded(nothing_known(), *both, report(valid=10, arrivals_people=3), at=10)
    assert known_arrivals(older) == {0: 3, 1: 2}


def test_a_period_that_nobody_tells_stays_unknown_though_the_last_reading_stands():
    state = folded(folded(nothing_known(), report(arrivals_people=7)), at=10)
    assert state.arrivals_people[ALPHA] == 7
    assert known_arrivals(state) == {2: 7}


@pytest.mark.parametrize("passed", [1, 2, 5, 24])
def test_bookings_move_into_the_past_as_they_stood_a_third_of_a_bin_a_period(passed):
    state = folded(nothing_known(), report(booked_people=BOOKED))
    later = folded(state, report(valid=5 * passed, booked_people=(0,) * 8), at=5 * passed)
    coming = np.repeat(np.array(BOOKED) / 3, 3)
    np.testing.assert_array_equal(later.recent.booked_people[ALPHA, 24 - passed :], coming[:passed])
    assert np.isnan(later.recent.booked_people[ALPHA, : 24 - passed]).all()
    assert np.isnan(later.recent.booked_people[BETA]).all()


@pytest.mark.parametrize("passed", [1, 3, 24, 30])
def test_past_weeks_move_into_the_past_with_their_periods(passed):
    past = np.arange(3 * 4 * 24, dtype=np.float64).reshape(3, 4, 24)
    state = fold(nothing_known(), (), past, Commitments(), minutes_later(0))
    later = folded(state, at=5 * passed)
    kept = past[..., max(0, passed - 24) : passed]
    start = 24 - passed
    np.testing.assert_array_equal(later.recent.past_weeks_people[..., max(0, start) : start + 24], kept)
    assert np.isnan(later.recent.past_weeks_people[..., : max(0, start)]).all()
    assert np.isnan(later.recent.past_weeks_people[..., start + 24 :]).all()


def test_a_clock_that_was_put_back_shifts_the_periods_back():
    state = folded(nothing_known(), report(valid=-5, arrivals_people=6), report(arrivals_people=7))
    assert known_arrivals(folded(state, at=-5)) == {0: 6}


def test_a_state_without_the_last_two_hours_goes_on_with_what_it_knows():
    state = folded(nothing_known(), report(arrivals_people=7))
    old = replace(state, recent=RecentPeriods.unknown(3))
    assert known_arrivals(folded(old, at=5)) == {1: 7}


def test_the_previous_state_is_not_written_to():
    state = folded(nothing_known(), report(arrivals_people=7, booked_people=BOOKED))
    before = {name: rows.copy() for name, rows in vars(state.recent).items()}
    for at in (0, 5):
        folded(state, report(valid=-5, arrivals_people=1), report(valid=at, arrivals_people=2), at=at)
    for name, rows in before.items():
        np.testing.assert_array_equal(getattr(state.recent, name), rows, err_msg=name)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=12, unique_by=lambda one: one[0])
)
def test_cycles_with_reports_in_any_order_know_what_one_list_of_periods_knows(told):
    """Told as (period, cycles of delay), one report a period: whatever the delay, each stands in its own period."""
    last = 60
    state = nothing_known()
    for cycle in range(last + 1):
        reports = [report(valid=5 * p, arrivals_people=p) for p, delay in told if p + delay == cycle]
        state = fold(state, reports, no_past(state.city), Commitments(), minutes_later(5 * cycle))
        expected = {cycle - p: p for p, delay in told if p + delay <= cycle and cycle - p < 24}
        assert known_arrivals(state) == expected
