import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_samples import TEN, folded, make_city, minutes_later, nothing_known, report

from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.report import (
    ByStage,
    FridgeReading,
    LotOnHand,
    Power,
    Seats,
    StaffGroup,
    Stations,
    Surroundings,
    Weather,
)
from doseflow.domain.roles import Role
from doseflow.state.estimates import booked_moved_up, stock_after_doses
from doseflow.state.lot_rows import LotRows
from doseflow.state.reading_rules import CARRIED_MINUTES, READING_RULES

ALPHA = 0


def test_there_is_one_rule_for_each_class_in_order():
    assert [rule.feature_class for rule in READING_RULES] == list(FeatureClass)
    assert CARRIED_MINUTES.shape == (17,)


def test_people_waiting_follow_the_flows_when_only_these_are_told():
    state = folded(nothing_known(), report(waiting_people=ByStage(6, 0, 12, 10)))
    state = folded(state, report(valid=5, arrivals_people=9, doses_given=6), at=5)
    # 18 before the needle + 9 - 6 = 21, a third of it at registration; a third of the 10 in observation has left.
    np.testing.assert_allclose(state.waiting_people[ALPHA], [7, 0, 14, 10 * 2 / 3 + 6])
    assert state.source[ALPHA, FeatureClass.WAITING_BY_STAGE] == ReadingSource.ESTIMATED
    again = folded(state, report(valid=10, arrivals_people=0, doses_given=6), at=10)
    assert again.waiting_people[ALPHA, :3].sum() == pytest.approx(15)


def test_two_periods_of_flows_told_at_once_count_both():
    state = folded(nothing_known(), report(waiting_people=ByStage(10, 0, 0, 0)))
    later = folded(
        state,
        report(valid=10, arrivals_people=3, doses_given=1),
        report(valid=5, arrivals_people=4, doses_given=2),
        at=10,
    )
    assert later.waiting_people[ALPHA, :3].sum() == pytest.approx(14)


def test_flows_with_a_gap_estimate_nothing():
    state = folded(nothing_known(), report(waiting_people=ByStage(10, 0, 0, 0)))
    later = folded(state, report(valid=10, arrivals_people=3, doses_given=1), at=10)
    assert later.waiting_people[ALPHA].tolist() == [10, 0, 0, 0]
    assert later.source[ALPHA, FeatureClass.WAITING_BY_STAGE] == ReadingSource.CARRIED


def test_a_gap_ends_an_estimate_in_unknown_until_the_next_reading():
    state = folded(nothing_known(), report(waiting_people=ByStage(10, 0, 0, 0)))
    state = folded(state, report(valid=5, arrivals_people=3, doses_given=1), at=5)
    state = folded(state, report(valid=10, arrivals_people=2), at=10)
    state = folded(state, report(valid=15, arrivals_people=3, doses_given=1), at=15)
    assert np.isnan(state.waiting_people[ALPHA]).all()
    assert state.source[ALPHA, FeatureClass.WAITING_BY_STAGE] == ReadingSource.UNKNOWN
    state = folded(state, report(valid=20, waiting_people=ByStage(1, 1, 1, 1)), at=20)
    assert state.source[ALPHA, FeatureClass.WAITING_BY_STAGE] == ReadingSource.REPORTED


def test_flows_told_again_are_not_counted_again():
    lots = (LotOnHand("L1", "red", "alpha-big", 60),)
    state = folded(nothing_known(), report(waiting_people=ByStage(10, 0, 0, 0), lots=lots))
    state = folded(state, report(valid=5, arrivals_people=3, doses_given=1), at=5)
    for again in (
        report(valid=5, received=6, report_id="again", arrivals_people=3, doses_given=1),
        report(valid=4, received=7, report_id="late", arrivals_people=3, doses_given=1),
    ):
        state = folded(state, again, at=8)
        assert state.waiting_people[ALPHA, :3].sum() == pytest.approx(12)
        assert (state.lots.unopened_doses + state.lots.open_vial_doses).tolist() == [59]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8), st.integers(0, 30))
def test_estimated_queues_are_never_negative_and_conserve_people_while_they_last(flows, at_the_door):
    state = folded(nothing_known(), report(waiting_people=ByStage(at_the_door, 0, 0, 0)))
    expected = at_the_door
    for number, (arrivals, doses) in enumerate(flows, start=1):
        told = report(valid=5 * number, arrivals_people=arrivals, doses_given=doses)
        state = folded(state, told, at=5 * number)
        expected = max(expected + arrivals - doses, 0)
        assert (state.waiting_people[ALPHA] >= 0).all()
        assert state.waiting_people[ALPHA, :3].sum() == pytest.approx(expected)


