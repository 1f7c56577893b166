"""Arrivals from bookings: the arithmetic of thinning, punctuality and walk-ins."""

import numpy as np
import pytest

from doseflow.forecast.booked_arrivals import BookingParams, booked_arrivals


def _state(make_state, booked, no_show=0.0, early=0.0, walk_in=0.0):
    return make_state(
        num_sites=1,
        booked_people=np.array([booked], dtype=float),
        no_show_share=np.array([no_show]),
        mean_early_minutes=np.array([early]),
        walk_in_share=np.array([walk_in]),
    )


def test_a_bin_of_fifteen_minutes_spreads_over_its_three_periods(make_state):
    expected, _ = booked_arrivals(_state(make_state, [9, 0, 6, 0, 0, 0, 0, 0]), BookingParams())
    assert expected[0] == pytest.approx([3, 3, 3, 0, 0, 0, 2, 2, 2, *[0] * 15])


def test_no_shows_thin_and_walk_ins_come_on_top(make_state):
    expected, _ = booked_arrivals(_state(make_state, [30] * 8, no_show=0.2, walk_in=0.25), BookingParams())
    # 10 booked a period, 8 come, and they are three quarters of all who come.
    assert expected[0] == pytest.approx(8 / 0.75)


def test_people_who_come_ten_minutes_early_fill_periods_two_earlier(make_state):
    expected, _ = booked_arrivals(_state(make_state, [0, 9, 0, 0, 0, 0, 0, 0], early=10), BookingParams())
    assert expected[0] == pytest.approx([0, 3, 3, 3, *[0] * 20])


def test_people_who_come_late_fill_later_periods(make_state):
    expected, _ = booked_arrivals(_state(make_state, [0, 9, 0, 0, 0, 0, 0, 0], early=-7.5), BookingParams())
    assert expected[0] == pytest.approx([0, 0, 0, 0, 1.5, 3, 3, 1.5, *[0] * 16])


def test_past_the_last_known_bin_the_bookings_are_taken_to_go_on(make_state):
    expected, _ = booked_arrivals(_state(make_state, [3] * 7 + [12], early=15), BookingParams())
    assert expected[0, -6:] == pytest.approx(4)


def test_unknown_histories_take_the_assumed_ones_and_widen(make_state):
    params = BookingParams(
        assumed_no_show_share=0.5, assumed_walk_in_share=0.0, assumed_early_minutes=0.0, dispersion=2, widening=1.5
    )
    known = _state(make_state, [12] * 8)
    unknown = _state(make_state, [12] * 8, no_show=np.nan, early=np.nan, walk_in=np.nan)
    assert booked_arrivals(known, params)[1] == pytest.approx(2)
    expected, dispersion = booked_arrivals(unknown, params)
    assert expected[0] == pytest.approx(2)
    assert dispersion == pytest.approx(2 * 1.5**3)


def test_unknown_bookings_give_unknown_arrivals(make_state):
    expected, _ = booked_arrivals(_state(make_state, [np.nan] * 8), BookingParams())
    assert np.isnan(expected).all()


def test_a_site_of_walk_ins_only_is_not_scaled_up_without_bound(make_state):
    expected, _ = booked_arrivals(_state(make_state, [3] * 8, walk_in=1.0), BookingParams())
    assert expected[0] == pytest.approx(10)
