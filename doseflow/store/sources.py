"""SqlSourceBook: where each outside source stands, and what it said that nobody here knows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, Table, func, literal, select

from doseflow.ports import SourceState, UnknownCode, UnmappedId
from doseflow.store.columns import storable
from doseflow.store.insert_new import insert_or_change
from doseflow.store.tables import sources, unknown_codes, unmapped_ids
from doseflow.store.transactions import Transactions

MAX_KEPT = 5_000
"""Codes, and ids, kept in all: whoever sends rubbish all day must not fill the disk."""
MAX_ID = 100
"""Characters kept of a name, a code or an id."""
MAX_TEXT = 1_000
"""Characters kept of a sentence."""


class SqlSourceBook:
    """The source book on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def mark(self, source: str, at: datetime, ok: bool, text: str = "") -> None:
        """Note that a source was heard, or that it failed and why."""
        with self._transactions.write() as connection:
            mark_source(connection, source, at, ok, text)

    def note_unknown(self, source: str, system: str, code: str, text: str, at: datetime) -> None:
        """Keep a code that nobody here knows."""
        with self._transactions.write() as connection:
            note_unknown_code(connection, source, system, code, text, at)

    def note_unmapped(self, source: str, outside_ids: Iterable[str], at: datetime) -> None:
        """Keep ids that no table maps to a place of this city."""
        with self._transactions.write() as connection:
            for outside_id in outside_ids:
                _count(connection, unmapped_ids, {"source": source, "outside_id": outside_id}, {}, at)

    def states(self) -> list[SourceState]:
        """Every source that was ever heard or failed, by name."""
        with self._transactions.read() as connection:
            codes = connection.execute(select(unknown_codes).order_by(unknown_codes.c.system, unknown_codes.c.code))
            code_rows = [(row.source, UnknownCode(*row[1:])) for row in codes]
            ids = connection.execute(select(unmapped_ids).order_by(unmapped_ids.c.outside_id))
            id_rows = [(row.source, UnmappedId(*row[1:])) for row in ids]
            rows = connection.execute(select(sources).order_by(sources.c.source)).all()
        return [
            SourceState(
                row.source,
                row.last_ok_at,
                row.last_failed_at,
                row.last_error,
                row.num_ok,
                row.num_failed,
                unknown_codes=tuple(code for name, code in code_rows if name == row.source),
                unmapped_ids=tuple(one for name, one in id_rows if name == row.source),
            )
            for row in rows
        ]


def mark_source(connection: Connection, source: str, at: datetime, ok: bool, text: str = "") -> None:
    """Note in the transaction of what it tells of that a source was heard, or that it failed and why."""
    row = {
        "source": _cut(source, MAX_ID),
        "last_ok_at": at if ok else None,
        "last_failed_at": None if ok else at,
        "last_error": "" if ok else _cut(text, MAX_TEXT),
        "num_ok": int(ok),
        "num_failed": int(not ok),
    }
    names = ("last_ok_at", "num_ok") if ok else ("last_failed_at", "last_error", "num_failed")
    statement = insert_or_change(
        connection,
        sources,
        lambda new: {name: sources.c[name] + 1 if name.startswith("num_") else new[name] for name in names},
    )
    connection.execute(statement, row)


def note_unknown_code(connection: Connection, source: str, system: str, code: str, text: str, at: datetime) -> None:
    """Keep a code that nobody here knows, in the transaction of the message that it stood in."""
    key = {"source": source, "system": system, "code": code}
    _count(connection, unknown_codes, key, {"text": _cut(text, MAX_TEXT)}, at)


def _count(connection: Connection, table: Table, key: dict[str, str], told: dict[str, str], at: datetime) -> None:
    key = {name: _cut(value, MAX_ID) for name, value in key.items()}
    is_there = select(literal(1)).where(*(table.c[name] == value for name, value in key.items()))
    num_kept = select(func.count()).select_from(table)
    if connection.execute(is_there).first() is None and connection.execute(num_kept).scalar_one() >= MAX_KEPT:
        return
    statement = insert_or_change(
        connection,
        table,
        lambda new: (
            {"last_seen_at": new["last_seen_at"], "count": table.c["count"] + 1} | {name: new[name] for name in told}
        ),
    )
    connection.execute(statement, key | told | {"first_seen_at": at, "last_seen_at": at, "count": 1})


def _cut(text: str, length: int) -> str:
    return storable(text)[:length]