def test_the_wait_follows_from_queue_and_throughput():
    state = folded(nothing_known(), report(waiting_people=ByStage(4, 2, 6, 9), doses_given=10))
    # 12 people before the needle at 2 doses a minute.
    assert state.observed_wait_minutes[ALPHA] == pytest.approx(6)
    assert state.source[ALPHA, FeatureClass.OBSERVED_WAIT] == ReadingSource.ESTIMATED


def test_no_wait_is_estimated_where_nobody_was_served():
    state = folded(nothing_known(), report(waiting_people=ByStage(4, 2, 6, 9), doses_given=0))
    assert np.isnan(state.observed_wait_minutes[ALPHA])
    assert state.source[ALPHA, FeatureClass.OBSERVED_WAIT] == ReadingSource.UNKNOWN


def test_a_reported_wait_is_not_replaced_by_an_estimate():
    told = report(waiting_people=ByStage(4, 2, 6, 9), doses_given=10, observed_wait_minutes=30.0)
    assert folded(nothing_known(), told).observed_wait_minutes[ALPHA] == 30.0


def test_an_estimated_wait_is_forgotten_with_what_it_came_from():
    state = folded(nothing_known(), report(waiting_people=ByStage(4, 2, 6, 9), doses_given=10))
    state = folded(state, at=31)
    assert np.isnan(state.observed_wait_minutes[ALPHA])
    assert state.source[ALPHA, FeatureClass.OBSERVED_WAIT] == ReadingSource.UNKNOWN


def test_seats_taken_come_from_the_people_in_observation_when_these_are_newer():
    state = folded(nothing_known(), report(seats=Seats(4, 18)))
    later = folded(state, report(valid=5, waiting_people=ByStage(1, 1, 1, 11)), at=5)
    assert (later.seats_taken[ALPHA], later.seats_possible[ALPHA]) == (11, 18)
    assert later.source[ALPHA, FeatureClass.SEATS] == ReadingSource.ESTIMATED


@pytest.mark.parametrize(
    ("age", "expected"), [(14.9, [1, 2, 3, 4, 5, 6, 7, 8]), (15, [2, 3, 4, 5, 6, 7, 8]), (104, [7, 8]), (121, [])]
)
def test_bookings_move_up_as_time_goes_by(age, expected):
    state = folded(nothing_known(), report(booked_people=(1, 2, 3, 4, 5, 6, 7, 8)))
    padded = expected + [np.nan] * (8 - len(expected))
    np.testing.assert_array_equal(folded(state, at=age).booked_people[ALPHA], padded)
    step_by_step = state
    for moment in (7.0, 14.0, 14.9, age):
        step_by_step = folded(step_by_step, at=min(moment, age))
    np.testing.assert_array_equal(step_by_step.booked_people[ALPHA], padded)


def test_a_late_reading_of_bookings_is_moved_up_once():
    told = report(received=20, booked_people=(1, 2, 3, 4, 5, 6, 7, 8))
    state = folded(nothing_known(), told, at=20)
    np.testing.assert_array_equal(state.booked_people[ALPHA], [2, 3, 4, 5, 6, 7, 8, np.nan])
    np.testing.assert_array_equal(folded(state, at=25).booked_people[ALPHA], state.booked_people[ALPHA])


def test_bookings_of_different_sites_move_up_on_their_own():
    booked = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]])
    moved = booked_moved_up(booked, np.array([0, 8]))
    np.testing.assert_array_equal(moved[0], booked[0])
    assert np.isnan(moved[1]).all()


def test_doses_given_come_off_the_stock_that_is_not_told_anew():
    lots = (
        LotOnHand("late", "red", "alpha-big", 60, 1, minutes_later(9000)),
        LotOnHand("early", "red", "alpha-big", 12, 2, minutes_later(6000)),
    )
    state = folded(nothing_known(), report(lots=lots))
    state = folded(state, report(valid=5, doses_given=10), at=5)
    # 3 from opened vials, then two vials of six of the lot that expires first, of which five doses stay open.
    assert state.lots.unopened_doses.tolist() == [60, 0]
    assert state.lots.open_vial_doses.tolist() == [0, 5]
    assert state.source[ALPHA, FeatureClass.DOSES_ON_HAND] == ReadingSource.ESTIMATED
    state = folded(state, report(valid=10, lots=lots), at=10)
    assert state.lots.unopened_doses.tolist() == [60, 12]
    assert state.source[ALPHA, FeatureClass.DOSES_ON_HAND] == ReadingSource.REPORTED


