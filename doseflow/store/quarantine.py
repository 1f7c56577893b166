"""What was refused at the door, for the operator: cut to a length, and only so many of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, insert, select

from doseflow.ports import QuarantinedReport
from doseflow.store.tables import quarantine as table

MAX_RAW_BYTES = 65_536
"""Bytes kept of one refused body: enough to see what is wrong with it."""
MAX_KEPT = 10_000
"""Refused bodies kept, the newest: whoever sends rubbish all day must not fill the disk."""
MAX_TEXT = 1000
"""Characters kept of a field, a reason or a site's id, which came from outside too."""


def keep(connection: Connection, refused: Sequence[QuarantinedReport]) -> None:
    """Keep refused reports and drop the oldest beyond `MAX_KEPT`."""
    connection.execute(insert(table), [_row(one) for one in refused])
    newest = select(func.max(table.c.quarantine_id)).scalar_subquery()
    connection.execute(delete(table).where(table.c.quarantine_id <= newest - MAX_KEPT))


def latest(connection: Connection, limit: int) -> list[QuarantinedReport]:
    """The latest refused ones, newest first."""
    rows = connection.execute(select(table).order_by(table.c.quarantine_id.desc()).limit(limit))
    return [QuarantinedReport(**row._mapping) for row in rows]


def _row(one: QuarantinedReport) -> dict[str, object]:
    return {
        "received_at": one.received_at,
        "site_id": one.site_id[:MAX_TEXT] if one.site_id else one.site_id,
        "field": one.field[:MAX_TEXT],
        "reason": one.reason[:MAX_TEXT],
        "raw": one.raw[:MAX_RAW_BYTES],
        "num_bytes": one.num_bytes,
    }
