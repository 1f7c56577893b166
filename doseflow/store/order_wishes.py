"""What a person does with an order before or after it is told, each with its entry in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, select

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.dispatch.order_life import WITHDRAWABLE_STATES
from doseflow.domain.approvals import Approval
from doseflow.domain.audit import AuditEntry
from doseflow.domain.commanding import REASON_NEEDED, OrderAction, OrderWish, Press, WishAnswer
from doseflow.domain.orders import Order, OrderState
from doseflow.errors import CommandRefused, OrderNotFound
from doseflow.store import audit, outbox
from doseflow.store.columns import storable
from doseflow.store.decision_codec import key_text
from doseflow.store.orders import WAITING, read_order, set_state
from doseflow.store.tables import orders as table

Tell = Callable[[Connection, Sequence[outbox.ToTell], datetime], None]
"""Fills the outbox with entries that are due at a moment."""

OWN_NAME = "doseflow"
"""Who did what nobody asked for, in the audit log."""
ANSWER_CAN_BE_TAKEN_BACK_FOR = timedelta(minutes=10)
"""A rejection or a withdrawal that nobody was told of; what was approved only until it goes out."""
PRESS_TAKES = timedelta(seconds=2)
"""From a press to its transaction: what is due within it may be on its way already when the press is kept."""
_UNDOABLE = (OrderState.APPROVED, OrderState.REFUSED, OrderState.WITHDRAWN)


def fulfil(connection: Connection, wish: OrderWish, press: Press, tell: Tell, undo_for: timedelta) -> Order:
    """
    Do what is wished of an order; the order as it is then.

    Raises
    ------
    OrderNotFound, CommandRefused
        Nothing was written.
    """
    reason = wish.reason or press.reason
    if wish.action in REASON_NEEDED and not reason.strip():
        raise CommandRefused(f"reason: must say why, for {wish.action}")
    order = read_order(connection, wish.order_id, for_update=True)
    if wish.action is OrderAction.APPROVE:
        after = _approve(connection, order, press.at, tell, undo_for)
    elif wish.action is OrderAction.REJECT:
        after = _reject(connection, order, press.at, reason)
    elif wish.action is OrderAction.WITHDRAW:
        after = _withdraw(connection, order, press.at, tell)
    else:
        after = _undo(connection, order, press.at)
    write_down(connection, order, after, press, f"order.{wish.action}", reason)
    return after


def answer_to(connection: Connection, wish: OrderWish, press: Press, tell: Tell, undo_for: timedelta) -> WishAnswer:
    """The same as an answer; what is refused is said in words and not raised."""
    try:
        order = fulfil(connection, wish, press, tell, undo_for)
    except (CommandRefused, OrderNotFound) as error:
        return WishAnswer(wish.order_id, wish.action, None, str(error))
    return WishAnswer(wish.order_id, wish.action, order.state)


def settle_waiting(connection: Connection, now: datetime, tell: Tell) -> list[Order]:
    """
    Let orders whose time to be answered is over go out or lapse, as their rule says; the orders as they are then.

    What should have gone out long ago, because the service stood still, lapses too.
    """
    settled = []
    for order_id in connection.execute(_overdue(now)).scalars().all():
        order = read_order(connection, order_id, for_update=True)
        if order.approval is Approval.GOES_OUT and not _is_stale(order, now):
            after = _sent_off(connection, order, now, tell, timedelta(0), may_be_undone=False)
        else:
            after = replace(order, state=OrderState.EXPIRED)
            set_state(connection, after, now)
        write_down(connection, order, after, Press(OWN_NAME, now), "order.settle", "nobody answered in time")
        settled.append(after)
    return settled


def _is_stale(order: Order, now: datetime) -> bool:
    """Whether an order would go out later than it was to be carried out: after a stop nobody wants it as it was."""
    return order.decide_by is not None and now > order.decide_by + (order.due_at - order.created_at)


def is_any_overdue(connection: Connection, now: datetime) -> bool:
    """Whether a waiting order's time is over."""
    return connection.execute(_overdue(now).limit(1)).first() is not None


