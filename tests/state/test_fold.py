from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_samples import TEN, folded, make_city, minutes_later, no_past, nothing_known, report

from doseflow.domain.city import City
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.orders import Commitments
from doseflow.domain.report import (
    ByStage,
    Fatigue,
    FridgeReading,
    Incident,
    LotOnHand,
    NoShowHistory,
    Power,
    Seats,
    StaffGroup,
    Stations,
    Surroundings,
    Weather,
)
from doseflow.domain.roles import ROLES, Role
from doseflow.domain.state import CityState
from doseflow.state.fold import fold
from doseflow.units import epoch_minutes_from_datetime

ALPHA, BETA, GAMMA = 0, 1, 2
TEN_MINUTES = epoch_minutes_from_datetime(TEN)


def full_report(site_id: str = "alpha", valid: float = 0.0, **changes):
    told = {
        "arrivals_people": 7,
        "waiting_people": ByStage(3, 2, 5, 8),
        "observed_wait_minutes": 12.5,
        "booked_people": (9, 8, 7, 6, 5, 4, 3, 2),
        "no_show": NoShowHistory(0.1, 6.0),
        "walk_in_share": 0.25,
        "doses_given": 6,
        "doses_given_past_weeks": (5, None, 4),
        "staff": (
            StaffGroup(Role.REGISTRAR, 2, minutes_later(120)),
            StaffGroup(Role.VACCINATOR, 3, minutes_later(300), 1, (Role.SCREENER,)),
        ),
        "fatigue": (Fatigue(Role.VACCINATOR, 2.5, 1),),
        "stations": Stations(ByStage(2, 2, 3, 1), ByStage(4, 4, 5, 2)),
        "seats": Seats(8, 18),
        "lots": (
            LotOnHand("L1", "red", f"{site_id}-big", 60, 2, minutes_later(6000)),
            LotOnHand("L2", "blue", f"{site_id}-small", 30, 0, minutes_later(9000)),
        ),
        "fridges": (
            FridgeReading(f"{site_id}-big", 5.0, 4.0, 3.0, Power.ON, 20.0, 75.0),
            FridgeReading(f"{site_id}-small", 6.5, None, None, Power.OFF, 5.0, None),
        ),
        "surroundings": Surroundings((), Weather.RAIN, (Incident.SURGE,)),
    }
    return report(site_id, valid, **told | changes)


def assert_same(one: CityState, other: CityState) -> None:
    """Every array, table and value of two states is the same, NaN being itself."""
    for field in fields(one):
        _assert_same_value(field.name, getattr(one, field.name), getattr(other, field.name))


