from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from doseflow.dispatch.approval import asked_about
from doseflow.dispatch.order_difference import orders_from_difference
from doseflow.domain.approvals import Approval, ApprovalParams, ApprovalRule
from doseflow.domain.orders import Commitments

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Make = Callable[..., object]
TEN = ApprovalParams((ApprovalRule(Approval.LAPSES, minutes=10.0),))
NOBODY = Commitments()


def made(make_plan, *decisions):
    return orders_from_difference(make_plan(*decisions), (), "c1")[0]


def test_without_rules_every_order_goes_out_at_once(station: Make, make_plan: Make) -> None:
    orders = made(make_plan, station())
    assert asked_about(orders, (), NOBODY, ApprovalParams()) == orders
    assert not orders[0].is_waiting


def test_an_order_in_another_quantity_must_be_answered_by_the_moment_of_the_one_it_replaces(
    station: Make, make_plan: Make
) -> None:
    (new,) = made(make_plan, station(3))
    (old,) = made(make_plan, station(2))
    soon, late = START + timedelta(minutes=4), START + timedelta(minutes=40)
    for decide_by, expected in ((soon, soon), (late, START + timedelta(minutes=10))):
        waiting = replace(old, approval=Approval.LAPSES, decide_by=decide_by)
        (asked,) = asked_about([new], [waiting], NOBODY, TEN)
        assert (asked.approval, asked.decide_by) == (Approval.LAPSES, expected)
    told = replace(old, decide_by=soon)
    assert asked_about([new], [told], NOBODY, TEN)[0].decide_by == START + timedelta(minutes=10)


def test_what_is_pinned_is_not_asked_about(station: Make, make_plan: Make) -> None:
    orders = made(make_plan, station(3), station(2, "b"))
    asked = asked_about(orders, (), Commitments(pinned=(station(9),)), TEN)
    assert [order.is_waiting for order in asked] == [False, True]
