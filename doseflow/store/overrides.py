"""Another quantity for an order, and decisions that are kept as long as their order is open."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from sqlalchemy import Connection

from doseflow.dispatch.due_times import due_at
from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.dispatch.order_life import WITHDRAWABLE_STATES
from doseflow.domain.approvals import Approval
from doseflow.domain.audit import AuditEntry
from doseflow.domain.commanding import Press
from doseflow.domain.decisions import Decision
from doseflow.domain.orders import Order, OrderState
from doseflow.errors import CommandRefused
from doseflow.store import audit, commands, outbox
from doseflow.store.commands import CommandKind
from doseflow.store.order_wishes import Tell, write_down
from doseflow.store.orders import insert_orders, read_order, set_state

_ID_BYTES = 8


def override(connection: Connection, order_id: str, decision: Decision, press: Press, tell: Tell) -> Order:
    """
    Replace an order by one for the same thing in another quantity, which every plan keeps while it is open.

    Raises
    ------
    OrderNotFound
    CommandRefused
        The site has promised or ended it.
    """
    before = read_order(connection, order_id, for_update=True)
    if before.state not in WITHDRAWABLE_STATES:
        raise CommandRefused(f"state: must not be promised or over; {order_id} is {before.state}")
    set_state(connection, replace(before, state=OrderState.WITHDRAWN), press.at)
    outbox.drop_untold(connection, [order_id])
    after = _successor(before, decision, press)
    insert_orders(connection, [after])
    withdrawal = [] if before.is_waiting else [(outbox.WITHDRAWAL, order_id, before.site_id)]
    tell(connection, [*withdrawal, (outbox.ORDER, after.order_id, after.site_id)], press.at)
    commands.pin(connection, decision, press.at, CommandKind.OVERRIDE)
    write_down(connection, before, after, press, "order.override", press.reason)
    return after


def pin_order(connection: Connection, order_id: str, press: Press) -> Order:
    """
    Keep an order's decision in every plan as long as an order for it is open.

    Raises
    ------
    OrderNotFound, CommandRefused
    """
    order = read_order(connection, order_id, for_update=True)
    if order.state not in OPEN_STATES:
        raise CommandRefused(f"state: must be open; {order_id} is {order.state}")
    before = commands.pinned_as(connection, order.decision)
    commands.pin(connection, order.decision, press.at, CommandKind.KEEP)
    _write_pin_down(connection, order, press, "order.pin", before)
    return order


def unpin_order(connection: Connection, order_id: str, press: Press) -> Order:
    """
    Leave an order's decision to the plans again, however it was pinned.

    Raises
    ------
    OrderNotFound
    """
    order = read_order(connection, order_id, for_update=True)
    before = commands.pinned_as(connection, order.decision)
    commands.unpin(connection, order.decision, press.at)
    _write_pin_down(connection, order, press, "order.unpin", before)
    return order


def _successor(before: Order, decision: Decision, press: Press) -> Order:
    text = f"{before.order_id}\n{decision.quantity!r}\n{press.at.isoformat()}"
    name = hashlib.blake2b(text.encode(), digest_size=_ID_BYTES).hexdigest()
    return replace(
        before,
        order_id=f"{before.cycle_id}-{name}",
        decision=decision,
        reason_en=f"{press.by} ordered it in this quantity: {press.reason}",
        reason_zh=f"{press.by}指定了此数量：{press.reason}",
        state=OrderState.PROPOSED,
        created_at=press.at,
        due_at=due_at(decision, press.at),
        approval=Approval.AUTOMATIC,
        decide_by=None,
    )


def _write_pin_down(
    connection: Connection, order: Order, press: Press, action: str, before: tuple[CommandKind, Decision] | None
) -> None:
    now = commands.pinned_as(connection, order.decision)
    details = {"site_id": order.site_id, "before": _pin_words(before), "after": _pin_words(now)}
    audit.append(connection, AuditEntry(press.at, press.by, action, order.order_id, press.reason, details))


def _pin_words(pin: tuple[CommandKind, Decision] | None) -> dict[str, object] | None:
    return None if pin is None else {"kind": pin[0].value, "quantity": float(pin[1].quantity)}