def _overdue(now: datetime) -> Select[Any]:
    return select(table.c.order_id).where(WAITING, table.c.decide_by <= now).order_by(table.c.order_no)


def _approve(connection: Connection, order: Order, now: datetime, tell: Tell, undo_for: timedelta) -> Order:
    if not order.is_waiting:
        raise CommandRefused(f"state: must be waiting for approval; {order.order_id} is {order.state}")
    return _sent_off(connection, order, now, tell, undo_for, may_be_undone=True)


def _sent_off(
    connection: Connection, order: Order, now: datetime, tell: Tell, undo_for: timedelta, *, may_be_undone: bool
) -> Order:
    # The site has the same time to carry it out as if it had been told at once.
    time_to_act = order.due_at - order.created_at
    after = replace(order, state=OrderState.APPROVED, due_at=now + undo_for + time_to_act)
    set_state(connection, after, now, may_be_undone=may_be_undone)
    tell(connection, [(outbox.ORDER, order.order_id, order.site_id)], now + undo_for)
    return after


def _reject(connection: Connection, order: Order, now: datetime, reason: str) -> Order:
    if not order.is_waiting:
        raise CommandRefused(f"state: must be waiting for approval; {order.order_id} is {order.state}")
    after = replace(order, state=OrderState.REFUSED, refusal_reason=storable(reason), due_at=_stands_until(order, now))
    set_state(connection, after, now, may_be_undone=True)
    return after


def _withdraw(connection: Connection, order: Order, now: datetime, tell: Tell) -> Order:
    if order.state not in WITHDRAWABLE_STATES:
        raise CommandRefused(f"state: must not be promised or over; {order.order_id} is {order.state}")
    after = replace(order, state=OrderState.WITHDRAWN, due_at=_stands_until(order, now))
    is_secret = order.approval is not Approval.AUTOMATIC and not outbox.has_been_due(
        connection, order.order_id, now + PRESS_TAKES
    )
    set_state(connection, after, now, may_be_undone=is_secret)
    outbox.drop_untold(connection, [order.order_id])
    if not is_secret:
        tell(connection, [(outbox.WITHDRAWAL, order.order_id, order.site_id)], now)
    return after


def _stands_until(order: Order, now: datetime) -> datetime:
    # A waiting order may be older than its due moment, by which refusals are found and answers can be taken back.
    return max(order.due_at, now + ANSWER_CAN_BE_TAKEN_BACK_FOR)


def _undo(connection: Connection, order: Order, now: datetime) -> Order:
    is_too_late = order.due_at < now or outbox.has_been_due(connection, order.order_id, now + PRESS_TAKES)
    if is_too_late or not _may_be_undone(connection, order):
        raise CommandRefused(f"state: must be answered and not told yet; {order.order_id} is {order.state}")
    if _has_successor(connection, order):
        raise CommandRefused(f"order_id: must have no successor; a newer order asks for the same as {order.order_id}")
    after = replace(order, state=OrderState.PROPOSED, refusal_reason="")
    set_state(connection, after, now)
    outbox.drop_untold(connection, [order.order_id])
    return after


def _may_be_undone(connection: Connection, order: Order) -> bool:
    statement = select(table.c.may_be_undone).where(table.c.order_id == order.order_id)
    return order.state in _UNDOABLE and bool(connection.execute(statement).scalar_one())


def _has_successor(connection: Connection, order: Order) -> bool:
    statement = select(table.c.order_id).where(
        table.c.decision_key == key_text(order.decision),
        table.c.state.in_([state.value for state in OPEN_STATES]),
        table.c.order_id != order.order_id,
    )
    return connection.execute(statement).first() is not None


def write_down(connection: Connection, before: Order, after: Order, press: Press, action: str, reason: str) -> None:
    """Enter what changed of an order into the audit log."""
    details = {"site_id": before.site_id, "before": _told_of(before), "after": _told_of(after)}
    audit.append(connection, AuditEntry(press.at, press.by, action, before.order_id, reason, details))


def _told_of(order: Order) -> dict[str, object]:
    return {"order_id": order.order_id, "state": order.state.value, "quantity": float(order.decision.quantity)}