def _assert_same_value(name, one, other) -> None:
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
    elif isinstance(one, City):
        assert one is other
    elif hasattr(one, "__dataclass_fields__") and not isinstance(one, Commitments):
        for field in fields(one):
            _assert_same_value(f"{name}.{field.name}", getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other, name


def test_a_full_report_is_in_the_state_value_by_value():
    state = folded(nothing_known(), full_report())
    assert state.arrivals_people[ALPHA] == 7
    assert state.waiting_people[ALPHA].tolist() == [3, 2, 5, 8]
    assert state.observed_wait_minutes[ALPHA] == 12.5
    assert state.booked_people[ALPHA].tolist() == [9, 8, 7, 6, 5, 4, 3, 2]
    assert (state.no_show_share[ALPHA], state.mean_early_minutes[ALPHA]) == (0.1, 6.0)
    assert state.walk_in_share[ALPHA] == 0.25
    assert state.doses_given[ALPHA] == 6
    np.testing.assert_array_equal(state.doses_given_past_weeks[ALPHA], [5, np.nan, 4, np.nan])
    np.testing.assert_array_equal(state.worked_hours[ALPHA], [np.nan, np.nan, 2.5, np.nan])
    np.testing.assert_array_equal(state.breaks_due_people[ALPHA], [np.nan, np.nan, 1, np.nan])
    assert state.stations_open[ALPHA].tolist() == [2, 2, 3, 1]
    assert state.stations_possible[ALPHA].tolist() == [4, 4, 5, 2]
    assert (state.seats_taken[ALPHA], state.seats_possible[ALPHA]) == (8, 18)
    assert state.weather_idx[ALPHA] == list(Weather).index(Weather.RAIN)
    assert state.incidents[ALPHA].tolist() == [one is Incident.SURGE for one in Incident]
    assert (state.source[ALPHA] == ReadingSource.REPORTED).all()
    for times in (state.valid_epoch_minutes, state.received_epoch_minutes, state.changed_epoch_minutes):
        assert (times[ALPHA] == TEN_MINUTES).all()


def test_the_tables_of_a_full_report_are_in_the_state():
    state = folded(nothing_known(), full_report("beta"), full_report("alpha"))
    staff, lots, fridges = state.staff, state.lots, state.fridges
    assert staff.site_idx.tolist() == [ALPHA, ALPHA, BETA, BETA]
    assert staff.role_idx.tolist() == [0, 2, 0, 2]
    assert staff.people.tolist() == [2, 3, 2, 3]
    assert staff.moves_today.tolist() == [0, 1, 0, 1]
    assert staff.shift_ends_epoch_minutes.tolist() == [TEN_MINUTES + 120, TEN_MINUTES + 300] * 2
    assert staff.qualified[:2].tolist() == [[True, False, False, False], [False, True, True, False]]
    assert staff.reserved_people.tolist() == [0, 0, 0, 0]
    assert lots.lot_number == ("L1", "L2", "L1", "L2")
    assert lots.product_idx.tolist() == [0, 1, 0, 1]
    assert [fridges.fridge_id[row] for row in lots.fridge_row] == ["alpha-big", "alpha-small", "beta-big", "beta-small"]
    assert lots.unopened_doses.tolist() == [60, 30, 60, 30]
    assert lots.open_vial_doses.tolist() == [2, 0, 2, 0]
    assert lots.expires_epoch_minutes.tolist() == [TEN_MINUTES + 6000, TEN_MINUTES + 9000] * 2
    assert fridges.temperature_celsius[:2].tolist() == [5.0, 6.5]
    assert fridges.power_on[:2].tolist() == [1.0, 0.0]
    assert fridges.volume_used_litres[:2].tolist() == [20.0, 5.0]


def test_what_a_fridge_does_not_tell_of_itself_comes_from_the_city_or_is_unknown():
    state = folded(nothing_known(), full_report())
    assert state.fridges.set_point_celsius.tolist() == [4.0, 5.0]
    assert state.fridges.volume_possible_litres.tolist() == [75.0, 20.0]
    np.testing.assert_array_equal(state.fridges.excursion_minutes, [3.0, np.nan])


def test_a_site_that_never_reported_is_unknown_everywhere_but_for_what_the_city_file_knows():
    state = folded(nothing_known(), full_report("alpha"))
    known_without_reports = {"stations_possible", "seats_possible", "open_minutes_left"}
    for name in {field.name for field in fields(state)} - known_without_reports:
        value = getattr(state, name)
        if isinstance(value, np.ndarray) and value.dtype == np.float64:
            assert np.isnan(value[BETA]).all(), name
    assert state.stations_possible[BETA].tolist() == [4, 4, 6, 2]
    assert state.seats_possible[BETA] == 20
    assert BETA not in state.staff.site_idx
    assert BETA not in state.lots.site_idx
    assert BETA not in state.fridges.site_idx
    assert state.weather_idx[BETA] == -1
    estimated = {FeatureClass.STATIONS, FeatureClass.SEATS}
    for one in FeatureClass:
        expected = ReadingSource.ESTIMATED if one in estimated else ReadingSource.UNKNOWN
        assert state.source[BETA, one] == expected, one


def test_a_late_report_never_overwrites_a_newer_reading():
    state = folded(nothing_known(), report(valid=5, arrivals_people=9), at=5)
    later = folded(state, report(valid=0, received=9, arrivals_people=1, walk_in_share=0.5), at=10)
    assert later.arrivals_people[ALPHA] == 9
    assert later.walk_in_share[ALPHA] == 0.5
    assert later.valid_epoch_minutes[ALPHA, FeatureClass.ARRIVALS] == TEN_MINUTES + 5
    assert later.valid_epoch_minutes[ALPHA, FeatureClass.WALK_IN_SHARE] == TEN_MINUTES


def test_a_repeated_report_changes_nothing():
    once = folded(nothing_known(), full_report())
    assert_same(folded(once, full_report()), once)


def test_of_two_readings_of_one_moment_the_one_received_later_counts():
    first = report(valid=0, received=1, arrivals_people=4, report_id="first")
    correction = report(valid=0, received=2, arrivals_people=5, report_id="correction")
    assert folded(nothing_known(), correction, first, at=3).arrivals_people[ALPHA] == 5
    assert folded(folded(nothing_known(), correction, at=3), first, at=3).arrivals_people[ALPHA] == 5
    assert folded(folded(nothing_known(), first, at=3), correction, at=3).arrivals_people[ALPHA] == 5


def test_several_reports_of_one_site_in_one_fold_leave_the_newest_of_each_class():
    state = folded(
        nothing_known(),
        report(valid=4, arrivals_people=4),
        report(valid=2, arrivals_people=2, walk_in_share=0.2),
        report(valid=3, observed_wait_minutes=3.0),
        at=5,
    )
    assert (state.arrivals_people[ALPHA], state.walk_in_share[ALPHA], state.observed_wait_minutes[ALPHA]) == (
        4,
        0.2,
        3.0,
    )


def test_a_reading_one_period_old_is_carried_and_keeps_its_times():
    state = folded(nothing_known(), report(arrivals_people=9))
    assert folded(state, at=4.9).source[ALPHA, FeatureClass.ARRIVALS] == ReadingSource.REPORTED
    carried = folded(state, at=5)
    assert carried.source[ALPHA, FeatureClass.ARRIVALS] == ReadingSource.CARRIED
    assert carried.arrivals_people[ALPHA] == 9
    assert carried.valid_epoch_minutes[ALPHA, FeatureClass.ARRIVALS] == TEN_MINUTES


def test_a_class_told_anew_is_replaced_whole():
    state = folded(nothing_known(), report(waiting_people=ByStage(1, 2, 3, 4)))
    state = folded(state, report(valid=5, waiting_people=ByStage(vaccination=9)), at=5)
    np.testing.assert_array_equal(state.waiting_people[ALPHA], [np.nan, np.nan, 9, np.nan])


def test_an_empty_object_tells_nothing_and_an_empty_list_tells_that_there_is_none():
    state = folded(nothing_known(), full_report())
    state = folded(state, report(valid=5, waiting_people=ByStage(), staff=(), lots=()), at=5)
    assert state.waiting_people[ALPHA].tolist() == [3, 2, 5, 8]
    assert len(state.staff.people) == 0
    assert len(state.lots.lot_number) == 0
    assert state.source[ALPHA, FeatureClass.STAFF_ON_DUTY] == ReadingSource.REPORTED


def test_rows_of_a_reporting_site_are_replaced_and_other_rows_kept():
    state = folded(nothing_known(), full_report("alpha"), full_report("gamma"))
    only = (LotOnHand("L9", "red", "gamma-small", 12, 0),)
    later = folded(state, report("gamma", 5, lots=only, staff=()), at=5)
    assert later.lots.site_idx.tolist() == [ALPHA, ALPHA, GAMMA]
    assert later.lots.lot_number == ("L1", "L2", "L9")
    assert [later.fridges.fridge_id[row] for row in later.lots.fridge_row] == [
        "alpha-big",
        "alpha-small",
        "gamma-small",
    ]
    assert later.staff.site_idx.tolist() == [ALPHA, ALPHA]
    assert later.fridges.fridge_id == state.fridges.fridge_id


def test_the_changed_time_moves_only_when_the_value_differs():
    state = folded(nothing_known(), full_report())
    same = folded(state, full_report(valid=5), at=5)
    assert (same.valid_epoch_minutes[ALPHA] == TEN_MINUTES + 5).all()
    assert (same.changed_epoch_minutes[ALPHA] == TEN_MINUTES).all()


@pytest.mark.parametrize(
    ("feature_class", "change"),
    [
        (FeatureClass.ARRIVALS, {"arrivals_people": 8}),
        (FeatureClass.WAITING_BY_STAGE, {"waiting_people": ByStage(3, 2, 6, 8)}),
        (FeatureClass.BOOKED_AHEAD, {"booked_people": (9, 8, 7, 6, 5, 4, 3, 3)}),
        (FeatureClass.STAFF_ON_DUTY, {"staff": (StaffGroup(Role.REGISTRAR, 2, minutes_later(120)),)}),
        (FeatureClass.STATIONS, {"stations": Stations(ByStage(2, 2, 4, 1), ByStage(4, 4, 5, 2))}),
        (FeatureClass.PLACE_AND_CALENDAR, {"surroundings": Surroundings((), Weather.DRY, (Incident.SURGE,))}),
    ],
)
def test_a_changed_value_moves_the_changed_time_of_its_class_alone(feature_class, change):
    state = folded(nothing_known(), full_report())
    later = folded(state, full_report(valid=5, **change), at=5)
    moved = np.flatnonzero(later.changed_epoch_minutes[ALPHA] == TEN_MINUTES + 5)
    assert moved.tolist() == [feature_class]


def test_a_value_that_went_and_came_back_within_one_fold_has_changed():
    state = folded(nothing_known(), report(arrivals_people=5))
    later = folded(state, report(valid=4, arrivals_people=5), report(valid=2, arrivals_people=6), at=5)
    assert later.changed_epoch_minutes[ALPHA, FeatureClass.ARRIVALS] == TEN_MINUTES + 4


def test_temperatures_and_volumes_may_come_from_different_reports():
    told = report(valid=0, fridges=(FridgeReading("alpha-big", 5.0, volume_used_litres=30.0),))
    only_volume = report(valid=5, fridges=(FridgeReading("alpha-big", volume_used_litres=40.0),))
    for state in (
        folded(folded(nothing_known(), told), only_volume, at=5),
        folded(nothing_known(), told, only_volume, at=5),
    ):
        assert state.fridges.temperature_celsius.tolist() == [5.0]
        assert state.fridges.volume_used_litres.tolist() == [40.0]
        assert state.source[ALPHA, FeatureClass.FRIDGES] == ReadingSource.CARRIED
        assert state.source[ALPHA, FeatureClass.COLD_VOLUME] == ReadingSource.REPORTED


def test_a_lot_in_a_fridge_that_no_report_tells_gets_a_row_of_unknowns():
    state = folded(nothing_known(), report(lots=(LotOnHand("L1", "red", "alpha-small", 6),)))
    assert state.fridges.fridge_id == ("alpha-small",)
    assert np.isnan(state.fridges.temperature_celsius[0])
    assert np.isnan(state.fridges.volume_used_litres[0])
    assert state.fridges.volume_possible_litres[0] == 20.0
    assert state.source[ALPHA, FeatureClass.COLD_VOLUME] == ReadingSource.ESTIMATED
    assert state.source[ALPHA, FeatureClass.FRIDGES] == ReadingSource.UNKNOWN


def test_an_expiry_once_told_stays_with_its_lot():
    with_expiry = report(lots=(LotOnHand("L1", "red", "alpha-big", 60, 0, minutes_later(6000)),))
    without = report(valid=5, lots=(LotOnHand("L1", "red", "alpha-small", 54), LotOnHand("L2", "red", "alpha-big", 6)))
    for state in (
        folded(folded(nothing_known(), with_expiry), without, at=5),
        folded(nothing_known(), without, with_expiry, at=5),
    ):
        np.testing.assert_array_equal(state.lots.expires_epoch_minutes, [TEN_MINUTES + 6000, np.nan])
        assert state.source[ALPHA, FeatureClass.LOT_EXPIRY] == ReadingSource.CARRIED
    late = folded(folded(nothing_known(), without, at=5), with_expiry, at=6)
    np.testing.assert_array_equal(late.lots.expires_epoch_minutes, [TEN_MINUTES + 6000, np.nan])


def test_rows_of_one_lot_in_one_fridge_are_added_up():
    told = report(
        lots=(
            LotOnHand("L1", "red", "alpha-big", 12, 1),
            LotOnHand("L2", "red", "alpha-big", 6, 0),
            LotOnHand("L1", "red", "alpha-big", 18, 2, minutes_later(60)),
            LotOnHand("L1", "red", "alpha-big", 6, 0, minutes_later(50)),
            LotOnHand("L1", "red", "alpha-small", 6, 0),
        )
    )
    lots = folded(nothing_known(), told, report("beta", lots=(LotOnHand("L1", "red", "alpha-big", 30),))).lots
    assert lots.lot_number == ("L1", "L2", "L1", "L1")
    assert lots.unopened_doses.tolist() == [36, 6, 6, 30]
    assert lots.open_vial_doses.tolist() == [3, 0, 0, 0]
    np.testing.assert_array_equal(lots.expires_epoch_minutes, [TEN_MINUTES + 50, np.nan, TEN_MINUTES + 50, np.nan])


def test_reports_of_sites_and_lots_that_the_city_no_longer_has_are_left_out():
    state = folded(nothing_known(), report("gone", arrivals_people=3), report(lots=(LotOnHand("L1", "gone", "f", 6),)))
    assert np.isnan(state.arrivals_people).all()
    assert len(state.lots.lot_number) == 0


def test_neither_the_previous_state_nor_its_arrays_are_written_to():
    state = folded(nothing_known(), full_report("alpha"), full_report("beta"))
    before = {
        field.name: np.array(getattr(state, field.name))
        for field in fields(state)
        if isinstance(getattr(state, field.name), np.ndarray)
    }
    people, doses, set_points = (
        state.staff.people.copy(),
        state.lots.unopened_doses.copy(),
        state.fridges.set_point_celsius.copy(),
    )
    folded(state, report(valid=5, arrivals_people=1, doses_given=9, waiting_people=None), at=65)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(state, name), value, err_msg=name)
    np.testing.assert_array_equal(state.staff.people, people)
    np.testing.assert_array_equal(state.lots.unopened_doses, doses)
    np.testing.assert_array_equal(state.fridges.set_point_celsius, set_points)


