"""SqlAuditLog: append-only, each entry chained by digest to the one before."""

from __future__ import annotations

import hashlib
from datetime import UTC

import orjson
from sqlalchemy import Connection, select, text

from doseflow.domain.audit import AuditEntry, ChainedEntry
from doseflow.store.columns import AnyRow, storable
from doseflow.store.tables import audit_log as table
from doseflow.store.transactions import Transactions

FIRST_DIGEST = "0" * 64
"""What stands before the first entry."""
ADVISORY_LOCK = 0x61756474
"""Key under which processes that append to one PostgreSQL database wait for each other."""

_LAST = select(table.c.entry_no, table.c.digest).order_by(table.c.entry_no.desc()).limit(1)


class SqlAuditLog:
    """The audit log on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def append(self, entry: AuditEntry) -> ChainedEntry:
        """Keep an entry in a transaction of its own."""
        with self._transactions.write() as connection:
            return append(connection, entry)

    def entries(self, after_no: int = 0, limit: int = 1000) -> list[ChainedEntry]:
        """Entries after a number, oldest first."""
        statement = select(table).where(table.c.entry_no > after_no).order_by(table.c.entry_no).limit(limit)
        with self._transactions.read() as connection:
            return [_chained(row) for row in connection.execute(statement)]


def append(connection: Connection, entry: AuditEntry) -> ChainedEntry:
    """Keep an entry in the transaction of what it tells of: both are kept, or neither."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
    last = connection.execute(_LAST).one_or_none()
    entry_no, previous = (1, FIRST_DIGEST) if last is None else (last.entry_no + 1, last.digest)
    content = content_bytes(entry)
    digest = digest_after(previous, entry_no, content)
    row = {"entry_no": entry_no, "at": entry.at, "content": content, "previous_digest": previous, "digest": digest}
    connection.execute(table.insert(), row)
    return ChainedEntry(entry_no, entry, previous, digest)


def content_bytes(entry: AuditEntry) -> bytes:
    """The entry as JSON with sorted keys: what is hashed and what is kept."""
    value = {
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "by": storable(entry.by),
        "action": entry.action,
        "subject": storable(entry.subject),
        "reason": storable(entry.reason),
        "details": dict(entry.details),
    }
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest_after(previous_digest: str, entry_no: int, content: bytes) -> str:
    """SHA-256 over the digest before, the number and the content."""
    return hashlib.sha256(f"{previous_digest}\n{entry_no}\n".encode() + content).hexdigest()


def _chained(row: AnyRow) -> ChainedEntry:
    value = orjson.loads(row.content)
    entry = AuditEntry(row.at, value["by"], value["action"], value["subject"], value["reason"], value["details"])
    return ChainedEntry(row.entry_no, entry, row.previous_digest, row.digest)
