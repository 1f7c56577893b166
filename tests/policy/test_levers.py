"""Levers: what is switched off is never proposed, by any planner, and the rest is decided as if it were not there."""

import numpy as np
import pytest
from rules_city import calm_staff, calm_state, city_of, forecast_of, of_kind, random_state, staff_table
from value_engines import Watched

from doseflow.domain.decisions import DecisionKind, SendWalkIns, StationChange
from doseflow.domain.roles import Role
from doseflow.policy.learned_policy import LearnedPolicy
from doseflow.policy.levers import KIND_TO_LEVER, Lever
from doseflow.policy.rules_policy import RulesParams, RulesPolicy
from doseflow.policy.station_rules import station_changes

POLICIES = {
    "rules": RulesPolicy,
    "learned": lambda params: LearnedPolicy(Watched(), params),
}


def uneven_city():
    """The first site has a long queue and few vaccinators, the last far too many; walk-ins come to all."""
    waiting = np.zeros((4, 4))
    waiting[0, 2] = 60.0
    staff = staff_table(calm_staff(4, {(0, Role.VACCINATOR): 2, (3, Role.VACCINATOR): 12}))
    waits = np.array([40.0, 1.0, 1.0, 1.0])
    walk_ins = np.full(4, 0.5)
    return calm_state(
        city_of(4), staff=staff, waiting_people=waiting, observed_wait_minutes=waits, walk_in_share=walk_ins
    )


def test_every_kind_of_decision_has_a_lever():
    assert set(KIND_TO_LEVER) == set(DecisionKind)
    assert set(KIND_TO_LEVER.values()) | {Lever.PRICES} == set(Lever)


@pytest.mark.parametrize("planner", POLICIES)
@pytest.mark.parametrize("lever", sorted(set(Lever) - {Lever.PRICES}))
def test_what_is_switched_off_is_not_proposed_and_was_before(planner, lever):
    seen = set()
    for seed in range(6):
        state, forecast = random_state(12, seed)
        with_all = POLICIES[planner](RulesParams())(state, forecast)
        without = POLICIES[planner](RulesParams(without=(lever,)))(state, forecast)
        assert lever not in {KIND_TO_LEVER[one.kind] for one in without.decisions}
        assert without.why_this_planner == with_all.why_this_planner
        seen |= {KIND_TO_LEVER[one.kind] for one in with_all.decisions}
    assert len(seen) > 2


@pytest.mark.parametrize("planner", POLICIES)
def test_stations_are_decided_as_if_nobody_went_where_nobody_may(planner):
    apart = 0
    for seed in range(8):
        state, forecast = random_state(12, seed)
        off = RulesParams(without=(Lever.MOVES,))
        situation = RulesPolicy().survey(state, forecast)
        expected = station_changes(situation, (), situation.needs.open_people)
        assert of_kind(POLICIES[planner](off)(state, forecast).decisions, StationChange) == expected
        apart += of_kind(POLICIES[planner](RulesParams())(state, forecast).decisions, StationChange) != expected
    assert apart


def test_without_prices_walk_ins_go_by_the_waits_as_under_the_rules():
    state = uneven_city()
    forecast = forecast_of(state, 0.5)
    off = (Lever.PRICES, Lever.MOVES)
    sent = of_kind(LearnedPolicy(Watched(), RulesParams(without=off))(state, forecast).decisions, SendWalkIns)
    by_rules = of_kind(RulesPolicy(RulesParams(without=(Lever.MOVES,)))(state, forecast).decisions, SendWalkIns)
    assert sent == by_rules
    assert {one.why.code for one in by_rules} == {"queue_ahead"}