def test_past_weeks_of_the_wrong_shape_are_refused():
    state = nothing_known()
    with pytest.raises(ValueError, match="arrivals_past_weeks_people"):
        fold(state, (), no_past(state.city)[:, :3], Commitments(), TEN)


def test_past_weeks_and_commitments_are_handed_on():
    past = np.arange(3 * 4 * 24, dtype=np.float64).reshape(3, 4, 24)
    commitments = Commitments(frozen_site_ids=frozenset({"beta"}))
    state = fold(nothing_known(), (), past, commitments, TEN)
    np.testing.assert_array_equal(state.arrivals_past_weeks_people, past)
    assert state.commitments is commitments


# Strategies that leave most classes out, so that every class meets every order of being told and not told.
def maybe(strategy):
    return st.none() | strategy


counts = st.integers(0, 4)
by_stage = st.builds(ByStage, maybe(counts), maybe(counts), maybe(counts), maybe(counts))
lots = st.lists(
    st.builds(
        LotOnHand,
        st.sampled_from(["L1", "L2"]),
        st.sampled_from(["red", "blue"]),
        st.sampled_from(["big", "small", "other"]),
        counts,
        counts,
        maybe(st.integers(1, 3).map(lambda days: minutes_later(days * 1440))),
    ),
    max_size=3,
).map(tuple)
fridges = st.lists(
    st.builds(
        FridgeReading,
        st.sampled_from(["big", "small"]),
        maybe(st.sampled_from([4.0, 9.0])),
        maybe(st.just(5.0)),
        maybe(st.sampled_from([0.0, 7.0])),
        maybe(st.sampled_from(Power)),
        maybe(st.sampled_from([1.0, 2.0])),
        maybe(st.just(30.0)),
    ),
    max_size=2,
    unique_by=lambda fridge: fridge.fridge_id,
).map(tuple)
staff = st.lists(
    st.builds(
        StaffGroup, st.sampled_from(ROLES), counts, st.integers(-1, 3).map(lambda hours: minutes_later(hours * 60))
    ),
    max_size=3,
).map(tuple)


