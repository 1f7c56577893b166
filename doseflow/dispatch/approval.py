"""Which of a cycle's new orders wait for a person, and until when; the clock of one that is still wanted runs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from doseflow.domain.approvals import AUTOMATIC_RULE, Approval, ApprovalParams
from doseflow.domain.orders import Commitments, Order


def asked_about(
    orders: Sequence[Order], standing: Sequence[Order], commitments: Commitments, params: ApprovalParams
) -> tuple[Order, ...]:
    """
    The new orders with how each is approved.

    What a person has pinned goes out without being asked about. An order that replaces a waiting one, in another
    quantity, must be answered by the moment by which that one had to be.

    Parameters
    ----------
    standing
        Orders that stood before the cycle.
    """
    if not params.rules:
        return tuple(orders)
    pinned = {pin.key for pin in commitments.pinned}
    waiting = {order.decision.key: order for order in standing if order.is_waiting}
    return tuple(_asked(order, waiting.get(order.decision.key), pinned, params) for order in orders)


def _asked(order: Order, earlier: Order | None, pinned: set[tuple[str, ...]], params: ApprovalParams) -> Order:
    rule = AUTOMATIC_RULE if order.decision.key in pinned else params.rule_for(order.decision)
    if rule.mode is Approval.AUTOMATIC:
        return order
    by = rule.decide_by(order.created_at)
    return replace(order, approval=rule.mode, decide_by=_sooner(by, earlier.decide_by if earlier else None))


def _sooner(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [moment for moment in (one, other) if moment is not None]
    return min(known) if one is not None and known else one
