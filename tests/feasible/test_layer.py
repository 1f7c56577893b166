"""The layer as a whole: what comes out is allowed, near, conserved, explained, and the same again."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from feasible_city import (
    AS_OF,
    make_city,
    make_forecast,
    make_state,
    mark,
    move,
    random_commitments,
    random_proposal,
    random_state,
    release,
    send,
    stations,
    transfer,
    with_table,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.domain.city import Van
from doseflow.domain.decisions import DoseTransfer, FridgeMove, StaffMove
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Infeasible, Plan, Proposal, RepairPath
from doseflow.feasible import repair
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.referee import referee

PATIENT = FeasibleLayer(FeasibleParams(time_limit_milliseconds=10_000))
FORCED = FeasibleLayer(FeasibleParams(force_path=RepairPath.SOLVER))
TRIMMER = FeasibleLayer(FeasibleParams(time_limit_milliseconds=0))
LAYERS = {"solver": PATIENT, "forced solver": FORCED, "trimmer": TRIMMER}

seeds = st.integers(0, 2**32 - 1)


def random_case(seed, *, pins=False):
    """A city of 3 to 8 sites in trouble, what command wants of it, and a proposal with some nonsense in it."""
    rng = np.random.default_rng(seed)
    state = random_state(rng, int(rng.integers(3, 9)))
    if pins or rng.random() < 0.6:
        state = replace(state, commitments=random_commitments(rng, state, pins=pins))
    forecast = make_forecast(state, float(rng.choice([0.0, 10.0, np.nan])))
    return state, forecast, Proposal("random", tuple(random_proposal(rng, state, int(rng.integers(0, 30)), wild=0.15)))


def decisions_of(plan):
    return tuple(planned.decision for planned in plan.decisions)


def hard(state, forecast, decisions):
    return [violation for violation in referee(state, forecast, decisions) if violation.hard]


@given(seed=seeds, layer=st.sampled_from(sorted(LAYERS)))
@settings(max_examples=200, deadline=None)
def test_every_plan_has_no_hard_violation(seed, layer):
    state, forecast, proposal = random_case(seed)
    plan = LAYERS[layer](state, forecast, proposal)
    assert isinstance(plan, Plan)
    assert hard(state, forecast, decisions_of(plan)) == []
    assert plan.repair_path in {RepairPath.UNTOUCHED, RepairPath.TRIMMED if layer == "trimmer" else RepairPath.SOLVER}


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_with_pins_a_plan_holds_them_all_or_says_what_clashes(seed):
    state, forecast, proposal = random_case(seed, pins=True)
    for name, layer in LAYERS.items():
        outcome = layer(state, forecast, proposal)
        assert name == "trimmer" or getattr(outcome, "repair_path", None) is not RepairPath.TRIMMED
        if isinstance(outcome, Infeasible):
            assert outcome.clashing_rules[0] == "pinned"
            assert len(outcome.clashing_rules) > 1
            assert outcome.sentences
        else:
            assert hard(state, forecast, decisions_of(outcome)) == []


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_repairing_an_allowed_plan_returns_it_by_every_path(seed):
    state, forecast, proposal = random_case(seed)
    allowed = decisions_of(PATIENT(state, forecast, proposal))
    for layer in LAYERS.values():
        again = layer(state, forecast, Proposal("again", allowed))
        assert decisions_of(again) == allowed
        assert again.distance == 0
        assert again.dropped == ()


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_the_same_state_and_proposal_give_the_same_plan(seed):
    state, forecast, proposal = random_case(seed)
    for layer in LAYERS.values():
        assert layer(state, forecast, proposal) == layer(state, forecast, proposal)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_the_solver_is_never_further_from_the_proposal_than_trimming(seed):
    state, forecast, proposal = random_case(seed)
    assert PATIENT(state, forecast, proposal).distance <= TRIMMER(state, forecast, proposal).distance + 1e-9


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_looking_only_at_decisions_in_trouble_comes_as_near_as_looking_at_all(seed):
    state, forecast, proposal = random_case(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repair, "troubled_positions", lambda ledger, _found: range(len(ledger.decisions)))
        whole = FORCED(state, forecast, proposal)
    assert FORCED(state, forecast, proposal).distance == pytest.approx(whole.distance)


@given(seed=seeds, layer=st.sampled_from(sorted(LAYERS)))
@settings(max_examples=60, deadline=None)
def test_people_and_doses_are_conserved(seed, layer):
    state, forecast, proposal = random_case(seed)
    decisions = decisions_of(LAYERS[layer](state, forecast, proposal))
    leaving, arriving = Counter(), Counter()
    doses_leaving, doses_arriving = Counter(), Counter()
    for one in decisions:
        if isinstance(one, StaffMove):
            leaving[one.from_site_id, one.role, one.shift_ends_at] += one.people
            arriving[one.to_site_id] += one.people
        if isinstance(one, DoseTransfer | FridgeMove):
            giver = one.from_site_id if isinstance(one, DoseTransfer) else one.site_id
            doses_leaving[giver, one.from_fridge_id, one.lot_number] += one.doses
            doses_arriving[one.to_fridge_id] += one.doses
    assert sum(leaving.values()) == sum(arriving.values())
    assert sum(doses_leaving.values()) == sum(doses_arriving.values())
    lookup = StateLookup(state)
    for (site_id, role, ends), people in leaving.items():
        site_idx = state.city.site_to_idx[site_id]
        rows = lookup.group_rows(site_idx, list(type(role)).index(role), ends.timestamp() / 60)
        assert people <= sum(max(0, state.staff.people[row] - state.staff.reserved_people[row]) for row in rows)
    for (site_id, fridge_id, lot), doses in doses_leaving.items():
        site_idx = state.city.site_to_idx[site_id]
        row = lookup.lot_row(site_idx, lookup.fridge_row(site_idx, fridge_id), lot)
        assert doses <= state.lots.unopened_doses[row] - state.lots.reserved_doses[row]


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_every_proposed_decision_is_kept_cut_or_dropped_with_its_reason(seed):
    state, forecast, proposal = random_case(seed)
    plan = PATIENT(state, forecast, proposal)
    kept = {planned.decision.key: planned for planned in plan.decisions}
    dropped = Counter(id(planned.decision) for planned in plan.dropped)
    for decision in proposal.decisions:
        assert (decision.key in kept) or dropped[id(decision)]
    for planned in (*plan.decisions, *plan.dropped):
        assert planned.reason_en[0].isupper() or not planned.reason_en[0].isalpha()
        assert planned.reason_en.endswith(".")
        assert planned.reason_zh.endswith("。")
    assert not any("nan" in planned.reason_en.split() for planned in plan.decisions)


def test_nothing_proposed_is_an_allowed_plan_of_nothing():
    state = make_state()
    plan = PATIENT(state, make_forecast(state), Proposal("rules", ()))
    assert plan == Plan("rules", AS_OF, (), RepairPath.UNTOUCHED, 0.0)


def test_an_allowed_proposal_is_the_plan_in_its_own_words():
    state = make_state()
    proposal = Proposal("rules", (move(), stations(site=2), transfer(), send(3, 2)))
    plan = PATIENT(state, make_forecast(state), proposal)
    assert plan.repair_path is RepairPath.UNTOUCHED
    assert all(planned.decision is asked for planned, asked in zip(plan.decisions, proposal.decisions, strict=True))
    assert [planned.proposed_quantity for planned in plan.decisions] == [1.0, 5.0, 10.0, 5.0]


def test_soft_violations_are_listed_and_stop_nothing():
    state = make_state()
    plan = PATIENT(state, make_forecast(state), Proposal("rules", (move(1, 0),)))
    assert [violation.rule for violation in plan.soft_violations] == ["worst_wait_first"]
    assert len(plan.decisions) == 1


def test_too_many_people_are_cut_to_those_who_may_leave_and_the_plan_says_so():
    state = make_state()
    plan = PATIENT(state, make_forecast(state), Proposal("rules", (move(people=9),)))
    (planned,) = plan.decisions
    assert (planned.decision.people, planned.proposed_quantity, plan.distance) == (4, 9.0, 50.0)
    assert planned.reason_en.endswith("Asked for 9; 4 allowed.")
    assert planned.reason_zh.endswith("原要求9，允许4。")


def test_a_station_closes_where_its_people_are_pinned_away():
    """Closing one is cheaper than asking a pinned person to stay, who may not."""
    state = with_table(make_state(), "staff", "people", slice(None), 2)
    state = replace(state, commitments=Commitments(pinned=(move(people=2),)))
    plan = PATIENT(state, make_forecast(state), Proposal("rules", ()))
    closing = next(planned for planned in plan.decisions if planned.decision.kind == "station_change")
    assert (closing.decision.open_before, closing.decision.open_stations, closing.proposed_quantity) == (4, 2, None)
    assert closing.reason_en == (
        "Have 2 vaccination stations open at Alder instead of 4: nobody is left to staff the others."
    )


def test_an_earlier_lot_is_sent_along_where_that_costs_less_than_leaving_the_later_one():
    state = with_table(make_state(), "lots", "unopened_doses", 0, 5)
    state = replace(state, booked_people=np.zeros_like(state.booked_people))
    plan = PATIENT(state, make_forecast(state), Proposal("rules", (transfer(lot="late", doses=20),)))
    assert {(one.lot_number, one.doses) for one in decisions_of(plan)} == {("late", 20), ("early", 5)}
    assert plan.distance == 5.0


def test_one_van_goes_where_more_is_wanted():
    state = replace(make_state(), booked_people=np.zeros((4, 8)))
    plan = PATIENT(state, make_forecast(state), Proposal("rules", (transfer(to=1, doses=10), transfer(to=2, doses=15))))
    assert [(one.to_site_id, one.doses) for one in decisions_of(plan)] == [("s2", 15)]
    (gone,) = plan.dropped
    assert gone.reason_en == (
        "Asked to carry 10 doses of Liquid vaccine (lot early) from Alder to Birch by van v0; "
        "not allowed (van_one_trip): van v0 carries doses to Birch and on another trip to Cedar."
    )
    assert gone.reason_zh.startswith("原要求用车v0从Alder向Birch调拨10剂")


def test_a_suspended_site_is_closed_although_nobody_proposes_it():
    state = replace(make_state(), commitments=Commitments(suspended_site_ids=frozenset({"s2"})))
    for layer in LAYERS.values():
        plan = layer(state, make_forecast(state), Proposal("rules", (stations(site=2, after=6), move(0, 2))))
        assert {(one.site_id, one.stage, one.open_stations) for one in decisions_of(plan)} == {
            ("s2", stage, 0) for stage in ("registration", "screening", "vaccination", "observation")
        }


def test_with_no_time_the_plan_is_trimmed_and_allowed():
    state = make_state()
    proposal = Proposal("rules", (stations(after=8), move(people=9), transfer(doses=33), release(people=9), mark()))
    plan = TRIMMER(state, make_forecast(state), proposal)
    assert plan.repair_path is RepairPath.TRIMMED
    assert hard(state, make_forecast(state), decisions_of(plan)) == []
    assert {(one.kind, one.quantity) for one in decisions_of(plan)} >= {("dose_transfer", 30), ("release_slots", 3)}


def test_a_replay_takes_the_recorded_path_again():
    state = make_state()
    forecast, proposal = make_forecast(state), Proposal("rules", (move(people=9),))
    for recorded in (PATIENT, TRIMMER):
        plan = recorded(state, forecast, proposal)
        again = FeasibleLayer(replace(TRIMMER.params, force_path=plan.repair_path))(state, forecast, proposal)
        assert again == plan


def test_a_replay_of_a_clash_is_a_clash():
    state = replace(make_state(), commitments=Commitments(pinned=(move(),), frozen_site_ids=frozenset({"s0"})))
    held = FeasibleLayer(FeasibleParams(force_path=RepairPath.HELD))
    proposal = Proposal("rules", (stations(),))
    outcome = PATIENT(state, make_forecast(state), proposal)
    assert isinstance(outcome, Infeasible)
    assert held(state, make_forecast(state), proposal) == outcome


def test_the_layer_works_in_any_thread():
    state = make_state()
    outcomes = []
    proposal = Proposal("rules", (transfer(to=1), transfer(to=2), transfer(lot="late")))
    threads = [
        threading.Thread(target=lambda: outcomes.append(PATIENT(state, make_forecast(state), proposal)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 3
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_the_solver_writes_nothing_to_the_standard_output(capfd):
    state = make_state()
    PATIENT(state, make_forecast(state), Proposal("rules", (transfer(to=1), transfer(to=2))))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("limit", [-1.0, 10_001.0, float("nan")])
def test_a_time_limit_out_of_range_is_refused_by_name(limit):
    with pytest.raises(ValueError, match=r"time_limit_milliseconds: must lie in 0\.\.10000"):
        FeasibleParams(time_limit_milliseconds=limit)


def test_the_default_time_limit_is_30_milliseconds():
    assert FeasibleLayer().params == FeasibleParams(time_limit_milliseconds=30.0, force_path=None)


def test_a_van_too_small_for_one_vial_carries_nothing():
    city = make_city()
    city = replace(city, vans=tuple(Van(van.van_id, van.home_site_id, 0.01) for van in city.vans))
    state = make_state(city)
    plan = PATIENT(state, make_forecast(state), Proposal("rules", (transfer(),)))
    assert plan.decisions == ()
