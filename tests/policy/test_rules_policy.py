"""The rules as a whole."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_city import calm_state, city_of, forecast_of, lot_table, random_state, staff_table

from doseflow.domain.decisions import KIND_TO_FAMILY, Family
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Proposal
from doseflow.domain.report import Incident
from doseflow.domain.state import FridgeTable, VanTable, unknown_of_loggers
from doseflow.feasible.referee import referee
from doseflow.policy.rules_policy import RulesPolicy
from doseflow.policy.static_roster import StaticRoster


def _unknown(num_sites):
    city = city_of(num_sites, vans_at=(0,))
    sites, by_stage = np.full(num_sites, np.nan), np.full((num_sites, 4), np.nan)
    whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
    by_site = (
        "arrivals_people",
        "observed_wait_minutes",
        "no_show_share",
        "mean_early_minutes",
        "walk_in_share",
        "doses_given",
        "seats_taken",
        "seats_possible",
    )
    stages = ("waiting_people", "worked_hours", "breaks_due_people", "stations_open", "stations_possible")
    return calm_state(
        city,
        **dict.fromkeys(by_site, sites),
        **dict.fromkeys(stages, by_stage),
        booked_people=np.full((num_sites, 8), np.nan),
        staff=staff_table([]),
        lots=lot_table([]),
        fridges=FridgeTable(whole, (), *(real,) * 6, **unknown_of_loggers(0)),
        vans=VanTable(site_idx=np.array([-1]), free_epoch_minutes=np.array([np.nan])),
        incidents=np.zeros((num_sites, len(Incident)), dtype=bool),
        valid_epoch_minutes=np.full((num_sites, NUM_FEATURE_CLASSES), np.nan),
    )


@pytest.mark.parametrize("policy", [RulesPolicy(), StaticRoster()])
def test_of_a_city_nobody_knows_nothing_is_asked(policy):
    state = _unknown(4)
    assert policy(state, forecast_of(state, np.nan, np.nan)) == Proposal(policy.name, ())


def test_of_a_calm_city_nothing_is_asked():
    state = calm_state(city_of(5, vans_at=(0, 3)))
    assert RulesPolicy()(state, forecast_of(state)) == Proposal("rules", ())


def test_a_city_of_one_site_is_answered():
    state, forecast = random_state(1, 3)
    assert RulesPolicy()(state, forecast).planner == "rules"


def test_a_city_in_disorder_is_answered_in_every_family():
    state, forecast = random_state(40, 1)
    decisions = RulesPolicy()(state, forecast).decisions
    assert {KIND_TO_FAMILY[one.kind] for one in decisions} == set(Family)


def test_the_same_state_gives_the_same_proposal_whatever_was_asked_before():
    policy = RulesPolicy()
    state, forecast = random_state(30, 2)
    first = policy(state, forecast)
    policy(*random_state(30, 3))
    assert policy(state, forecast) == first == RulesPolicy()(state, forecast)


@given(seed=st.integers(0, 10_000), unknown_share=st.sampled_from([0.0, 0.05, 0.2, 0.6, 0.95]))
def test_a_proposal_breaks_no_hard_rule_of_the_book(seed, unknown_share):
    state, forecast = random_state(12, seed, unknown_share=unknown_share)
    decisions = RulesPolicy()(state, forecast).decisions
    broken = [violation for violation in referee(state, forecast, decisions) if violation.hard]
    assert broken == []


@given(seed=st.integers(0, 10_000))
def test_what_was_sent_a_cycle_ago_is_proposed_again(seed):
    state, forecast = random_state(12, seed)
    asked = RulesPolicy()(state, forecast).decisions
    again = RulesPolicy()(replace(state, commitments=Commitments(sent=asked)), forecast).decisions
    assert {(one.key, one.quantity) for one in again} == {(one.key, one.quantity) for one in asked}


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["acknowledged", "under_way", "refused"]))
def test_what_is_being_done_or_was_refused_is_never_asked(seed, kind):
    state, forecast = random_state(12, seed)
    asked = RulesPolicy()(state, forecast).decisions
    half = asked[::2]
    again = RulesPolicy()(replace(state, commitments=Commitments(**{kind: half})), forecast).decisions
    assert not {one.key for one in half} & {one.key for one in again}


@given(seed=st.integers(0, 10_000))
def test_frozen_sites_appear_in_no_decision(seed):
    state, forecast = random_state(12, seed)
    frozen = {f"s{site}" for site in range(0, 12, 3)}
    commitments = Commitments(frozen_site_ids=frozenset(frozen))
    for one in RulesPolicy()(replace(state, commitments=commitments), forecast).decisions:
        assert not frozen & {getattr(one, name, "") for name in ("site_id", "from_site_id", "to_site_id")}


def test_decisions_in_force_about_sites_that_the_city_lacks_do_no_harm():
    state, forecast = random_state(12, 5)
    asked = RulesPolicy()(state, forecast).decisions
    smaller, smaller_forecast = random_state(3, 5)
    commitments = Commitments(acknowledged=asked, sent=asked, refused=asked, pinned=asked)
    RulesPolicy()(replace(smaller, commitments=commitments), smaller_forecast)
