"""The life of an order at its site, and conservation under any orders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from order_samples import feasible_decisions, order_of
from pydantic import TypeAdapter

from doseflow.domain.orders import NEXT_STATES, OrderReceipt, OrderState
from doseflow.errors import InputWrong
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.executing import carry_out, decision_from_payload, errands_of
from doseflow.simulate.transition import step


def play(world, city, params, orders, minutes, seed=1):
    """Let the sites read the orders and live on; the world and the receipts."""
    rng, chance = np.random.default_rng(seed), NumpyDraws(np.random.default_rng(seed + 1))
    errands = errands_of(orders, (), world.epoch_minutes, params, rng)
    receipts = []
    for _ in range(minutes):
        world = step(world, chance, params)
        world, errands, given = carry_out(world, errands, city, params, rng)
        receipts += given
    return world, errands, receipts


@pytest.fixture(scope="module")
def orders(morning, small_city, small_params):
    decisions = feasible_decisions(morning, small_city, small_params)
    return [order_of(decision, f"order-{k}") for k, decision in enumerate(decisions.values())]


def without_whims(params):
    return replace(params, assumed=replace(params.assumed, refusal_share=0.0))


def test_a_decision_from_the_api_is_the_decision_that_was_made(morning, small_city, small_params):
    for decision in feasible_decisions(morning, small_city, small_params).values():
        assert decision_from_payload(order_of(decision)["decision"]) == decision


def test_a_decision_without_its_why_is_still_read(morning, small_city, small_params):
    payload = order_of(feasible_decisions(morning, small_city, small_params)["set_point"])["decision"]
    del payload["why"]
    assert decision_from_payload(payload).set_point_celsius == 4.0


@pytest.mark.parametrize("payload", [None, 3, {}, {"kind": "dance"}, {"kind": "set_point", "site_id": "x"}])
def test_what_is_no_decision_is_refused(payload):
    with pytest.raises(InputWrong, match="decision: cannot be read"):
        decision_from_payload(payload)


def test_every_receipt_may_follow_the_one_before_it(morning, small_city, small_params, orders):
    _, errands, receipts = play(morning, small_city, small_params, orders, 150)
    assert errands == ()
    for order in orders:
        state = OrderState.SENT
        of_order = [one.receipt for one in receipts if one.order_id == order["order_id"]]
        assert of_order[-1].status in ("done", "refused")
        for receipt in of_order:
            assert OrderState(receipt.status) in NEXT_STATES[state]
            state = OrderState(receipt.status)
            TypeAdapter(OrderReceipt).validate_python(receipt)
        assert sorted(of_order, key=lambda one: one.at) == of_order


def test_moves_of_people_and_doses_take_as_long_as_the_way(morning, small_city, small_params, orders):
    moves = [order for order in orders if order["kind"] in ("staff_move", "dose_transfer")]
    _, _, receipts = play(morning, small_city, without_whims(small_params), moves, 150)
    for order in moves:
        at = {one.receipt.status: one.receipt.at for one in receipts if one.order_id == order["order_id"]}
        minutes = (at["done"] - at["under_way"]).total_seconds() / 60
        assert minutes == pytest.approx(order["decision"]["travel_minutes"], abs=1.01)


def test_sites_refuse_at_their_rate_and_say_why(morning, small_city, small_params, orders):
    often = replace(small_params, assumed=replace(small_params.assumed, refusal_share=0.3))
    release = next(order for order in orders if order["kind"] == "release_slots")
    many = [{**release, "order_id": f"o{k}"} for k in range(600)]
    _, _, receipts = play(morning, small_city, often, many, 40)
    refused = [one.receipt for one in receipts if one.receipt.status == "refused"]
    assert len(refused) / 600 == pytest.approx(0.3, abs=0.06)
    assert all(receipt.reason for receipt in refused)


def test_an_order_for_a_site_of_another_city_is_refused(morning, small_city, small_params, orders):
    stray = next(order for order in orders if order["kind"] == "set_point")
    stray = {**stray, "decision": {**stray["decision"], "site_id": "elsewhere"}}
    _, _, receipts = play(morning, small_city, small_params, [stray], 30)
    assert [(one.receipt.status, one.receipt.reason) for one in receipts] == [("refused", "there is no site elsewhere")]


def test_a_negative_quantity_is_refused(morning, small_city, small_params, orders):
    move = next(order for order in orders if order["kind"] == "staff_move")
    move = {**move, "decision": {**move["decision"], "people": -3}}
    world, _, receipts = play(morning, small_city, small_params, [move], 30)
    assert [one.receipt.status for one in receipts] == ["refused"]
    assert len(world.staff_trips) == 0


def test_an_order_withdrawn_before_the_answer_is_dropped_and_an_answered_one_is_not(
    morning, small_city, small_params, orders
):
    rng = np.random.default_rng(1)
    unanswered = errands_of(orders, (), morning.epoch_minutes, small_params, rng)
    assert errands_of([], unanswered, morning.epoch_minutes, small_params, rng) == ()
    later = replace(morning, epoch_minutes=morning.epoch_minutes + 60)
    _, answered, _ = carry_out(later, unanswered, small_city, without_whims(small_params), rng)
    assert errands_of([], answered, later.epoch_minutes, small_params, rng) == answered


def doses(world):
    lots, totals = world.lots, world.totals
    gone = totals.doses_given + totals.doses_wasted + totals.doses_expired + totals.doses_discarded
    return int(
        (lots.unopened_doses + lots.open_doses).sum()
        + gone.sum()
        + world.dose_trips["doses"].sum()
        - world.owed_doses.sum()
    )


@settings(max_examples=25)
@given(data=st.data())
def test_people_staff_and_doses_are_conserved_under_any_orders(data, morning, small_city, small_params):
    decisions = list(feasible_decisions(morning, small_city, small_params).values())
    chosen = data.draw(st.lists(st.sampled_from(decisions), min_size=1, max_size=12))
    orders = []
    for number, decision in enumerate(chosen):
        site = data.draw(st.sampled_from(small_city.sites)).site_id
        quantity = data.draw(st.integers(0, 40))
        names = {name: quantity for name in ("people", "doses", "open_stations") if hasattr(decision, name)}
        place = {"site_id": site} if hasattr(decision, "site_id") else {"from_site_id": site}
        orders.append(order_of(replace(decision, **names, **place), f"o{number}"))
    world, _, _ = play(morning, small_city, small_params, orders, 70, seed=data.draw(st.integers(0, 99)))
    totals = world.totals
    gone = totals.balked + totals.left + totals.turned_away + totals.served
    assert (totals.arrived == gone + world.inside_people).all()
    assert doses(world) == doses(morning)
    assert (world.lots.unopened_doses >= 0).all()
    assert (world.lots.unopened_doses % small_params.doses_per_vial[world.lots.product_idx] == 0).all()
    assert (world.staff_people >= 0).all()
    assert (world.stations_open <= small_params.stations_possible).all()
    day = world.day
    on = (day.shift_starts <= world.epoch_minutes) & (world.epoch_minutes < day.shift_ends)
    on_duty = world.staff_people.sum() + world.staff_trips["people"][on[world.staff_trips["shift_idx"]]].sum()
    assert on_duty == (day.rostered_people * on).sum()
