"""Receipts: what a site says of its order, each applied once."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from sqlalchemy import Connection

from doseflow.domain.orders import NEXT_STATES, Order, OrderReceipt, OrderState, ReceiptStatus
from doseflow.errors import ReceiptRefused
from doseflow.store.columns import storable
from doseflow.store.insert_new import insert_new
from doseflow.store.orders import read_order, set_state
from doseflow.store.tables import receipts as table


def record(connection: Connection, order_id: str, receipt: OrderReceipt) -> Order:
    """
    Apply a receipt and give the order as it is then; one that was applied before changes nothing.

    Raises
    ------
    OrderNotFound
    ReceiptRefused
        A refusal without a reason, or a step that the order cannot take.
    """
    if receipt.status is ReceiptStatus.REFUSED and not receipt.reason.strip():
        raise ReceiptRefused("reason", "must say why the order is refused")
    order = read_order(connection, order_id, for_update=True)
    if not _insert(connection, order_id, receipt):
        return order
    moved = _moved(order, receipt)
    # A site's clock may be wrong; what it answers happened while the order was in force.
    changed_at = min(max(receipt.at, order.created_at), order.due_at)
    set_state(connection, moved, changed_at)
    return moved


def receipt_key(receipt: OrderReceipt) -> str:
    """What makes a repeat recognisable: the receipt's own id, or else its content."""
    if receipt.receipt_id is not None:
        return f"id:{receipt.receipt_id}"
    content = "\n".join((receipt.status, receipt.at.isoformat(), storable(receipt.reason)))
    return f"content:{hashlib.sha256(content.encode()).hexdigest()}"


def _insert(connection: Connection, order_id: str, receipt: OrderReceipt) -> bool:
    row = {
        "order_id": order_id,
        "receipt_key": receipt_key(receipt),
        "status": receipt.status.value,
        "at": receipt.at,
        "reason": receipt.reason,
    }
    statement = insert_new(connection, table).returning(table.c.order_id)
    return connection.execute(statement, row).one_or_none() is not None


def _moved(order: Order, receipt: OrderReceipt) -> Order:
    # Who answers an order was told of it, even if the outbox does not know yet that its message arrived.
    told = OrderState.SENT if order.state is OrderState.PROPOSED else order.state
    wanted = OrderState(receipt.status)
    if wanted not in NEXT_STATES[told]:
        raise ReceiptRefused("status", f"must follow from {order.state}, which the order is, got {wanted}")
    reason = receipt.reason if wanted is OrderState.REFUSED else order.refusal_reason
    return replace(order, state=wanted, refusal_reason=storable(reason))
