from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.dispatch.order_difference import OPEN_STATES, order_id, orders_from_difference
from doseflow.domain.decisions import Decision, DoseTransfer, StaffMove, StationChange, Why
from doseflow.domain.orders import Order, OrderState
from doseflow.domain.plan import Plan, PlannedDecision, RepairPath
from doseflow.domain.roles import Role, Stage

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WHY = Why("queue_shed")
Make = Callable[..., object]


def test_the_open_states_are_those_that_are_not_final() -> None:
    assert set(OPEN_STATES) == {
        OrderState.PROPOSED,
        OrderState.APPROVED,
        OrderState.SENT,
        OrderState.ACKNOWLEDGED,
        OrderState.UNDER_WAY,
    }


def test_a_planned_decision_becomes_an_order_to_the_site_that_acts(make_plan: Make) -> None:
    move = StaffMove("a", "b", Role.SCREENER, Role.REGISTRAR, START + timedelta(hours=4), 2, 20.0, WHY)
    (order,), withdrawn = orders_from_difference(make_plan(move), (), "c1")

    assert withdrawn == ()
    assert order.order_id.startswith("c1-")
    assert order == Order(
        order_id=order.order_id,
        cycle_id="c1",
        site_id="a",
        expecting_site_id="b",
        decision=move,
        reason_en="because staff_move",
        reason_zh="因为",
        state=OrderState.PROPOSED,
        created_at=START,
        due_at=START + timedelta(minutes=35),
    )


@pytest.mark.parametrize("state", ["proposed", "sent", "acknowledged", "under_way"])
def test_what_an_open_order_asks_for_needs_no_second_one(
    state: str, station: Make, make_plan: Make, make_order: Make
) -> None:
    again = replace(station(3), why=Why("another reason"), open_before=2)
    assert orders_from_difference(make_plan(again), [make_order(station(3), state)], "c1") == ((), ())


@pytest.mark.parametrize("state", ["done", "refused", "expired", "withdrawn"])
def test_an_order_that_is_over_stands_for_nothing(state: str, station: Make, make_plan: Make, make_order: Make) -> None:
    new, withdrawn = orders_from_difference(make_plan(station(3)), [make_order(station(3), state)], "c1")
    assert [order.decision for order in new] == [station(3)]
    assert withdrawn == ()


@pytest.mark.parametrize("state", ["proposed", "sent"])
def test_an_unanswered_order_that_the_plan_no_longer_holds_is_withdrawn(
    state: str, station: Make, make_plan: Make, make_order: Make
) -> None:
    old = [make_order(station(3), state)]
    assert orders_from_difference(make_plan(), old, "c1") == ((), ("old",))
    new, withdrawn = orders_from_difference(make_plan(station(4)), old, "c1")
    assert [order.decision for order in new] == [station(4)]
    assert withdrawn == ("old",)


@pytest.mark.parametrize("state", ["acknowledged", "under_way"])
def test_an_order_that_a_site_promised_or_began_is_never_withdrawn(
    state: str, station: Make, make_plan: Make, make_order: Make
) -> None:
    old = [make_order(station(3), state)]
    assert orders_from_difference(make_plan(), old, "c1") == ((), ())
    assert orders_from_difference(make_plan(station(4)), old, "c1")[1] == ()


def test_a_plan_that_holds_everything_withdraws_nothing(station: Make, make_plan: Make, make_order: Make) -> None:
    held = make_plan(repair_path=RepairPath.HELD)
    assert orders_from_difference(held, [make_order(station(3), "sent")], "c1") == ((), ())


def test_the_same_cycle_makes_the_same_ids_and_another_cycle_others(station: Make, make_plan: Make) -> None:
    plan = make_plan(station(3), station(3, "b"), station(4, "c"))
    (first, again, other) = (orders_from_difference(plan, (), cycle_id)[0] for cycle_id in ("c1", "c1", "c2"))
    assert first == again
    ids = [order.order_id for order in (*first, *other)]
    assert len(set(ids)) == 6


def test_ids_tell_apart_what_joined_text_would_confuse() -> None:
    assert order_id("c", (("ab", "c"), 1.0)) != order_id("c", (("a", "bc"), 1.0))
    assert order_id("c", (("ab", "c"), 1.0)) != order_id("c", (("ab", "c"), 11.0))
    assert order_id("c", (("ab",), 1.0)) == order_id("c", (("ab",), 1.0))


SITES = st.sampled_from(("a", "b", "c"))
DECISIONS = st.lists(
    st.builds(StationChange, SITES, st.sampled_from(Stage), st.just(1), st.integers(0, 3), st.just(WHY))
    | st.builds(
        DoseTransfer,
        SITES,
        SITES,
        st.just("p"),
        st.sampled_from(("L1", "L2")),
        st.just("f"),
        st.just("f"),
        st.just("v"),
        st.sampled_from((6, 12)),
        st.just(12.5),
        st.just(WHY),
    ),
    max_size=8,
)


@st.composite
def open_orders(draw: st.DrawFn) -> list[Order]:
    decisions = draw(DECISIONS)
    states = [draw(st.sampled_from(OrderState)) for _ in decisions]
    return [
        Order(f"o{idx}", "c0", "a", None, one, "", "", state, START, START)
        for idx, (one, state) in enumerate(zip(decisions, states, strict=True))
    ]


def asked(decision: Decision) -> tuple:
    return (decision.key, decision.quantity)


@settings(max_examples=150)
@given(DECISIONS, open_orders())
def test_afterwards_what_stands_is_the_plan_and_what_sites_have_promised(
    decisions: list[Decision], before: list[Order]
) -> None:
    plan = Plan("rules", START, tuple(PlannedDecision(one, "", "", None) for one in decisions), RepairPath.SOLVER, 0.0)
    new, withdrawn = orders_from_difference(plan, before, "c1")

    still = [order for order in before if order.state in OPEN_STATES and order.order_id not in withdrawn]
    promised = {asked(order.decision) for order in still if order.state in ("acknowledged", "under_way")}
    planned = {asked(one) for one in decisions}
    assert {asked(order.decision) for order in (*still, *new)} == planned | promised
    assert not {asked(order.decision) for order in still} & {asked(order.decision) for order in new}
    assert len({order.order_id for order in new}) == len(new)
    assert {order.state for order in before if order.order_id in withdrawn} <= {"proposed", "approved", "sent"}
    settled = orders_from_difference(plan, [*still, *new], "c2")
    assert settled == ((), ())