@st.composite
def any_reports(draw):
    valid = draw(st.integers(-12, 1)) * 2.5
    return report(
        draw(st.sampled_from(["alpha", "beta"])),
        valid,
        received=valid + draw(st.integers(0, 3)),
        report_id=str(draw(st.integers(0, 10**9))),
        arrivals_people=draw(maybe(counts)),
        waiting_people=draw(maybe(by_stage)),
        booked_people=draw(maybe(st.just((1, 2, 3, 4, 5, 6, 7, 8)))),
        doses_given=draw(maybe(counts)),
        staff=draw(maybe(staff)),
        stations=draw(maybe(st.builds(Stations, maybe(by_stage), maybe(by_stage)))),
        seats=draw(maybe(st.builds(Seats, maybe(counts), maybe(counts)))),
        lots=draw(maybe(lots)),
        fridges=draw(maybe(fridges)),
        surroundings=draw(maybe(st.builds(Surroundings, weather=maybe(st.sampled_from(Weather))))),
    )


@settings(max_examples=60)
@given(st.lists(any_reports(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_in_which_reports_arrive_does_not_matter(reports, random):
    state = folded(nothing_known(), full_report("beta", -30.0), at=-30)
    shuffled = list(reports)
    random.shuffle(shuffled)
    by_valid_at = sorted(reports, key=lambda one: (one.report.valid_at, one.received_at, one.report.report_id))
    assert_same(folded(state, *shuffled, at=5), folded(state, *by_valid_at, at=5))


@settings(max_examples=60)
@given(st.lists(any_reports(), max_size=4), st.sampled_from([0, 5, 40, 90, 800]))
def test_a_value_is_there_only_where_its_class_has_a_source(reports, age):
    told = {
        (one.report.site_id, name)
        for one in reports
        for name in ("arrivals_people", "doses_given")
        if getattr(one.report, name) is not None
    }
    state = folded(nothing_known(), *reports, at=age)
    for site_idx, site_id in enumerate(("alpha", "beta", "gamma")):
        for name in ("arrivals_people", "doses_given"):
            value = getattr(state, name)[site_idx]
            assert np.isnan(value) or (site_id, name) in told
    for feature_class, names in CLASS_TO_ARRAYS.items():
        is_unknown = state.source[:, feature_class] == ReadingSource.UNKNOWN
        for name in names:
            assert np.isnan(getattr(state, name)[is_unknown]).all(), name
    for feature_class, table in ((FeatureClass.STAFF_ON_DUTY, state.staff), (FeatureClass.DOSES_ON_HAND, state.lots)):
        assert (state.source[table.site_idx, feature_class] != ReadingSource.UNKNOWN).all()
    assert np.isnan(state.valid_epoch_minutes[GAMMA]).all()


CLASS_TO_ARRAYS = {
    FeatureClass.ARRIVALS: ("arrivals_people",),
    FeatureClass.WAITING_BY_STAGE: ("waiting_people",),
    FeatureClass.OBSERVED_WAIT: ("observed_wait_minutes",),
    FeatureClass.BOOKED_AHEAD: ("booked_people",),
    FeatureClass.DOSES_GIVEN: ("doses_given",),
    FeatureClass.STATIONS: ("stations_open",),
    FeatureClass.SEATS: ("seats_taken",),
}


@settings(max_examples=40)
@given(st.lists(any_reports(), min_size=1, max_size=5), st.integers(1, 4))
def test_readings_do_not_depend_on_how_reports_are_spread_over_folds(reports, cut):
    """What was reported and the times of it; estimates and changes depend on when one looked."""
    at_once = folded(nothing_known(), *reports, at=5)
    in_steps = folded(folded(nothing_known(), *reports[:cut], at=5), *reports[cut:], at=5)
    np.testing.assert_array_equal(at_once.valid_epoch_minutes, in_steps.valid_epoch_minutes)
    for name in ("arrivals_people", "doses_given", "booked_people", "stations_open", "stations_possible"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(in_steps, name), err_msg=name)
    np.testing.assert_array_equal(at_once.staff.people, in_steps.staff.people)
    assert at_once.lots.lot_number == in_steps.lots.lot_number
    np.testing.assert_array_equal(at_once.fridges.temperature_celsius, in_steps.fridges.temperature_celsius)


def test_a_city_of_one_site_folds():
    alone = {"neighbour_idx": np.full((1, 2), -1), "neighbour_travel_minutes": np.full((1, 2), np.nan)}
    state = folded(nothing_known(sites=make_city().sites[:1], vans=(), **alone), full_report())
    assert state.arrivals_people.tolist() == [7]
