"""What the queueing rules of the ladder say somebody is worth."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from rules_city import Group, calm_staff, calm_state, city_of, forecast_of, staff_table

from doseflow.domain.roles import ROLE_TO_IDX, Role
from doseflow.policy.c_mu import CMuParams, c_mu, c_mu_moves
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.max_pressure import pressure
from doseflow.policy.projected_queues import ProjectedWorth
from doseflow.policy.proportional import ProportionalParams, proportional_moves, shares_people
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey

PER_MINUTE = np.array([1 / 2, 1 / 2, 1 / 4])


def _situation(state, per_minute=0.4):
    return survey(state, forecast_of(state, per_minute), NeedParams())


def test_pressure_is_the_queue_less_the_next_one_times_the_rate():
    queues = np.array([[10.0], [4.0], [6.0]])
    assert pressure(queues, PER_MINUTE)[:, 0].tolist() == [3.0, 0.0, 1.5]


def test_c_mu_serves_the_fastest_first_and_nobody_where_nobody_waits():
    queues = np.array([[5.0], [0.0], [5.0]])
    worth = c_mu(queues, PER_MINUTE, CMuParams(least_queue_people=1.0))[:, 0]
    assert worth.tolist() == [0.5, 0.0, 0.25]


def test_with_costs_that_rise_a_longer_queue_comes_first():
    queues = np.array([[2.0, 20.0]] * 3)
    worth = c_mu(queues, PER_MINUTE, CMuParams(least_queue_people=1.0, cost_power=2.0))
    assert worth[2].tolist() == [2 * 2 / 4, 2 * 20 / 4]


def test_c_mu_leaves_nobody_idle_while_people_queue_within_reach():
    """Work-conserving: as long as a queue is projected, whoever would idle elsewhere and may go is sent."""
    waiting = np.zeros((3, 4))
    waiting[0, 2] = 200.0
    staff = staff_table(calm_staff(3, {(0, Role.VACCINATOR): 2, (1, Role.VACCINATOR): 9, (2, Role.VACCINATOR): 9}))
    state = calm_state(
        city_of(3), staff=staff, waiting_people=waiting, observed_wait_minutes=np.array([40.0, 1.0, 1.0])
    )
    moves = [one for one in c_mu_moves(_situation(state), CMuParams()) if one.role is Role.VACCINATOR]
    # A load of 1.6 needs 2 vaccinators; half of 9 may leave in one cycle.
    assert {(one.from_site_id, one.people) for one in moves} == {("s1", 4), ("s2", 4)}


def test_c_mu_sends_who_can_do_both_to_the_stage_that_serves_faster():
    waiting = np.zeros((2, 4))
    waiting[0, 1] = waiting[0, 2] = 100.0
    groups = [one for one in calm_staff(2) if (one.site, one.role) != (1, Role.SCREENER)]
    groups.append(Group(1, Role.SCREENER, 4, also=(Role.VACCINATOR,)))
    state = calm_state(
        city_of(2),
        staff=staff_table(groups),
        waiting_people=waiting,
        observed_wait_minutes=np.array([50.0, 1.0]),
    )
    sent = [one for one in c_mu_moves(_situation(state), CMuParams()) if one.role is Role.SCREENER]
    assert {one.works_as for one in sent} == {Role.SCREENER}


def test_a_projected_queue_is_worth_less_once_somebody_is_on_the_way_to_it():
    waiting = np.zeros((2, 4))
    waiting[0, 2] = 40.0
    state = calm_state(city_of(2), waiting_people=waiting)
    worth = ProjectedWorth(_situation(state, 1.0), LookAheadParams(), lambda queues: queues, 30.0)
    there, travel = np.array([0]), np.array([10.0])
    before = worth.gain(there, travel)[0].copy()
    worth.move(1, 0, 2, 2, 10.0)
    # At work for 30 minutes at a quarter a minute, but for the step in which the queue is read.
    assert before[2] - worth.gain(there, travel)[0, 2] == pytest.approx(30 / 4, abs=5 / 4)


def test_shares_are_as_the_load_and_add_up_to_the_people_of_the_city():
    state = calm_state(city_of(3))
    situation = _situation(state, np.array([0.2, 0.4, 0.6]))
    shares = shares_people(situation, ProportionalParams())
    assert shares.sum(axis=0) == pytest.approx([6, 6, 12, 6])
    assert shares[:, 2] == pytest.approx([2, 4, 6], rel=0.05)


def test_within_the_dead_band_nobody_moves():
    # Shares of 4 vaccinators each; off by one at either end makes a distance of 2.
    staff = staff_table(calm_staff(2, {(0, Role.VACCINATOR): 3, (1, Role.VACCINATOR): 5}))
    situation = _situation(calm_state(city_of(2), staff=staff))
    assert proportional_moves(situation, ProportionalParams(dead_band_people=2.5)) == []
    (move,) = proportional_moves(situation, ProportionalParams(dead_band_people=1.5))
    assert (move.from_site_id, move.to_site_id, move.people) == ("s1", "s0", 1)


def test_the_site_most_under_its_share_is_helped_first():
    staff = staff_table(calm_staff(3, {(0, Role.VACCINATOR): 1, (1, Role.VACCINATOR): 3, (2, Role.VACCINATOR): 12}))
    state = calm_state(city_of(3), staff=staff)
    state = replace(state, city=replace(state.city, limits=replace(state.city.limits, max_city_moved_people=2)))
    moves = partial(proportional_moves, params=ProportionalParams())(_situation(state))
    assert [(one.to_site_id, one.people, ROLE_TO_IDX[one.works_as]) for one in moves] == [("s0", 2, 2)]
