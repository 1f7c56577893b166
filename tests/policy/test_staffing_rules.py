"""Who is sent where."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_city import Group, calm_staff, calm_state, city_of, forecast_of, of_kind, random_state, staff_table

from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import ROLE_TO_IDX, Role
from doseflow.policy.rules_policy import RulesParams, RulesPolicy
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey
from doseflow.units import datetime_from_epoch_minutes, epoch_minutes_from_datetime

# Levels that are easy to reckon by hand; those that a city runs with are in NeedParams.
EAGER = RulesParams(
    needs=NeedParams(beta_target=0.5, beta_give=0.5, clear_queue_minutes=90.0, tolerated_wait_minutes=15.0)
)
VACCINATOR = Role.VACCINATOR


def _moves(state, per_minute=0.8, params=EAGER):
    return of_kind(RulesPolicy(params)(state, forecast_of(state, per_minute)).decisions, StaffMove)


def _short_site_0(num_sites=4, vaccinators=None, **given):
    """Site 0 has one vaccinator of the four or five that it needs, some others have many."""
    overrides = {(0, VACCINATOR): 1} | {(site, VACCINATOR): people for site, people in (vaccinators or {}).items()}
    given.setdefault("staff", staff_table(calm_staff(num_sites, overrides)))
    city = given.pop("city", None) or city_of(num_sites)
    return calm_state(city, **given)


def test_a_calm_city_moves_nobody():
    assert _moves(calm_state(city_of(4))) == []


def test_a_short_site_is_brought_to_its_target_by_the_nearest_surplus():
    moves = _moves(_short_site_0(vaccinators={2: 12, 3: 12}))
    # A load of 3.2 and half its root: 4.1, so 5 people; 1 is there.
    assert [(move.from_site_id, move.people, move.travel_minutes) for move in moves] == [("s2", 4, 20.0)]
    assert moves[0].role is moves[0].works_as is VACCINATOR
    assert moves[0].why == Why("understaffed", {"needed_people": 5.0, "on_duty_people": 1.0})


def test_what_the_nearest_cannot_spare_comes_from_the_next():
    moves = _moves(_short_site_0(vaccinators={1: 7, 2: 7, 3: 12}))
    # With a load of 3.2 a giver keeps 5.
    assert [(move.from_site_id, move.people) for move in moves] == [("s1", 2), ("s2", 2)]


def test_a_site_that_is_not_under_the_call_level_gets_nobody():
    # 4 vaccinators are under the target of 5 and not under the load of 3.2.
    assert _moves(_short_site_0(staff=staff_table(calm_staff(4, {(1, VACCINATOR): 12})))) == []


def test_a_queue_calls_for_people_and_is_the_reason():
    waiting = np.zeros((2, 4))
    waiting[0, 2] = 40.0
    state = calm_state(city_of(2), waiting_people=waiting, staff=staff_table(calm_staff(2, {(1, VACCINATOR): 12})))
    (move,) = _moves(state)
    assert move.to_site_id == "s0"
    assert move.why.code == "queue_relief"
    facts = move.why.facts
    assert facts["wait_minutes"] > 30
    assert facts["giver_wait_minutes"] == 0
    assert facts["expected_saving_minutes"] > 100


def test_the_shortest_of_hands_is_helped_first_when_there_is_not_enough_for_all():
    staff = staff_table(
        calm_staff(3, {(0, VACCINATOR): 2, (1, VACCINATOR): 12, (2, Role.REGISTRAR): 0, (2, VACCINATOR): 0})
    )
    city = city_of(3, limits=OperatingLimits(max_city_moved_people=4))
    moves = _moves(calm_state(city, staff=staff))
    assert sum(move.people for move in moves) == 4
    # Site 2 is below its minimum team.
    assert {move.to_site_id for move in moves} == {"s2"}


def test_cross_qualified_people_fill_another_role_after_those_whose_role_it_is():
    groups = [
        *calm_staff(3, {(0, VACCINATOR): 1}),
        Group(1, Role.SCREENER, 8, also=(VACCINATOR,)),
        Group(1, VACCINATOR, 3),
    ]
    moves = _moves(calm_state(city_of(3), staff=staff_table(groups)))
    assert [(move.role, move.works_as, move.people) for move in moves] == [
        (VACCINATOR, VACCINATOR, 2),
        (Role.SCREENER, VACCINATOR, 2),
    ]


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (Group(1, VACCINATOR, 12, hours_left=1.1), "10 min of travel and 60 min of stay do not fit into the shift"),
        (Group(1, VACCINATOR, 12, moves_today=1), "they were moved before"),
        (Group(1, VACCINATOR, 12, reserved=12), "they are promised to another order"),
    ],
)
def test_people_who_may_not_move_do_not(group, reason):
    groups = [one for one in calm_staff(2, {(0, VACCINATOR): 1}) if (one.site, one.role) != (1, VACCINATOR)]
    state = calm_state(city_of(2), staff=staff_table([*groups, group]))
    assert _moves(state) == [], reason


def test_a_break_that_falls_due_is_protected():
    breaks = np.zeros((2, 4))
    breaks[1, ROLE_TO_IDX[VACCINATOR]] = 6
    staff = staff_table(calm_staff(2, {(0, VACCINATOR): 1, (1, VACCINATOR): 12}))
    (move,) = _moves(calm_state(city_of(2), staff=staff, breaks_due_people=breaks))
    assert move.people == 1


def test_at_most_half_of_a_role_leaves_in_one_cycle():
    staff = staff_table(calm_staff(2, {(0, VACCINATOR): 0, (1, VACCINATOR): 7}))
    (move,) = _moves(calm_state(city_of(2), staff=staff), per_minute=np.array([0.8, 0.01]))
    assert move.people == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"commitments": Commitments(frozen_site_ids=frozenset({"s0"}))},
        {"commitments": Commitments(frozen_site_ids=frozenset({"s1"}))},
        {"commitments": Commitments(suspended_site_ids=frozenset({"s0"}))},
        {"is_open": np.array([False, True])},
        {"open_minutes_left": np.array([60.0, 480.0])},
        {"observed_wait_minutes": np.array([1.0, 9.0])},
        {"stations_open": np.array([[2.0, 2, 4, 2], [2, 2, np.nan, 2]])},
    ],
)
def test_sites_that_must_be_left_alone_neither_give_nor_receive(changes):
    state = _short_site_0(num_sites=2, vaccinators={1: 12})
    assert len(_moves(state)) == 1
    assert _moves(replace(state, **changes)) == []


def test_a_site_whose_staff_reading_is_old_neither_gives_nor_receives():
    state = _short_site_0(num_sites=2, vaccinators={1: 12})
    for site in (0, 1):
        old = state.valid_epoch_minutes.copy()
        old[site] -= 31
        assert _moves(replace(state, valid_epoch_minutes=old)) == []


def test_a_site_out_of_reach_does_not_give():
    assert _moves(_short_site_0(num_sites=2, vaccinators={1: 12}, city=city_of(2, travel_minutes=61))) == []


def test_a_suspended_site_gives_all_it_may():
    state = _short_site_0(num_sites=2, commitments=Commitments(suspended_site_ids=frozenset({"s1"})))
    (move,) = _moves(state)
    assert (move.from_site_id, move.people) == ("s1", 2)


def _sent(state, people=2, from_site="s2"):
    (first,) = set(state.staff.shift_ends_epoch_minutes.tolist())
    return StaffMove(
        from_site_id=from_site,
        to_site_id="s0",
        role=VACCINATOR,
        works_as=VACCINATOR,
        shift_ends_at=datetime_from_epoch_minutes(first),
        people=people,
        travel_minutes=20.0,
        why=Why("understaffed", {"needed_people": 9.0, "on_duty_people": 1.0}),
    )


def test_what_was_sent_and_is_still_wanted_is_proposed_again_unchanged():
    state = _short_site_0(vaccinators={1: 12, 2: 12})
    sent = _sent(state)
    moves = _moves(replace(state, commitments=Commitments(sent=(sent,))))
    # A fresh plan would take all four from site 1, which is nearer.
    assert moves[0] == sent
    assert [(move.from_site_id, move.people) for move in moves[1:]] == [("s1", 2)]


def test_what_was_sent_stands_although_the_shortage_alone_would_not_call_any_more():
    # 4 present: under the target, not under the call level.
    staff = staff_table(calm_staff(4, {(2, VACCINATOR): 12}))
    state = calm_state(city_of(4), staff=staff)
    sent = _sent(state, people=1)
    assert _moves(state) == []
    assert _moves(replace(state, commitments=Commitments(sent=(sent,)))) == [sent]


def test_what_was_sent_is_left_out_once_the_receiver_has_enough():
    staff = staff_table(calm_staff(4, {(0, VACCINATOR): 5, (2, VACCINATOR): 12}))
    state = calm_state(city_of(4), staff=staff)
    assert _moves(replace(state, commitments=Commitments(sent=(_sent(state),)))) == []


def test_what_was_sent_is_left_out_once_the_giver_is_short_itself():
    state = _short_site_0(vaccinators={1: 12, 2: 4})
    moves = _moves(replace(state, commitments=Commitments(sent=(_sent(state),))))
    assert {move.from_site_id for move in moves} == {"s1"}


@pytest.mark.parametrize("kind", ["acknowledged", "under_way"])
def test_people_already_on_their_way_are_not_asked_for_again(kind):
    state = _short_site_0(vaccinators={1: 12, 2: 12})
    moves = _moves(replace(state, commitments=Commitments(**{kind: (_sent(state, people=3),)})))
    assert moves == []
    moves = _moves(replace(state, commitments=Commitments(**{kind: (_sent(state, people=1),)})))
    assert [(move.from_site_id, move.people) for move in moves] == [("s1", 3)]


def test_what_was_refused_is_asked_of_somebody_else():
    state = _short_site_0(vaccinators={1: 12, 2: 12})
    (asked,) = _moves(state)
    assert asked.from_site_id == "s1"
    moves = _moves(replace(state, commitments=Commitments(refused=(asked,))))
    assert {move.from_site_id for move in moves} == {"s2"}


def test_what_is_pinned_is_proposed_and_counted():
    state = calm_state(city_of(4))
    pin = _sent(state, people=1)
    assert _moves(replace(state, commitments=Commitments(pinned=(pin,)))) == [pin]


@given(seed=st.integers(0, 10_000), unknown_share=st.sampled_from([0.0, 0.0, 0.1, 0.4]))
def test_nobody_is_sent_who_is_not_there_and_no_giver_ends_below_its_need(seed, unknown_share):
    state, forecast = random_state(10, seed, unknown_share=unknown_share)
    moves = of_kind(RulesPolicy()(state, forecast).decisions, StaffMove)
    needs = survey(state, forecast, RulesParams().needs).needs
    sites = state.city.site_to_idx
    taken, leaving = Counter(), Counter()
    for move in moves:
        taken[
            sites[move.from_site_id], ROLE_TO_IDX[move.role], round(epoch_minutes_from_datetime(move.shift_ends_at))
        ] += move.people
        leaving[sites[move.from_site_id], ROLE_TO_IDX[move.role]] += move.people
    staff = state.staff
    there, staying = Counter(), Counter()
    for row in range(len(staff.people)):
        cell = int(staff.site_idx[row]), int(staff.role_idx[row])
        free = int(staff.people[row] - staff.reserved_people[row]) * (staff.moves_today[row] == 0)
        there[(*cell, round(np.nan_to_num(staff.shift_ends_epoch_minutes[row])))] += free
        if staff.shift_ends_epoch_minutes[row] >= epoch_minutes_from_datetime(state.as_of) + 30:
            staying[cell] += int(staff.people[row] - staff.reserved_people[row])
    assert all(people <= there[group] for group, people in taken.items())
    breaks = np.nan_to_num(state.breaks_due_people)
    assert all(staying[cell] - breaks[cell] - people >= needs.give_people[cell] for cell, people in leaving.items())
    assert sum(leaving.values()) <= state.city.limits.max_city_moved_people


@given(seed=st.integers(0, 10_000))
def test_no_nearer_surplus_is_left_over(seed):
    """Where a receiver takes from a farther site, no nearer one could still have spared the same people to it."""
    state, forecast = random_state(10, seed)
    moves = of_kind(RulesPolicy()(state, forecast).decisions, StaffMove)
    situation = survey(state, forecast, RulesParams().needs)
    sites, travel = state.city.site_to_idx, state.city.travel_by_pair
    spare = situation.heads.staying_people - situation.needs.give_people
    spare = np.where((situation.standing.operating & situation.standing.staff_fresh)[:, None], spare, 0.0)
    for move in moves:
        spare[sites[move.from_site_id], ROLE_TO_IDX[move.role]] -= move.people
    for move in moves:
        to_idx, role_idx = sites[move.to_site_id], ROLE_TO_IDX[move.works_as]
        for row in range(len(state.staff.people)):
            near = int(state.staff.site_idx[row])
            could = (
                near != to_idx
                and state.staff.role_idx[row] == role_idx
                and travel.get((near, to_idx), np.inf) < move.travel_minutes
                and state.staff.people[row] >= 1
                and state.staff.moves_today[row] == 0
                and state.staff.shift_ends_epoch_minutes[row]
                >= epoch_minutes_from_datetime(state.as_of) + travel[near, to_idx] + state.city.limits.min_stay_minutes
                and not state.observed_wait_minutes[near] > state.observed_wait_minutes[to_idx]
            )
            untouched = not any(one.from_site_id == f"s{near}" for one in moves)
            assert not (
                could and untouched and spare[near, role_idx] >= 1 and _may_close(state, situation, near, role_idx)
            )


def _may_close(state, situation, site_idx, role_idx):
    unneeded = situation.heads.now_people[site_idx, role_idx] - state.stations_open[site_idx, role_idx]
    return unneeded >= 1 or situation.standing.stations_fresh[site_idx]
