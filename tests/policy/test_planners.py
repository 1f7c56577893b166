"""What holds for every planner of staff, whatever it thinks a person is worth."""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_city import calm_staff, calm_state, city_of, forecast_of, of_kind, random_state, staff_table

from doseflow.domain.decisions import StaffMove
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import Role
from doseflow.feasible.referee import referee
from doseflow.policy.c_mu import CMuParams, c_mu_moves
from doseflow.policy.index_exchange import IndexParams, index_moves
from doseflow.policy.max_pressure import MaxPressureParams, max_pressure_moves
from doseflow.policy.proportional import ProportionalParams, proportional_moves
from doseflow.policy.rules_policy import RulesPolicy

STAFFING = {
    "proportional": partial(proportional_moves, params=ProportionalParams()),
    "max_pressure": partial(max_pressure_moves, params=MaxPressureParams()),
    "c_mu": partial(c_mu_moves, params=CMuParams()),
    "index": partial(index_moves, params=IndexParams()),
}
every_planner = pytest.mark.parametrize("name", STAFFING)
seeds = st.integers(0, 10_000)
few = settings(max_examples=8, deadline=None)


def _policy(name):
    return RulesPolicy(name=name, staffing=STAFFING[name])


def _moves(name, state, forecast):
    return of_kind(_policy(name)(state, forecast).decisions, StaffMove)


def _asked(moves):
    return {(move.key, move.people) for move in moves}


def _short_site_0(**given):
    """Of four sites the first has a long queue and few vaccinators, the last far too many."""
    waiting = np.zeros((4, 4))
    waiting[0, 2] = 60.0
    given.setdefault("waiting_people", waiting)
    given.setdefault("observed_wait_minutes", np.array([30.0, 1.0, 1.0, 1.0]))
    staff = staff_table(calm_staff(4, {(0, Role.VACCINATOR): 2, (3, Role.VACCINATOR): 12}))
    state = calm_state(city_of(4), staff=staff, **given)
    return state, forecast_of(state, 0.5)


@every_planner
def test_a_balanced_city_moves_nobody(name):
    state = calm_state(city_of(5, vans_at=(0, 3)))
    assert _moves(name, state, forecast_of(state)) == []


@every_planner
def test_people_go_from_where_there_are_too_many_to_where_they_queue(name):
    moves = _moves(name, *_short_site_0())
    assert moves
    assert {one.to_site_id for one in moves} == {"s0"}
    assert ("s3", Role.VACCINATOR) in {(one.from_site_id, one.works_as) for one in moves}


@every_planner
@pytest.mark.parametrize("kind", ["acknowledged", "under_way"])
def test_people_on_their_way_are_not_asked_for_again(name, kind):
    state, forecast = _short_site_0()
    moves = _moves(name, state, forecast)
    on_the_way = tuple(replace(one, people=one.people + 6) for one in moves)
    again = _moves(name, replace(state, commitments=Commitments(**{kind: on_the_way})), forecast)
    assert sum(one.people for one in again) < sum(one.people for one in moves)


@every_planner
@given(seed=seeds, unknown_share=st.sampled_from([0.0, 0.05, 0.3, 0.9]))
@few
def test_the_referee_refuses_nothing(name, seed, unknown_share):
    state, forecast = random_state(12, seed, unknown_share=unknown_share)
    decisions = _policy(name)(state, forecast).decisions
    assert [violation for violation in referee(state, forecast, decisions) if violation.hard] == []


@every_planner
@given(seed=seeds)
@few
def test_nobody_is_taken_from_where_people_wait_longer(name, seed):
    state, forecast = random_state(12, seed)
    moves = tuple(_moves(name, state, forecast))
    assert [one for one in referee(state, forecast, moves) if one.rule == "worst_wait_first"] == []


@every_planner
@given(seed=seeds)
@few
def test_what_was_refused_or_concerns_a_frozen_site_is_not_asked(name, seed):
    state, forecast = random_state(12, seed)
    refused = tuple(_moves(name, state, forecast))[::2]
    frozen = frozenset({"s1", "s5"})
    commitments = Commitments(refused=refused, frozen_site_ids=frozen)
    moves = _moves(name, replace(state, commitments=commitments), forecast)
    assert not {one.key for one in refused} & {one.key for one in moves}
    assert not {site for one in moves for site in (one.from_site_id, one.to_site_id)} & frozen


