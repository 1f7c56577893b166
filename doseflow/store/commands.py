"""Wishes of people in command: sites frozen or suspended, decisions pinned; each holds until it is lifted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, select, update

from doseflow.domain.decisions import Decision
from doseflow.store.decision_codec import decision_from_json, decision_to_json, key_text
from doseflow.store.insert_new import insert_new
from doseflow.store.tables import commands as table


class CommandKind(StrEnum):
    """What a person in command may wish."""

    FREEZE = "freeze"
    SUSPEND = "suspend"
    PIN = "pin"


_IN_FORCE = (
    select(table.c.kind, table.c.subject, table.c.decision)
    .where(table.c.lifted_at.is_(None))
    .order_by(table.c.command_no)
)


@dataclass(frozen=True, slots=True)
class CommandsInForce:
    """The wishes that hold now."""

    pinned: tuple[Decision, ...]
    frozen_site_ids: frozenset[str]
    suspended_site_ids: frozenset[str]


def set_for_site(connection: Connection, kind: CommandKind, site_id: str, now: datetime) -> None:
    """Set a wish for a site; one that holds already stays as it is."""
    connection.execute(insert_new(connection, table), {"kind": kind.value, "subject": site_id, "set_at": now})


def pin(connection: Connection, decision: Decision, now: datetime) -> None:
    """Pin a decision; it takes the place of a pinned one that differs only in its quantity."""
    lift(connection, CommandKind.PIN, key_text(decision), now)
    row = {
        "kind": CommandKind.PIN.value,
        "subject": key_text(decision),
        "decision": decision_to_json(decision),
        "set_at": now,
    }
    connection.execute(table.insert(), row)


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
        pinned=tuple(decision_from_json(row.decision) for row in rows if row.kind == CommandKind.PIN),
        frozen_site_ids=frozenset(row.subject for row in rows if row.kind == CommandKind.FREEZE),
        suspended_site_ids=frozenset(row.subject for row in rows if row.kind == CommandKind.SUSPEND),
    )
