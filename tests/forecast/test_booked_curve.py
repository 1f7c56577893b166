"""Bookings of the last and the coming two hours as one curve: what is booked comes, moved by punctuality."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.domain.recent_periods import RecentPeriods
from doseflow.forecast.booked_arrivals import BookingParams, booked_arrivals
from doseflow.forecast.booked_curve import booked_curve

EXACT = BookingParams(assumed_no_show_share=0, assumed_walk_in_share=0, assumed_early_minutes=0)
UNTOLD = [np.nan] * 24


def state_of(make_state, past, booked, early=0.0, no_show=0.0, walk_in=0.0):
    recent = replace(RecentPeriods.unknown(1), booked_people=np.array([past], dtype=float))
    return make_state(
        num_sites=1,
        recent=recent,
        booked_people=np.array([booked], dtype=float),
        mean_early_minutes=np.array([early]),
        no_show_share=np.array([no_show]),
        walk_in_share=np.array([walk_in]),
    )


def curve(make_state, *arguments, **given):
    (values,) = booked_curve(state_of(make_state, *arguments, **given), EXACT)
    return values


people = st.lists(st.integers(0, 60), min_size=8, max_size=8)


@settings(max_examples=60)
@given(
    booked=people,
    early=st.floats(-59, 59),
    no_show=st.floats(0, 0.6),
    walk_in=st.floats(0, 1),
    unknown=st.sets(st.sampled_from(["mean_early_minutes", "no_show_share", "walk_in_share"])),
)
def test_with_an_untold_past_the_coming_periods_are_those_of_the_plain_forecast(
    make_state, booked, early, no_show, walk_in, unknown
):
    state = state_of(make_state, UNTOLD, booked, early, no_show, walk_in)
    state = replace(state, **dict.fromkeys(unknown, np.array([np.nan])))
    values, (expected,) = booked_curve(state, BookingParams())[0], booked_arrivals(state, BookingParams())[0]
    assert np.isnan(values[:24]).all()
    np.testing.assert_allclose(values[24:], expected, atol=1e-9)


@settings(max_examples=40)
@given(booked=people, past=st.lists(st.integers(0, 20), min_size=24, max_size=24), early=st.floats(0, 60))
def test_of_people_who_come_early_a_told_past_says_nothing_of_the_coming_periods(make_state, booked, past, early):
    told = state_of(make_state, past, booked, early)
    values, (expected,) = booked_curve(told, EXACT)[0], booked_arrivals(told, EXACT)[0]
    np.testing.assert_allclose(values[24:], expected, atol=1e-9)
    assert np.isfinite(values).all()


@settings(max_examples=40)
@given(
    inside=st.lists(st.integers(0, 20), min_size=8, max_size=8),
    booked=st.lists(st.integers(0, 60), min_size=4, max_size=4),
    early=st.floats(-60, 60),
    no_show=st.floats(0, 0.6),
    walk_in=st.floats(0, 0.8),
)
def test_nobody_is_lost_or_made_by_the_shift(make_state, inside, booked, early, no_show, walk_in):
    # Nobody is booked within an hour of either end, so that all of them come inside.
    past = [0] * 16 + inside
    values = curve(make_state, past, [*booked, 0, 0, 0, 0], early=early, no_show=no_show, walk_in=walk_in)
    total = (sum(inside) + sum(booked)) * (1 - no_show) / (1 - walk_in)
    assert values.sum() == pytest.approx(total)
    assert (values >= -1e-9).all()


def test_people_who_come_late_are_those_of_periods_that_are_past(make_state):
    values = curve(make_state, [*[0] * 22, 6, 9], [0, 3, 0, 0, 0, 0, 0, 0], early=-10)
    assert values[24:] == pytest.approx([6, 9, 0, 0, 0, 1, 1, 1, *[0] * 16])
    assert values[:24] == pytest.approx(0)


def test_people_who_come_early_fill_periods_before_their_own(make_state):
    values = curve(make_state, [0] * 24, [0, 9, 0, 0, 0, 0, 0, 0], early=7.5)
    assert values[24:] == pytest.approx([0, 1.5, 3, 3, 1.5, *[0] * 19])


def test_past_the_last_known_bin_the_latest_bookings_go_on(make_state):
    values = curve(make_state, [50] * 24, [3] * 6 + [np.nan] * 2, early=15)
    assert values[24:42] == pytest.approx(1)
    assert np.isnan(values[42:]).all()


def test_before_the_first_known_period_its_bookings_went_on(make_state):
    values = curve(make_state, [np.nan] * 20 + [4] * 4, [0] * 8, early=-20)
    assert np.isnan(values[:20]).all()
    assert values[20:28] == pytest.approx(4)
    assert values[28:] == pytest.approx(0)


def test_a_gap_in_the_past_is_unknown_and_goes_on_as_what_was_before_it(make_state):
    past = [2] * 10 + [np.nan] * 4 + [8] * 10
    values = curve(make_state, past, [24] * 8, early=-10)
    assert np.isnan(values[10:14]).all()
    assert values[:10] == pytest.approx(2)
    assert values[14:16] == pytest.approx(2)
    assert values[16:] == pytest.approx(8)


def test_bookings_known_only_later_on_do_not_hide_them(make_state):
    values = curve(make_state, UNTOLD, [np.nan, 6, 6, 6, 6, 6, 6, 6], early=5)
    assert np.isnan(values[:27]).all()
    assert values[27:] == pytest.approx(2)


def test_unknown_bookings_are_unknown_and_other_sites_are_not_touched(make_state):
    known = state_of(make_state, [1] * 24, [3] * 8)
    both = make_state(
        num_sites=2,
        booked_people=np.array([[3.0] * 8, [np.nan] * 8]),
        recent=replace(RecentPeriods.unknown(2), booked_people=np.array([[1.0] * 24, UNTOLD])),
    )
    values = booked_curve(both, EXACT)
    assert np.isnan(values[1]).all()
    np.testing.assert_array_equal(values[0], booked_curve(known, EXACT)[0])
