"""Waits once the decisions have taken effect."""

from dataclasses import replace

import numpy as np
import pytest
from rules_city import AS_OF, calm_state, city_of, forecast_of

from doseflow.domain.decisions import StaffMove, StationChange, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import Role, Stage
from doseflow.policy.outlook import wait_outlook
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey

WHY = Why("understaffed")
MOVE = StaffMove("s1", "s0", Role.VACCINATOR, Role.VACCINATOR, AS_OF, 2, 10.0, WHY)


def _outlook(state, moves=(), changes=()):
    situation = survey(state, forecast_of(state, 1.2), NeedParams())
    return wait_outlook(situation, moves, changes)


def _crowded(**given):
    queue = np.zeros((2, 4))
    queue[0, 2] = 30.0
    return calm_state(city_of(2), waiting_people=queue, **given)


def test_a_queue_before_the_slowest_stage_is_its_length_over_its_speed():
    outlook = _outlook(_crowded())
    # 4 vaccinators serve one a minute, 1.2 come; both stages before serve one a minute too.
    assert outlook.served_per_minute == pytest.approx([1.0, 1.0])
    assert outlook.wait_minutes[0, 11] == pytest.approx(30 + 12, abs=1)


def test_whoever_is_sent_counts_where_they_go_and_not_where_they_were():
    # One observer and two of each other role more, so that vaccination is the slowest everywhere.
    state = _crowded(stations_open=np.array([[6.0, 6, 4, 6]] * 2))
    state = replace(state, staff=replace(state.staff, people=np.where(state.staff.role_idx < 2, 6, state.staff.people)))
    before, after = _outlook(state), _outlook(state, [MOVE])
    assert before.served_per_minute == pytest.approx([1.0, 1.0])
    assert after.served_per_minute == pytest.approx([1.5, 0.5])
    assert after.wait_minutes[0, -1] < before.wait_minutes[0, -1]
    on_the_way = replace(state, commitments=Commitments(under_way=(MOVE,)))
    assert _outlook(on_the_way).served_per_minute == pytest.approx([1.5, 1.0])


def test_a_station_that_opens_lets_more_people_serve():
    state = _crowded(stations_open=np.array([[6.0, 6, 2, 6]] * 2))
    opening = StationChange("s0", Stage.VACCINATION, 2, 4, WHY)
    assert _outlook(state).served_per_minute == pytest.approx([0.5, 0.5])
    assert _outlook(state, changes=[opening]).served_per_minute == pytest.approx([1.0, 0.5])


def test_an_unknown_queue_gives_an_unknown_wait():
    outlook = _outlook(_crowded(), ())
    unknown = _outlook(replace(_crowded(), waiting_people=np.full((2, 4), np.nan)))
    assert np.isfinite(outlook.peak_minutes).all()
    assert np.isnan(unknown.peak_minutes).all()
