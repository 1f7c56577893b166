"""Hand-overs between officers: given with what is open, confirmed by the next one."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import Connection, func, select, update

from doseflow.domain.audit import AuditEntry
from doseflow.domain.commanding import Handover, Press
from doseflow.domain.orders import OrderState
from doseflow.errors import CommandRefused, HandoverNotFound
from doseflow.store import audit
from doseflow.store.columns import AnyRow
from doseflow.store.commands import in_force
from doseflow.store.json_bytes import json_bytes
from doseflow.store.orders import WAITING
from doseflow.store.playbooks import running_playbooks
from doseflow.store.tables import handovers as table
from doseflow.store.tables import orders, outbox


def open_items(connection: Connection) -> dict[str, Any]:
    """What is open now: waiting and unanswered orders, wishes in force, running playbooks, dead letters."""
    wishes = in_force(connection)
    sent = orders.c.state == OrderState.SENT.value
    return {
        "waiting_order_ids": _ids(connection, WAITING),
        "unanswered_order_ids": _ids(connection, sent),
        "pinned": len(wishes.pinned),
        "frozen_site_ids": sorted(wishes.frozen_site_ids),
        "suspended_site_ids": sorted(wishes.suspended_site_ids),
        "playbooks": [
            {"playbook_id": one.playbook_id, "kind": one.kind.value, "reason": one.reason}
            for one in running_playbooks(connection)
        ],
        "dead_letters": connection.execute(
            select(func.count()).where(outbox.c.delivered_at.is_(None), outbox.c.dead_at.is_not(None))
        ).scalar_one(),
    }


def hand_over(connection: Connection, from_officer: str, to_officer: str, note: str, press: Press) -> Handover:
    """Give the watch, with a list of what is open."""
    row = {
        "from_officer": from_officer,
        "to_officer": to_officer,
        "note": note,
        "open_items": json_bytes(open_items(connection)).decode(),
        "given_by": press.by,
        "given_at": press.at,
    }
    made = connection.execute(table.insert().returning(table.c.handover_id), row).scalar_one()
    handover = read_handover(connection, made)
    details = {"from": from_officer, "to": to_officer, "note": note, "open_items": handover.open_items}
    audit.append(connection, AuditEntry(press.at, press.by, "handover.give", str(made), press.reason, details))
    return handover


def confirm(connection: Connection, handover_id: int, press: Press) -> Handover:
    """
    The next officer takes the watch.

    Raises
    ------
    HandoverNotFound
    CommandRefused
        It was confirmed before.
    """
    before = read_handover(connection, handover_id)
    if before.confirmed_at is not None:
        raise CommandRefused(f"handover_id: must not be confirmed yet; {before.confirmed_by} has taken {handover_id}")
    values = {"confirmed_by": press.by, "confirmed_at": press.at}
    connection.execute(update(table).where(table.c.handover_id == handover_id).values(values))
    details = {"from": before.from_officer, "to": before.to_officer}
    audit.append(
        connection, AuditEntry(press.at, press.by, "handover.confirm", str(handover_id), press.reason, details)
    )
    return read_handover(connection, handover_id)


def read_handover(connection: Connection, handover_id: int) -> Handover:
    """
    One hand-over.

    Raises
    ------
    HandoverNotFound
    """
    row = connection.execute(select(table).where(table.c.handover_id == handover_id)).one_or_none()
    if row is None:
        raise HandoverNotFound(f"no hand-over has the id {handover_id}")
    return _handover(row)


def read_handovers(connection: Connection, limit: int) -> list[Handover]:
    """The latest first."""
    statement = select(table).order_by(table.c.handover_id.desc()).limit(limit)
    return [_handover(row) for row in connection.execute(statement)]


def _ids(connection: Connection, condition: Any) -> list[str]:
    statement = select(orders.c.order_id).where(condition).order_by(orders.c.order_no)
    return list(connection.execute(statement).scalars())


def _handover(row: AnyRow) -> Handover:
    values = dict(row._mapping)
    return Handover(**values | {"open_items": orjson.loads(row.open_items)})