@every_planner
def test_what_was_sent_a_cycle_ago_stands_unchanged(name):
    state, forecast = _short_site_0()
    sent = tuple(_moves(name, state, forecast))
    again = _moves(name, replace(state, commitments=Commitments(sent=sent)), forecast)
    # The c-mu rule also sends an observer half-way, who is not worth it any more once all vaccinators are counted.
    assert all(one in again for one in sent if one.works_as is Role.VACCINATOR)


@every_planner
def test_what_was_sent_is_left_out_once_nobody_waits_there(name):
    state, forecast = _short_site_0()
    sent = tuple(_moves(name, state, forecast))
    calm = calm_state(city_of(4), commitments=Commitments(sent=sent))
    assert _moves(name, calm, forecast_of(calm)) == []


@every_planner
@given(seed=seeds)
@few
def test_no_reason_contradicts_itself(name, seed):
    for move in _moves(name, *random_state(12, seed)):
        assert move.people >= 1
        if move.why.code == "understaffed":
            assert move.why.facts["needed_people"] > move.why.facts["on_duty_people"]
        else:
            assert move.why.code == "queue_relief"


@every_planner
def test_what_is_pinned_is_proposed_as_it_stands(name):
    state, forecast = _short_site_0()
    (pin, *_) = _moves(name, state, forecast)
    pin = replace(pin, people=1)
    moves = _moves(name, replace(state, commitments=Commitments(pinned=(pin,))), forecast)
    assert moves[0] == pin


@every_planner
@given(seed=seeds, order=st.permutations(range(8)))
@few
def test_the_order_of_the_sites_decides_nothing(name, seed, order):
    state, forecast = random_state(8, seed, unknown_share=0.02)
    shuffled, shuffled_forecast = _in_order(state, forecast, np.array(order))
    assert _asked(_moves(name, state, forecast)) == _asked(_moves(name, shuffled, shuffled_forecast))


def _in_order(state, forecast, order):
    """The same city with its sites listed in another order."""
    position = np.argsort(order)
    city = state.city
    neighbours = city.neighbour_idx[order]
    shuffled = replace(
        city,
        sites=tuple(city.sites[site] for site in order),
        neighbour_idx=np.where(neighbours >= 0, position[neighbours], -1),
        neighbour_travel_minutes=city.neighbour_travel_minutes[order],
    )
    by_site = {
        field.name: getattr(state, field.name)[order]
        for field in fields(state)
        if isinstance(getattr(state, field.name), np.ndarray)
    }
    tables = {
        name: replace(getattr(state, name), site_idx=position[getattr(state, name).site_idx])
        for name in ("staff", "lots", "fridges", "vans")
    }
    moved = replace(
        forecast,
        arrivals_people=forecast.arrivals_people[order],
        doses_rest_of_day=forecast.doses_rest_of_day[order],
        basis=forecast.basis[order],
    )
    return replace(state, city=shuffled, **by_site, **tables), moved


@every_planner
def test_a_city_of_one_site_is_answered(name):
    assert _moves(name, *random_state(1, 3)) == []


@every_planner
def test_a_queue_at_a_site_about_to_close_calls_nobody(name):
    assert _moves(name, *_short_site_0(open_minutes_left=np.array([60.0, 480.0, 480.0, 480.0]))) == []


@pytest.mark.parametrize(
    ("params", "field", "value"),
    [
        (IndexParams, "least_gain_minutes", -1.0),
        (IndexParams, "kept_gain_minutes", 1e6),
        (MaxPressureParams, "review_minutes", 241.0),
        (MaxPressureParams, "kept_pressure", -0.1),
        (CMuParams, "least_queue_people", -1.0),
        (CMuParams, "cost_power", 0.5),
        (ProportionalParams, "dead_band_people", 1.0),
        (ProportionalParams, "clear_queue_minutes", 0.0),
    ],
)
def test_a_parameter_out_of_its_range_is_refused_by_name(params, field, value):
    with pytest.raises(ValueError, match=f"^{field}: "):
        params(**{field: value})