def test_doses_given_before_the_stock_was_counted_are_in_the_count():
    lots = (LotOnHand("L1", "red", "alpha-big", 60),)
    state = folded(nothing_known(), report(valid=0, doses_given=6), report(valid=5, lots=lots, doses_given=6), at=5)
    assert state.lots.unopened_doses.tolist() == [60]
    assert folded(state, report(valid=2, received=6, doses_given=6), at=6).lots.unopened_doses.tolist() == [60]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 9), st.integers(0, 3)), max_size=6),
    st.lists(st.integers(0, 60), min_size=3, max_size=3),
)
def test_stock_goes_down_by_the_doses_given_or_to_nothing(rows, given_doses):
    rows = sorted(rows, key=lambda row: row[0])
    lots = LotRows(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array(["f"] * len(rows), dtype=object),
        np.zeros(len(rows), dtype=np.int64),
        np.array([str(idx) for idx in range(len(rows))], dtype=object),
        np.array([row[1] * 6 for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.int64),
        np.array([row[3] or np.nan for row in rows], dtype=np.float64),
    )
    after = stock_after_doses(lots, np.array(given_doses, dtype=np.float64), make_city())
    for site_idx in range(3):
        at_site = lots.site_idx == site_idx
        before = (lots.unopened_doses + lots.open_vial_doses)[at_site].sum()
        left = (after.unopened_doses + after.open_vial_doses)[at_site].sum()
        assert left == max(before - given_doses[site_idx], 0)
    assert (after.unopened_doses >= 0).all()
    assert (after.open_vial_doses >= 0).all()
    assert (after.unopened_doses % 6 == 0).all()


def test_groups_whose_shift_has_ended_are_gone_unless_the_site_still_reports_them():
    groups = (StaffGroup(Role.REGISTRAR, 2, minutes_later(4)), StaffGroup(Role.VACCINATOR, 3, minutes_later(60)))
    state = folded(nothing_known(), report(staff=groups), at=4.5)
    assert state.staff.people.tolist() == [2, 3]
    state = folded(state, at=6)
    assert state.staff.people.tolist() == [3]
    assert state.source[ALPHA, FeatureClass.STAFF_ON_DUTY] == ReadingSource.ESTIMATED
    state = folded(state, at=61)
    assert state.staff.people.tolist() == []
    assert state.source[ALPHA, FeatureClass.STAFF_ON_DUTY] == ReadingSource.UNKNOWN
    assert folded(state, at=66).source[ALPHA, FeatureClass.STAFF_ON_DUTY] == ReadingSource.UNKNOWN


def test_readings_older_than_their_rule_are_unknown():
    state = folded(
        nothing_known(),
        report(
            arrivals_people=3,
            waiting_people=ByStage(1, 1, 1, 1),
            observed_wait_minutes=4.0,
            walk_in_share=0.3,
            stations=Stations(ByStage(1, 1, 1, 1), ByStage(3, 3, 3, 1)),
            surroundings=Surroundings(weather=Weather.SNOW),
            fridges=(FridgeReading("alpha-big", 5.0, 4.0, 9.0, Power.ON, 20.0, 70.0),),
        ),
    )
    old = folded(state, at=13 * 60)
    assert np.isnan([old.arrivals_people[ALPHA], old.observed_wait_minutes[ALPHA], *old.waiting_people[ALPHA]]).all()
    assert old.walk_in_share[ALPHA] == 0.3
    assert np.isnan(old.stations_open[ALPHA]).all()
    assert old.stations_possible[ALPHA].tolist() == [4, 4, 6, 2]
    assert old.weather_idx[ALPHA] == -1
    assert np.isnan([old.fridges.temperature_celsius[0], old.fridges.power_on[0]]).all()
    assert (old.fridges.excursion_minutes[0], old.fridges.set_point_celsius[0]) == (9.0, 4.0)
    assert old.fridges.volume_used_litres[0] == 20.0
    assert np.isnan(folded(old, at=25 * 60).fridges.volume_used_litres[0])
    sources = {one: ReadingSource(old.source[ALPHA, one]) for one in FeatureClass}
    assert sources[FeatureClass.ARRIVALS] is ReadingSource.UNKNOWN
    assert sources[FeatureClass.WALK_IN_SHARE] is ReadingSource.CARRIED
    assert sources[FeatureClass.STATIONS] is ReadingSource.ESTIMATED
    assert sources[FeatureClass.FRIDGES] is ReadingSource.UNKNOWN
    assert old.valid_epoch_minutes[ALPHA, FeatureClass.ARRIVALS] == TEN.timestamp() / 60
