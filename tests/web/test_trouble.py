from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.report import Incident
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import StaffTable
from doseflow.state.unknown import unknown_state
from doseflow.web.report_age import report_age_minutes
from doseflow.web.trouble import Trouble, TroubleCode, TroubleParams, find_troubles, trouble_score

PARAMS = TroubleParams()
FRESH = 0.0


@pytest.fixture
def calm(played):
    """A state in which every site is open, everything is known and nothing is wrong."""
    state = played.play().state
    num_sites = state.city.num_sites
    fridges = replace(
        state.fridges,
        temperature_celsius=np.full(len(state.fridges.fridge_id), 5.0),
        set_point_celsius=np.full(len(state.fridges.fridge_id), 5.0),
        excursion_minutes=np.zeros(len(state.fridges.fridge_id)),
        power_on=np.ones(len(state.fridges.fridge_id)),
    )
    return replace(
        state,
        is_open=np.ones(num_sites, dtype=bool),
        observed_wait_minutes=np.full(num_sites, 4.0),
        booked_people=np.zeros((num_sites, 8)),
        seats_taken=np.zeros(num_sites),
        seats_possible=np.full(num_sites, 10.0),
        incidents=np.zeros_like(state.incidents),
        staff=full_staff(num_sites),
        source=np.zeros_like(state.source),
        fridges=fridges,
        commitments=replace(state.commitments, suspended_site_ids=frozenset()),
    )


def full_staff(num_sites: int) -> StaffTable:
    """Nine people of every role at every site."""
    site_idx, role_idx = (axis.ravel() for axis in np.indices((num_sites, NUM_ROLES)))
    num_rows = len(site_idx)
    zeros = np.zeros(num_rows, dtype=np.int64)
    return StaffTable(
        site_idx=site_idx,
        role_idx=role_idx,
        people=zeros + 9,
        shift_ends_epoch_minutes=np.full(num_rows, 1e8),
        moves_today=zeros,
        qualified=np.eye(NUM_ROLES, dtype=bool)[role_idx],
        reserved_people=zeros,
    )


def codes(state, age_minutes=FRESH, site_idx=0) -> list[TroubleCode]:
    ages = np.full(state.city.num_sites, FRESH)
    ages[site_idx] = age_minutes
    return [trouble.code for trouble in find_troubles(state, ages, PARAMS)[site_idx]]


def changed(array, value, site_idx=0):
    copy = array.copy()
    copy[site_idx] = value
    return copy


def test_a_calm_site_has_no_trouble(calm):
    assert all(codes(calm, site_idx=idx) == [] for idx in range(calm.city.num_sites))


@pytest.mark.parametrize(("wait", "expected"), [(24.9, []), (25.0, [TroubleCode.WAIT_LONG]), (np.nan, [])])
def test_a_wait_is_a_trouble_from_the_busy_band_on(calm, wait, expected):
    assert codes(replace(calm, observed_wait_minutes=changed(calm.observed_wait_minutes, wait))) == expected


@pytest.mark.parametrize(
    ("celsius", "expected"),
    [(8.0, []), (8.1, [TroubleCode.FRIDGE_OUT_OF_BAND]), (1.5, [TroubleCode.FRIDGE_OUT_OF_BAND]), (np.nan, [])],
)
def test_a_fridge_is_a_trouble_outside_its_band_only(calm, celsius, expected):
    row = int(np.flatnonzero(calm.fridges.site_idx == 0)[0])
    fridges = replace(calm.fridges, temperature_celsius=changed(calm.fridges.temperature_celsius, celsius, row))
    assert codes(replace(calm, fridges=fridges)) == expected


def test_a_fridge_troubles_its_own_site_alone(calm):
    row = int(np.flatnonzero(calm.fridges.site_idx == 1)[0])
    fridges = replace(calm.fridges, temperature_celsius=changed(calm.fridges.temperature_celsius, 20.0, row))
    state = replace(calm, fridges=fridges)
    assert codes(state, site_idx=0) == []
    trouble = find_troubles(state, np.zeros(state.city.num_sites), PARAMS)[1][0]
    assert trouble.facts["temperature_celsius"] == 20.0


def test_power_that_is_unknown_is_no_alarm_and_power_that_is_off_is(calm):
    row = int(np.flatnonzero(calm.fridges.site_idx == 0)[0])
    for power, expected in ((np.nan, []), (0.0, [TroubleCode.FRIDGE_WITHOUT_POWER])):
        fridges = replace(calm.fridges, power_on=changed(calm.fridges.power_on, power, row))
        assert codes(replace(calm, fridges=fridges)) == expected


