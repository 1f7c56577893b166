"""Wishes of people in command: sites frozen or suspended, decisions pinned; each holds until it is lifted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, bindparam, exists, not_, select, update

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.decisions import Decision
from doseflow.store.decision_codec import decision_from_json, decision_to_json, key_text
from doseflow.store.insert_new import insert_new
from doseflow.store.tables import commands as table
from doseflow.store.tables import orders


class CommandKind(StrEnum):
    """What a person in command may wish."""

    FREEZE = "freeze"
    SUSPEND = "suspend"
    PIN = "pin"
    """A decision that is wanted until it is lifted."""
    KEEP = "keep"
    """A decision that is wanted as long as an order for it is open."""
    OVERRIDE = "override"
    """The same, in just this quantity."""


PINNING = (CommandKind.PIN, CommandKind.KEEP, CommandKind.OVERRIDE)
_WITH_ITS_ORDER = (CommandKind.KEEP.value, CommandKind.OVERRIDE.value)
_HAS_ORDER = exists().where(
    orders.c.decision_key == table.c.subject, orders.c.state.in_([state.value for state in OPEN_STATES])
)
_SPENT = table.c.kind.in_(_WITH_ITS_ORDER) & ~_HAS_ORDER

_IN_FORCE = (
    select(table.c.kind, table.c.subject, table.c.decision)
    .where(table.c.lifted_at.is_(None), not_(_SPENT))
    .order_by(table.c.command_no)
)
_LIFT_SPENT = update(table).where(table.c.lifted_at.is_(None), _SPENT).values(lifted_at=bindparam("now"))


@dataclass(frozen=True, slots=True)
class CommandsInForce:
    """The wishes that hold now."""

    pinned: tuple[Decision, ...]
    overridden: tuple[Decision, ...]
    frozen_site_ids: frozenset[str]
    suspended_site_ids: frozenset[str]


def set_for_site(connection: Connection, kind: CommandKind, site_id: str, now: datetime) -> None:
    """Set a wish for a site; one that holds already stays as it is."""
    connection.execute(insert_new(connection, table), {"kind": kind.value, "subject": site_id, "set_at": now})


def pin(connection: Connection, decision: Decision, now: datetime, kind: CommandKind = CommandKind.PIN) -> None:
    """Pin a decision; it takes the place of a pinned one that differs only in its quantity."""
    unpin(connection, decision, now)
    row = {"kind": kind.value, "subject": key_text(decision), "decision": decision_to_json(decision), "set_at": now}
    connection.execute(table.insert(), row)


def unpin(connection: Connection, decision: Decision, now: datetime) -> None:
    """End whatever pins a decision; the quantity does not matter."""
    for kind in PINNING:
        lift(connection, kind, key_text(decision), now)


def pinned_as(connection: Connection, decision: Decision) -> tuple[CommandKind, Decision] | None:
    """How a decision is pinned, and in which quantity; None where it is not."""
    key = key_text(decision)
    rows = [row for row in connection.execute(_IN_FORCE) if row.subject == key and row.kind in PINNING]
    return (CommandKind(rows[0].kind), decision_from_json(rows[0].decision)) if rows else None


def lift_spent(connection: Connection, now: datetime) -> None:
    """End the pins of orders that are over: a later order for the same thing is not bound by them."""
    connection.execute(_LIFT_SPENT, {"now": now})


def is_set(connection: Connection, kind: CommandKind, subject: str) -> bool:
    """Whether a wish holds."""
    statement = select(table.c.command_no).where(
        table.c.kind == kind.value, table.c.subject == subject, table.c.lifted_at.is_(None)
    )
    return connection.execute(statement).first() is not None


def lift(connection: Connection, kind: CommandKind, subject: str, now: datetime) -> None:
    """End a wish; where none holds, nothing happens."""
    connection.execute(
        update(table)
        .where(table.c.kind == kind.value, table.c.subject == subject, table.c.lifted_at.is_(None))
        .values(lifted_at=now)
    )


def in_force(connection: Connection) -> CommandsInForce:
    """The wishes that hold, pinned decisions in the order in which they were pinned."""
    rows = connection.execute(_IN_FORCE).all()
    return CommandsInForce(
        pinned=tuple(decision_from_json(row.decision) for row in rows if row.kind in PINNING),
        overridden=tuple(decision_from_json(row.decision) for row in rows if row.kind == CommandKind.OVERRIDE),
        frozen_site_ids=frozenset(row.subject for row in rows if row.kind == CommandKind.FREEZE),
        suspended_site_ids=frozenset(row.subject for row in rows if row.kind == CommandKind.SUSPEND),
    )
