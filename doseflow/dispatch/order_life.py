"""The life of an order as rules of time and order: what moves it on, what makes it void, how long a refusal binds."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from doseflow.domain.orders import FINAL_STATES, NEXT_STATES, Order, OrderReceipt, OrderState, ReceiptStatus
from doseflow.errors import ReceiptRefused

REFUSAL_BINDS_FOR = timedelta(minutes=60)
"""How long a refused decision must not be asked for again."""
GIVEN_UP_AFTER = timedelta(minutes=60)
"""An order that a site has answered is given up so long after it was due; assumed."""
UNANSWERED_STATES = (OrderState.PROPOSED, OrderState.APPROVED, OrderState.SENT)
WITHDRAWABLE_STATES = tuple(state for state in OrderState if OrderState.WITHDRAWN in NEXT_STATES[state])
COMMITTING_STATES = (OrderState.APPROVED, OrderState.SENT, OrderState.ACKNOWLEDGED, OrderState.UNDER_WAY)
"""States whose orders the next plan is told of, beside those that wait for approval."""


def check_receipt(receipt: OrderReceipt) -> None:
    """
    Refuse a receipt that no order could take.

    Raises
    ------
    ReceiptRefused
        A refusal without a reason.
    """
    if receipt.status is ReceiptStatus.REFUSED and not receipt.reason.strip():
        raise ReceiptRefused("reason", "must say why the order is refused")


def moved_on(order: Order, receipt: OrderReceipt) -> Order:
    """
    The order after a receipt.

    Raises
    ------
    ReceiptRefused
        A step that the order cannot take.
    """
    if order.is_waiting:
        raise ReceiptRefused("order_id", f"must name an order that was told; {order.order_id} waits for approval")
    # Who answers an order was told of it, even if the outbox does not know yet that its message arrived.
    told = OrderState.SENT if order.state in {OrderState.PROPOSED, OrderState.APPROVED} else order.state
    wanted = OrderState(receipt.status)
    if wanted not in NEXT_STATES[told]:
        raise ReceiptRefused("status", f"must follow from {order.state}, which the order is, got {wanted}")
    reason = receipt.reason if wanted is OrderState.REFUSED else order.refusal_reason
    return replace(order, state=wanted, refusal_reason=reason)


def answered_at(order: Order, receipt: OrderReceipt) -> datetime:
    """When the order changed: a site's clock may be wrong, but it answers while the order is in force."""
    return min(max(receipt.at, order.created_at), order.due_at)


def is_void(order: Order, now: datetime) -> bool:
    """
    Whether time has ended an open order: unanswered once it is due, answered an hour later.

    What a site has begun is late, not void: its people and doses stay taken until it says how it ended.
    """
    if order.state in FINAL_STATES or order.is_waiting:
        return False
    grace = timedelta(0) if order.state in UNANSWERED_STATES else GIVEN_UP_AFTER
    return order.due_at + grace < now


def still_binds(changed_at: datetime, now: datetime) -> bool:
    """Whether a refusal given at `changed_at` still keeps the next plan from asking again."""
    return changed_at >= now - REFUSAL_BINDS_FOR
