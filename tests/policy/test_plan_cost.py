"""The yardstick of plans agrees with the marginal values of the look-ahead, and knows what binds already."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from rules_city import AS_OF, calm_staff, calm_state, city_of, forecast_of, staff_table

from doseflow.domain.decisions import SendWalkIns, StaffMove, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import ROLE_TO_IDX, Role
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.person_values import PersonValues
from doseflow.policy.plan_cost import plan_cost_minutes
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey

VACCINATOR_IDX = ROLE_TO_IDX[Role.VACCINATOR]


@pytest.fixture
def state():
    """The first of five sites has a long queue before too few vaccinators, the last far too many of them."""
    waiting = np.zeros((5, 4))
    waiting[0, 2] = 40.0
    staff = staff_table(calm_staff(5, {(0, Role.VACCINATOR): 2, (4, Role.VACCINATOR): 9}))
    return calm_state(city_of(5), staff=staff, waiting_people=waiting)


def move(from_idx, to_idx, travel_minutes=15.0, people=1):
    return StaffMove(
        f"s{from_idx}",
        f"s{to_idx}",
        Role.VACCINATOR,
        Role.VACCINATOR,
        AS_OF + timedelta(hours=6),
        people,
        travel_minutes,
        Why("queue_ahead"),
    )


def change(state, *decisions):
    """What decisions change the cost of doing nothing by."""
    forecast = forecast_of(state, 0.5)
    return plan_cost_minutes(state, forecast, decisions) - plan_cost_minutes(state, forecast, ())


@pytest.mark.parametrize(("from_idx", "to_idx", "travel"), [(4, 0, 15.0), (4, 0, 60.0), (0, 4, 30.0), (2, 3, 15.0)])
def test_one_move_changes_it_by_what_is_lost_less_what_is_gained_and_the_way(state, from_idx, to_idx, travel):
    values = PersonValues(survey(state, forecast_of(state, 0.5), NeedParams()), LookAheadParams())
    lost = values.loss(np.array([from_idx]))[0, VACCINATOR_IDX]
    gained = values.gain(np.array([to_idx]), np.array([travel]))[0, VACCINATOR_IDX]
    assert change(state, move(from_idx, to_idx, travel)) == pytest.approx(lost - gained + travel, abs=0.5)


def test_sending_people_to_who_waits_is_better_than_taking_them_away(state):
    assert change(state, move(4, 0)) < -100
    assert change(state, move(0, 4)) > 100


def test_walk_ins_sent_from_a_full_site_to_an_empty_one_save_waiting_and_cost_the_way(state):
    sent = SendWalkIns("s0", "s4", 5, 10.0, Why("queue_ahead"))
    back = SendWalkIns("s4", "s0", 5, 10.0, Why("queue_ahead"))
    assert change(state, sent) < 0 < change(state, back)
    calm = calm_state(city_of(5))
    assert change(calm, sent) == pytest.approx(5 * 10.0, abs=25.0)


def test_a_move_that_binds_already_counts_once_whether_the_plan_names_it_or_not(state):
    bound = replace(state, commitments=Commitments(acknowledged=(move(4, 0),)))
    assert change(bound, move(4, 0)) == 0.0
    forecast = forecast_of(state, 0.5)
    assert plan_cost_minutes(bound, forecast, ()) < plan_cost_minutes(state, forecast, ())
