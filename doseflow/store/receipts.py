"""Receipts: what a site says of its order, each applied once."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from sqlalchemy import Connection

from doseflow.dispatch.order_life import answered_at, check_receipt, moved_on
from doseflow.domain.orders import Order, OrderReceipt
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
    check_receipt(receipt)
    order = read_order(connection, order_id, for_update=True)
    if not _insert(connection, order_id, receipt):
        return order
    moved = moved_on(order, receipt)
    moved = replace(moved, refusal_reason=storable(moved.refusal_reason))
    set_state(connection, moved, answered_at(order, receipt))
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
