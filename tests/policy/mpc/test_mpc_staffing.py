"""The rule as a planner of the ladder uses it: on whole states, with the referee looking on."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from rules_city import Group, calm_staff, calm_state, city_of, forecast_of, of_kind, random_state, staff_table

from doseflow.domain.decisions import StaffMove
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import Role
from doseflow.feasible.referee import referee
from doseflow.policy.mpc.givers import givers, kept_people
from doseflow.policy.mpc.mpc_staffing import mpc_staffing, myopic_staffing, scenario_staffing
from doseflow.policy.mpc.params import FluidParams, MpcParams, MyopicParams, ScenarioParams
from doseflow.policy.rules_policy import RulesPolicy
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey

MAKERS = {
    "lp": lambda fluid: myopic_staffing(MyopicParams(fluid=fluid)),
    "mpc6": lambda fluid: mpc_staffing(MpcParams(num_periods=6, fluid=fluid)),
    "mpc12": lambda fluid: mpc_staffing(MpcParams(num_periods=12, fluid=fluid)),
    "scenario_mpc": lambda fluid: scenario_staffing(ScenarioParams(num_futures=3, fluid=fluid)),
}
VACCINATOR = Role.VACCINATOR


def rule(name, **fluid):
    return MAKERS[name](FluidParams(**fluid))


def moves_of(name, state, forecast=None, **fluid):
    staffing = rule(name, **fluid)
    moves = staffing(survey(state, forecast or forecast_of(state, 0.5), NeedParams()))
    return staffing, moves


def crowded_state(**given):
    """A queue for the needle at site 0, where 2 vaccinate, and 9 vaccinators at site 1 who are hardly needed."""
    waiting = np.zeros((3, 4))
    waiting[0, 2] = 60.0
    staff = staff_table(calm_staff(3, {(0, VACCINATOR): 2, (1, VACCINATOR): 9}))
    return calm_state(city_of(3), **({"waiting_people": waiting, "staff": staff} | given))


@pytest.mark.parametrize("name", MAKERS)
def test_a_calm_city_moves_nobody_and_asks_no_solver(name):
    staffing, moves = moves_of(name, calm_state(city_of(4)))
    assert moves == []
    assert (staffing.record.solved, staffing.record.without_need) == (0, 1)


@pytest.mark.parametrize("name", MAKERS)
def test_a_queue_is_sent_those_who_are_hardly_needed(name):
    staffing, moves = moves_of(name, crowded_state(), move_minutes=100.0)
    assert staffing.record.solved == 1
    assert {(move.to_site_id, move.role) for move in moves} == {("s0", VACCINATOR)}
    people = {move.from_site_id: move.people for move in moves}
    assert 2 <= people["s1"] <= 4
    assert people.get("s2", 0) <= people["s1"] - 2
    assert all(move.why.code == "queue_relief" for move in moves)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(6))
def test_the_referee_has_nothing_against_the_moves_in_a_city_in_disorder(name, seed):
    state, forecast = random_state(8, seed, unknown_share=0.1 * (seed % 2))
    proposal = RulesPolicy(name=name, staffing=rule(name))(state, forecast)
    staff_rules = {"staff_on_hand", "staff_qualified", "moves_per_shift", "break_protected", "churn_per_role"}
    staff_rules |= {"churn_city", "shift_covers_move", "travel_reach", "minimum_team"}
    broken = [one for one in referee(state, forecast, proposal.decisions) if one.hard and one.rule in staff_rules]
    assert broken == []


@pytest.mark.parametrize("name", MAKERS)
def test_in_some_city_in_disorder_somebody_is_sent(name):
    assert any(moves_of(name, *random_state(8, seed))[1] for seed in range(6))


@pytest.mark.parametrize("seed", range(4))
def test_no_group_gives_more_people_than_it_has(seed):
    state, forecast = random_state(8, seed)
    _, moves = moves_of("mpc6", state, forecast)
    have, gone = Counter(), Counter()
    staff = state.staff
    for row in range(len(staff.people)):
        have[int(staff.site_idx[row]), int(staff.role_idx[row])] += int(staff.people[row])
    for move in moves:
        gone[state.city.site_to_idx[move.from_site_id], list(Role).index(move.role)] += move.people
    assert all(gone[cell] <= max(1, have[cell] / 2) for cell in gone)


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_state_gives_the_same_moves(name):
    state, forecast = random_state(8, 3)
    assert moves_of(name, state, forecast)[1] == moves_of(name, state, forecast)[1]


def test_scenario_mpc_with_futures_that_do_not_differ_sends_whom_one_future_sends():
    state = crowded_state()
    forecast = forecast_of(state, 0.5)
    mean = survey(state, forecast, NeedParams()).arrivals_people
    moves = [
        moves_of("scenario_mpc", state, replace(forecast, paths_people=np.repeat(mean[None], futures, axis=0)))[1]
        for futures in (1, 3)
    ]
    assert moves[0] == moves[1] != []


def test_time_that_is_up_makes_no_moves_and_is_recorded():
    staffing, moves = moves_of("mpc12", *random_state(40, 1), time_limit_seconds=0.001)
    assert moves == []
    assert (staffing.record.out_of_time, staffing.record.solved) == (1, 0)


def test_a_move_sent_before_stands_while_its_help_is_wanted_and_no_longer():
    (move, *_) = moves_of("mpc12", crowded_state())[1]
    sent = Commitments(sent=(move,))
    _, again = moves_of("mpc12", crowded_state(commitments=sent))
    assert move in again
    _, calm = moves_of("mpc12", crowded_state(commitments=sent, waiting_people=np.zeros((3, 4))), None)
    calm_city = calm_state(city_of(3), commitments=sent, staff=staff_table(calm_staff(3, {(1, VACCINATOR): 9})))
    assert move not in moves_of("mpc12", calm_city)[1]
    assert sum(one.people for one in again) >= sum(one.people for one in calm)


def test_those_on_their_way_are_not_sent_twice():
    _, moves = moves_of("mpc12", crowded_state())
    # With 2 vaccinators there and 10 on their way all 12 stations are taken.
    coming = replace(moves[0], from_site_id="s2", people=10)
    _, more = moves_of("mpc12", crowded_state(commitments=Commitments(under_way=(coming,))))
    assert [move for move in more if move.works_as is VACCINATOR] == []


def test_who_has_been_moved_today_or_is_promised_cannot_be_let_go():
    others = [one for one in calm_staff(1) if one.role is not VACCINATOR]
    groups = [
        *others,
        Group(0, VACCINATOR, 5),
        Group(0, VACCINATOR, 3, moves_today=1),
        Group(0, VACCINATOR, 4, reserved=2, also=(Role.OBSERVER,)),
        Group(0, VACCINATOR, 2, hours_left=0.9),
    ]
    situation = survey(*_with_forecast(calm_state(city_of(1), staff=staff_table(groups))), NeedParams())
    giving = givers(situation, kept_people(situation))
    assert giving.qualified_people[0, 2].tolist() == [0.0, 0.0, 5 + 2, 2.0]
    # 5 + 3 + 2 + 2 stay, one of them is the minimum team, and 7 may still move; half of 12 may go in this cycle.
    assert (giving.people[0, 2], giving.now_people[0, 2]) == (7.0, 6.0)


def _with_forecast(state):
    return state, forecast_of(state, 0.5)


def test_a_refused_move_is_not_asked_for_again():
    (move, *_) = moves_of("mpc12", crowded_state())[1]
    _, again = moves_of("mpc12", crowded_state(commitments=Commitments(refused=(move,))))
    assert move.key not in {one.key for one in again}


def test_nobody_is_sent_where_the_doors_close_soon():
    assert moves_of("mpc12", crowded_state(open_minutes_left=np.array([60.0, 480.0, 480.0])))[1] == []


def test_somebody_of_another_role_helps_out_where_qualified():
    groups = [one for one in calm_staff(2, {(0, VACCINATOR): 2}) if (one.site, one.role) != (1, Role.SCREENER)]
    state = crowded_state()
    waiting = np.zeros((2, 4))
    waiting[0, 2] = 60.0
    staff = staff_table([*groups, Group(1, Role.SCREENER, 8, also=(VACCINATOR,))])
    state = calm_state(city_of(2), waiting_people=waiting, staff=staff)
    _, moves = moves_of("mpc12", state)
    assert {(move.role, move.works_as) for move in moves} >= {(Role.SCREENER, VACCINATOR)}


def test_planners_differ_from_the_rules_in_staff_alone():
    state, forecast = random_state(8, 2)
    ours = RulesPolicy(name="mpc6", staffing=rule("mpc6"))(state, forecast)
    nobody = RulesPolicy(staffing=lambda situation: of_kind(ours.decisions, StaffMove))(state, forecast)
    assert ours.decisions == nobody.decisions
    assert ours.planner == "mpc6"
