"""Orders: made and withdrawn by a cycle, moved on by receipts, expired by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, literal_column, not_, or_, select, update

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.dispatch.order_life import (
    COMMITTING_STATES,
    GIVEN_UP_AFTER,
    REFUSAL_BINDS_FOR,
    UNANSWERED_STATES,
    WITHDRAWABLE_STATES,
)
from doseflow.domain.approvals import Approval
from doseflow.domain.orders import Commitments, Order, OrderState
from doseflow.domain.playbooks import incidents_of, suspended_by
from doseflow.errors import OrderNotFound
from doseflow.store.commands import in_force
from doseflow.store.decision_codec import DecisionIdentity, decision_from_json, decision_to_json, key_text
from doseflow.store.insert_new import insert_new
from doseflow.store.many_rows import Column, ManyRows
from doseflow.store.playbooks import running_playbooks
from doseflow.store.tables import orders as table

ORDER_COLUMNS = tuple(table.c[one.name] for one in fields(Order))
"""Columns that an order is read from, in the order of its fields."""

_DECISION = ORDER_COLUMNS.index(table.c.decision)
_STATE = ORDER_COLUMNS.index(table.c.state)
_APPROVAL = ORDER_COLUMNS.index(table.c.approval)
_AS_THEY_ARE = [one.name for one in fields(Order) if one.name not in {"decision", "state", "approval"}]
_OPEN = [state.value for state in OPEN_STATES]
_WITHDRAWABLE = [state.value for state in WITHDRAWABLE_STATES]
_UNANSWERED = [state.value for state in UNANSWERED_STATES]
_BINDING = [state.value for state in COMMITTING_STATES]
WAITING = (table.c.state == OrderState.PROPOSED.value) & (table.c.approval != Approval.AUTOMATIC.value)
"""Orders that wait for a person."""

# Statements of every cycle are made once: making one takes longer than running it.
_INSERT = ManyRows(lambda connection: insert_new(connection, table))
_WITHDRAW = (
    update(table)
    .where(table.c.order_id.in_(bindparam("order_ids", expanding=True)), table.c.state.in_(_WITHDRAWABLE))
    .values(state=OrderState.WITHDRAWN.value, changed_at=bindparam("now"))
    .returning(table.c.order_no, table.c.order_id, table.c.site_id)
)
_WITHDRAW_WAITING = (
    update(table)
    .where(table.c.order_id.in_(bindparam("order_ids", expanding=True)), WAITING)
    .values(state=OrderState.WITHDRAWN.value, changed_at=bindparam("now"))
    .returning(table.c.order_id)
)
_EXPIRE = (
    update(table)
    .where(
        table.c.state.in_(_OPEN),
        table.c.due_at < bindparam("now"),
        # What waits for a person has its own clock, and no time to be carried out before it is told.
        not_(WAITING),
        # What a site has begun is late, not void: its people and doses stay taken until it says how it ended.
        or_(table.c.state.in_(_UNANSWERED), table.c.due_at < bindparam("given_up_before")),
    )
    .values(state=OrderState.EXPIRED.value, changed_at=bindparam("now"))
    .returning(table.c.order_id)
)
_OPEN_IDS = select(table.c.decision_key, table.c.quantity, table.c.order_id).where(table.c.state.in_(_OPEN))
_DECISIONS = select(table.c.state, table.c.decision).order_by(table.c.order_no)
_BINDING_NOW = _DECISIONS.where(or_(table.c.state.in_(_BINDING), WAITING))
_REFUSED_LATELY = _DECISIONS.where(
    # Literal, as in the partial index; no order is refused later than it is given up, so its due moment finds it.
    table.c.state == literal_column(f"'{OrderState.REFUSED}'"),
    table.c.due_at >= bindparam("due_since"),
    table.c.changed_at >= bindparam("since"),
)


def insert_orders(connection: Connection, orders: Sequence[Order]) -> None:
    """Keep orders; one that is there already stays as it is."""
    _INSERT.run(connection, _columns(orders))


def withdraw_waiting(connection: Connection, order_ids: Sequence[str], now: datetime) -> set[str]:
    """Withdraw those of the orders that wait for approval, of which nobody knows; their ids."""
    if not order_ids:
        return set()
    return set(connection.execute(_WITHDRAW_WAITING, {"order_ids": order_ids, "now": now}).scalars())


def withdraw_orders(connection: Connection, order_ids: Sequence[str], now: datetime) -> dict[str, str]:
    """Withdraw those of the orders that no site has answered yet; for each, the site that must be told."""
    if not order_ids:
        return {}
    rows = connection.execute(_WITHDRAW, {"order_ids": order_ids, "now": now})
    return {row.order_id: row.site_id for row in sorted(rows)}


def keys_of(connection: Connection, order_ids: Sequence[str]) -> set[str]:
    """The decision keys, as text, of orders."""
    if not order_ids:
        return set()
    return set(connection.execute(select(table.c.decision_key).where(table.c.order_id.in_(order_ids))).scalars())


def open_order_ids(connection: Connection) -> dict[DecisionIdentity, str]:
    """The id of the open order for each decision that has one."""
    return {(key, quantity): order_id for key, quantity, order_id in connection.execute(_OPEN_IDS)}


def read_orders(
    connection: Connection, states: Sequence[OrderState] | None, site_id: str | None, limit: int
) -> list[Order]:
    """Orders, newest first."""
    statement = select(*ORDER_COLUMNS).order_by(table.c.order_no.desc()).limit(limit)
    if states is not None:
        statement = statement.where(table.c.state.in_([state.value for state in states]))
    if site_id is not None:
        statement = statement.where(table.c.site_id == site_id)
    return [order_of_values(row) for row in connection.execute(statement)]


def read_order(connection: Connection, order_id: str, *, for_update: bool = False) -> Order:
    """
    One order.

    Raises
    ------
    OrderNotFound
    """
    statement = select(*ORDER_COLUMNS).where(table.c.order_id == order_id)
    if for_update:
        statement = statement.with_for_update()
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise OrderNotFound(f"no order has the id {order_id!r}")
    return order_of_values(row)


def set_state(connection: Connection, order: Order, changed_at: datetime, *, may_be_undone: bool = False) -> None:
    """Put an order into the state, with the refusal and the due moment, that it has now."""
    connection.execute(
        update(table)
        .where(table.c.order_id == order.order_id)
        .values(
            state=order.state.value,
            refusal_reason=order.refusal_reason,
            due_at=order.due_at,
            changed_at=changed_at,
            may_be_undone=int(may_be_undone),
        )
    )


def expire_orders(connection: Connection, now: datetime) -> list[str]:
    """Move unanswered orders past their due moment, and others long past it, to `expired`; their ids."""
    return sorted(connection.execute(_EXPIRE, {"now": now, "given_up_before": now - GIVEN_UP_AFTER}).scalars())


def commitments(connection: Connection, now: datetime) -> Commitments:
    """What binds the next plan."""
    by_state: dict[str, list[Any]] = {state: [] for state in OrderState}
    binding = connection.execute(_BINDING_NOW).all()
    since = now - REFUSAL_BINDS_FOR
    refused = connection.execute(_REFUSED_LATELY, {"since": since, "due_since": since - GIVEN_UP_AFTER}).all()
    for state, decision in (*binding, *refused):
        by_state[state].append(decision_from_json(decision))
    commands, running = in_force(connection), running_playbooks(connection)
    unanswered = (OrderState.PROPOSED, OrderState.APPROVED, OrderState.SENT)
    return Commitments(
        acknowledged=tuple(by_state[OrderState.ACKNOWLEDGED]),
        under_way=tuple(by_state[OrderState.UNDER_WAY]),
        sent=tuple(decision for state in unanswered for decision in by_state[state]),
        refused=tuple(by_state[OrderState.REFUSED]),
        pinned=commands.pinned,
        frozen_site_ids=commands.frozen_site_ids,
        suspended_site_ids=commands.suspended_site_ids | suspended_by(running),
        overridden=commands.overridden,
        incidents=incidents_of(running),
    )


def order_of_values(values: Sequence[Any]) -> Order:
    """The order of the values of `ORDER_COLUMNS`."""
    read = list(values)
    read[_DECISION] = decision_from_json(read[_DECISION])
    read[_STATE] = OrderState(read[_STATE])
    read[_APPROVAL] = Approval(read[_APPROVAL])
    return Order(*read)


def _columns(orders: Sequence[Order]) -> dict[str, Column]:
    columns: dict[str, Column] = {name: [getattr(order, name) for order in orders] for name in _AS_THEY_ARE}
    return columns | {
        "decision_key": [key_text(order.decision) for order in orders],
        "quantity": [float(order.decision.quantity) for order in orders],
        "decision": [decision_to_json(order.decision) for order in orders],
        "state": [order.state.value for order in orders],
        "approval": [order.approval.value for order in orders],
        "changed_at": columns["created_at"],
    }
