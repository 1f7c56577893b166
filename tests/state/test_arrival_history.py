from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_samples import TEN, make_city, minutes_later, report

from doseflow.state.arrival_history import PERIODS_KEPT, ArrivalHistory

WEEK = 7 * 24 * 60


def history(start_at: datetime = TEN - timedelta(weeks=4, hours=1), **changes) -> ArrivalHistory:
    return ArrivalHistory(make_city(**changes), start_at)


def test_nothing_recorded_is_unknown():
    people = history().coming_periods(TEN)
    assert people.shape == (3, 4, 24)
    assert np.isnan(people).all()


def test_a_report_tells_the_period_that_ends_when_it_is_valid():
    ring = history()
    ring.record([report("beta", -WEEK + 5, arrivals_people=7), report("beta", -3 * WEEK + 120, arrivals_people=9)])
    people = ring.coming_periods(TEN)
    assert people[1, 0, 0] == 7
    assert people[1, 2, 23] == 9
    assert np.count_nonzero(~np.isnan(people)) == 2


def test_seconds_off_the_mark_belong_to_the_nearest_mark():
    ring = history()
    ring.record(
        [report("alpha", -WEEK + 5 + 0.4, arrivals_people=7), report("alpha", -WEEK + 10 - 0.4, arrivals_people=8)]
    )
    assert ring.coming_periods(TEN)[0, 0, :2].tolist() == [7, 8]
    assert ring.coming_periods(TEN + timedelta(seconds=20))[0, 0, :2].tolist() == [7, 8]


def test_a_report_out_of_order_fills_its_own_cell_and_a_site_unknown_is_left_out():
    ring = history()
    ring.record([report("alpha", 0, arrivals_people=1)])
    ring.record(
        [report("alpha", -WEEK + 5, arrivals_people=7), report("gone", 0, arrivals_people=3), report("alpha", 5)]
    )
    assert ring.coming_periods(TEN)[0, 0, 0] == 7


def test_what_is_older_than_the_ring_changes_nothing():
    ring = history()
    ring.record([report("alpha", 0, arrivals_people=1)])
    before = ring.coming_periods(TEN)
    ring.record([report("alpha", -5 * WEEK - 5, arrivals_people=99), report("alpha", -5 * WEEK, arrivals_people=99)])
    np.testing.assert_array_equal(ring.coming_periods(TEN), before)
    after_five_weeks = TEN + timedelta(weeks=5)
    ring.record([report("alpha", 5 * WEEK, arrivals_people=2)])
    assert np.isnan(ring.coming_periods(after_five_weeks)).all()


def test_of_two_reports_of_one_period_the_one_valid_later_counts():
    reports = [report("alpha", -WEEK + 5 + off, arrivals_people=people) for off, people in ((1, 8), (-1, 7))]
    ring = history()
    ring.record(reports)
    assert ring.coming_periods(TEN)[0, 0, 0] == 8


def test_weeks_that_nothing_was_told_of_yet_are_unknown_however_full_the_ring_is():
    ring = history(TEN - timedelta(weeks=10))
    ring.load(np.ones((3, PERIODS_KEPT)), TEN - timedelta(weeks=7))
    known = ~np.isnan(ring.coming_periods(TEN))
    assert known.all(axis=(0, 2)).tolist() == [False, False, True, True]
    assert not known[:, :1].any()


def test_loaded_history_is_what_was_loaded_and_unknown_does_not_erase():
    ring = history()
    start = TEN - timedelta(weeks=4)
    people = np.arange(3 * 2016 * 4, dtype=np.float64).reshape(3, -1)
    ring.record([report("alpha", -2 * WEEK + 5, arrivals_people=77)])
    people[0, 2 * 2016] = np.nan
    ring.load(people, start)
    coming = ring.coming_periods(TEN)
    np.testing.assert_array_equal(coming[1], people[1].reshape(4, 2016)[::-1, :24])
    assert coming[0, 1, 0] == 77


def test_history_longer_than_the_ring_keeps_its_newest_part():
    ring = history(TEN - timedelta(weeks=60))
    people = np.tile(np.arange(PERIODS_KEPT + 2016, dtype=np.float64), (3, 1))
    ring.load(people, TEN - timedelta(weeks=6))
    expected = people[0].reshape(6, 2016)[:1:-1, :24]
    np.testing.assert_array_equal(ring.coming_periods(TEN)[0], expected)


def test_weeks_are_weeks_of_the_clock_on_the_wall():
    """Eight o'clock before the change to summer time is compared with eight o'clock after it."""
    after_change = datetime(2026, 3, 30, 6, 0, tzinfo=UTC)
    eight_a_week_before = datetime(2026, 3, 23, 7, 0, tzinfo=UTC)
    ring = history(after_change - timedelta(weeks=4))
    offset = (eight_a_week_before - TEN).total_seconds() / 60
    ring.record([report("alpha", offset + 5, arrivals_people=7)])
    assert ring.coming_periods(after_change)[0, 0, 0] == 7


def test_a_history_of_another_city_is_refused():
    with pytest.raises(ValueError, match="people"):
        history().load(np.zeros((2, 5)), TEN)
    history().load(np.zeros((3, 0)), TEN)


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(-4 * 2016, 24)), st.integers(0, 500), min_size=1, max_size=12
    ),
    st.randoms(use_true_random=False),
    st.integers(0, 12),
)
def test_the_ring_agrees_with_a_plain_dictionary_in_any_order(cells, random, cut):
    names = ("alpha", "beta", "gamma")
    reports = [
        report(names[site_idx], 5 * (period + 1), arrivals_people=people)
        for (site_idx, period), people in cells.items()
    ]
    random.shuffle(reports)
    ring = history()
    ring.record(reports[:cut])
    ring.record(reports[cut:])
    coming = ring.coming_periods(minutes_later(0))
    for site_idx in range(3):
        for week in range(4):
            for step in range(24):
                expected = cells.get((site_idx, step - 2016 * (week + 1)), np.nan)
                np.testing.assert_equal(coming[site_idx, week, step], expected)