def test_doses_are_short_when_fewer_than_the_people_booked_within_the_hour(calm):
    unopened = np.where(calm.lots.site_idx == 0, 0, 600)
    lots = replace(calm.lots, unopened_doses=unopened, open_vial_doses=0 * unopened)
    nobody = replace(calm, lots=lots)
    somebody = replace(nobody, booked_people=changed(calm.booked_people, 3.0))
    unknown = replace(somebody, source=changed(calm.source, ReadingSource.UNKNOWN))
    assert codes(nobody) == []
    assert codes(somebody) == [TroubleCode.DOSES_SHORT]
    assert TroubleCode.DOSES_SHORT not in codes(unknown)


def test_later_bookings_do_not_make_doses_short_now(calm):
    lots = replace(calm.lots, unopened_doses=0 * calm.lots.site_idx, open_vial_doses=0 * calm.lots.site_idx)
    booked = np.zeros_like(calm.booked_people)
    booked[:, 4:] = 50.0
    assert codes(replace(calm, lots=lots, booked_people=booked)) == []


def test_a_team_below_the_minimum_is_told_with_the_number_missing(calm):
    staff = replace(calm.staff, people=np.where(calm.staff.site_idx == 0, 0, 9))
    state = replace(calm, staff=staff)
    trouble = find_troubles(state, np.zeros(state.city.num_sites), PARAMS)[0][0]
    assert trouble.code is TroubleCode.TEAM_INCOMPLETE
    assert trouble.facts == {"missing_people": float(sum(state.city.sites[0].minimum_team))}
    unknown = changed(calm.source[:, FeatureClass.STAFF_ON_DUTY], ReadingSource.UNKNOWN)
    source = calm.source.copy()
    source[:, FeatureClass.STAFF_ON_DUTY] = unknown
    assert codes(replace(state, source=source)) == []


def test_full_seats_old_data_silence_incidents_and_suspension_are_told(calm):
    assert codes(replace(calm, seats_taken=changed(calm.seats_taken, 10.0))) == [TroubleCode.SEATS_FULL]
    assert codes(calm, age_minutes=15.0) == []
    assert codes(calm, age_minutes=15.1) == [TroubleCode.DATA_OLD]
    assert codes(calm, age_minutes=np.nan) == [TroubleCode.NEVER_REPORTED]
    incidents = calm.incidents.copy()
    incidents[0, list(Incident).index(Incident.POWER_CUT)] = True
    assert codes(replace(calm, incidents=incidents)) == [TroubleCode.POWER_CUT]
    suspended = replace(calm.commitments, suspended_site_ids=frozenset({calm.city.sites[0].site_id}))
    assert codes(replace(calm, commitments=suspended)) == [TroubleCode.SUSPENDED]


def test_a_closed_site_is_troubled_by_its_fridge_and_not_by_its_queue(calm):
    row = int(np.flatnonzero(calm.fridges.site_idx == 0)[0])
    fridges = replace(calm.fridges, temperature_celsius=changed(calm.fridges.temperature_celsius, 20.0, row))
    state = replace(
        calm,
        is_open=changed(calm.is_open, False),
        observed_wait_minutes=changed(calm.observed_wait_minutes, 99.0),
        fridges=fridges,
    )
    assert codes(state, age_minutes=400.0) == [TroubleCode.FRIDGE_OUT_OF_BAND]


def test_a_city_of_which_nothing_is_known_raises_no_alarm_but_silence(played):
    state = unknown_state(played.city.city, played.clock.now())
    ages = report_age_minutes(state, played.clock.now())
    assert {each.code for troubles in find_troubles(state, ages, PARAMS) for each in troubles} <= {
        TroubleCode.NEVER_REPORTED
    }


@given(st.lists(st.floats(0, 100), max_size=8))
def test_a_score_lies_between_the_worst_trouble_and_100(scores):
    troubles = tuple(Trouble(TroubleCode.SURGE, score, {}) for score in sorted(scores, reverse=True))
    assert max(scores, default=0.0) - 0.05 <= trouble_score(troubles) <= 100


def test_a_wait_that_grows_never_sinks_on_the_list(calm):
    waits = np.array([10.0, 26.0, 49.0, 51.0, 120.0, 400.0])[: calm.city.num_sites]
    state = replace(calm, observed_wait_minutes=waits)
    scores = [trouble_score(each) for each in find_troubles(state, np.zeros(len(waits)), PARAMS)]
    assert scores == sorted(scores)
    assert scores[3] > scores[1]


@pytest.mark.parametrize("wrong", [{"busy_wait_minutes": 60}, {"busy_wait_minutes": 0}, {"old_report_minutes": 0}])
def test_bands_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TroubleParams(**wrong)
