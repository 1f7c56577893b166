"""Which stations open and close."""

from dataclasses import replace

import numpy as np
import pytest
from rules_city import calm_staff, calm_state, city_of, forecast_of, of_kind, staff_table

from doseflow.domain.decisions import StationChange, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import Role, Stage
from doseflow.policy.rules_policy import RulesParams, RulesPolicy
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.static_roster import StaticRoster

VACCINATION = Stage.VACCINATION


def _changes(state, per_minute=0.4, policy=None):
    return of_kind((policy or RulesPolicy())(state, forecast_of(state, per_minute)).decisions, StationChange)


def _vaccinators(people, open_stations, num_sites=1, **given):
    stations = np.array([[2.0, 2, open_stations, 2]] + [[2.0, 2, 4, 2]] * (num_sites - 1))
    staff = staff_table(calm_staff(num_sites, {(0, Role.VACCINATOR): people}))
    return calm_state(city_of(num_sites), staff=staff, stations_open=stations, **given)


def test_a_calm_city_changes_nothing():
    assert _changes(calm_state(city_of(3))) == []


def test_a_station_opens_for_everybody_on_duty_whom_the_load_can_use():
    assert _changes(_vaccinators(6, 4), per_minute=1.0) == [
        StationChange("s0", VACCINATION, 4, 6, Why("stations_to_staff", {"people": 6.0}))
    ]


def test_stations_that_would_stand_idle_stay_closed():
    # A load of 0.8: 0.8 + 2 * root = 2.6, so 3 of the 6 would find work.
    assert _changes(_vaccinators(6, 2), per_minute=0.2)[0].open_stations == 3


def test_a_station_with_its_person_does_not_close_because_little_is_to_be_done():
    assert _changes(_vaccinators(6, 6), per_minute=0.05) == []


def test_a_station_that_nobody_staffs_closes():
    assert _changes(_vaccinators(3, 5)) == [
        StationChange("s0", VACCINATION, 5, 3, Why("unstaffed_station", {"people": 3.0}))
    ]


def test_stations_of_people_who_are_sent_away_close_with_them():
    state = _vaccinators(10, 10, num_sites=2)
    state = replace(state, staff=staff_table(calm_staff(2, {(0, Role.VACCINATOR): 10, (1, Role.VACCINATOR): 1})))
    eager = RulesParams(needs=NeedParams(beta_target=0.5, beta_give=0.5, clear_queue_minutes=90.0))
    decisions = RulesPolicy(eager)(state, forecast_of(state, np.array([0.4, 0.8]))).decisions
    leaving = decisions[0].people
    change = next(one for one in of_kind(decisions, StationChange) if one.site_id == "s0")
    assert leaving == 4
    assert (change.open_before, change.open_stations) == (10, 6)


def test_people_on_their_way_open_no_station_before_they_arrive():
    state = _vaccinators(10, 10, num_sites=2)
    state = replace(state, staff=staff_table(calm_staff(2, {(0, Role.VACCINATOR): 10, (1, Role.VACCINATOR): 1})))
    changes = _changes(state, np.array([0.4, 0.8]))
    assert [one.open_stations for one in changes if one.site_id == "s1"] == [1]


def test_one_cycle_changes_no_more_stations_than_the_limit():
    assert _changes(_vaccinators(11, 1), per_minute=2.0)[0].open_stations == 5
    assert _changes(_vaccinators(1, 9), per_minute=2.0)[0].open_stations == 5


def test_no_more_stations_open_than_there_are():
    state = _vaccinators(9, 4, stations_possible=np.array([[6.0, 6, 5, 6]]))
    assert _changes(state, per_minute=2.0)[0].open_stations == 5


def test_no_more_vaccination_stations_open_than_fill_the_seats():
    # 20 seats at 4 minutes a dose and 15 minutes a stay: 5 stations fill them.
    state = _vaccinators(9, 4, seats_possible=np.array([20.0]))
    assert _changes(state, per_minute=2.0)[0].open_stations == 5


def test_vaccination_does_not_begin_without_a_whole_team():
    people = {(0, Role.OBSERVER): 0, (0, Role.VACCINATOR): 4}
    state = calm_state(city_of(1), staff=staff_table(calm_staff(1, people)), stations_open=np.array([[2.0, 2, 0, 0]]))
    assert _changes(state) == []
    whole = replace(state, staff=staff_table(calm_staff(1)))
    assert {one.stage for one in _changes(whole)} == {VACCINATION, Stage.OBSERVATION}


def test_a_suspended_site_closes_every_station():
    state = _vaccinators(9, 9, commitments=Commitments(suspended_site_ids=frozenset({"s0"})))
    changes = _changes(state)
    assert {one.stage: one.open_stations for one in changes} == dict.fromkeys(Stage, 0)
    assert {one.why.code for one in changes} == {"suspended"}


@pytest.mark.parametrize(
    "changes",
    [
        {"commitments": Commitments(frozen_site_ids=frozenset({"s0"}))},
        {"is_open": np.array([False])},
        {"stations_open": np.full((1, 4), np.nan)},
    ],
)
def test_a_site_that_must_be_left_alone_is(changes):
    state = _vaccinators(8, 4)
    assert len(_changes(state, 1.0)) == 1
    assert _changes(replace(state, **changes), 1.0) == []


def test_what_was_sent_stands_while_it_is_within_one_station_of_what_is_wanted():
    state = _vaccinators(6, 3)
    sent = StationChange("s0", VACCINATION, 2, 5, Why("stations_to_staff", {"people": 5.0}))
    (change,) = _changes(replace(state, commitments=Commitments(sent=(sent,))), per_minute=1.0)
    assert (change.key, change.open_before, change.open_stations) == (sent.key, 3, 5)


def test_what_was_sent_to_a_site_that_is_frozen_meanwhile_is_left_out():
    sent = StationChange("s0", VACCINATION, 4, 5, Why("stations_to_staff", {"people": 5.0}))
    commitments = Commitments(sent=(sent,), frozen_site_ids=frozenset({"s0"}))
    assert _changes(_vaccinators(5, 4, commitments=commitments), per_minute=1.0) == []


def test_what_was_sent_and_cannot_be_staffed_any_more_is_left_out():
    sent = StationChange("s0", VACCINATION, 4, 6, Why("stations_to_staff", {"people": 6.0}))
    state = _vaccinators(4, 4, commitments=Commitments(sent=(sent,)))
    assert _changes(state, per_minute=1.0) == []


@pytest.mark.parametrize("kind", ["acknowledged", "under_way", "refused"])
def test_what_is_being_done_or_was_refused_is_not_asked_again(kind):
    state = _vaccinators(6, 4)
    (wanted,) = _changes(state, 1.0)
    assert _changes(replace(state, commitments=Commitments(**{kind: (wanted,)})), 1.0) == []


def test_what_is_pinned_goes_before_what_the_rules_want():
    pin = StationChange("s0", VACCINATION, 4, 1, Why("pinned"))
    state = _vaccinators(6, 4, commitments=Commitments(pinned=(pin,)))
    assert _changes(state, 1.0) == [pin]
    done = _vaccinators(6, 1, commitments=Commitments(pinned=(pin,)))
    assert _changes(done, 1.0) == []


def test_the_static_roster_opens_what_it_has_people_for_and_does_nothing_else():
    state = _vaccinators(7, 4, num_sites=2)
    waiting = np.full((2, 4), 90.0)
    decisions = StaticRoster()(replace(state, waiting_people=waiting), forecast_of(state, 0.05)).decisions
    assert decisions == (StationChange("s0", VACCINATION, 4, 7, Why("stations_to_staff", {"people": 7.0})),)
