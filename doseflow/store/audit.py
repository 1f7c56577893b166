"""SqlAuditLog: append-only, each entry chained by digest to the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import orjson
from sqlalchemy import Connection, select, text

from doseflow.domain.audit import NO_HEAD, AuditEntry, AuditFilter, AuditHead, AuditPage, ChainedEntry
from doseflow.store.audit_lines import content_bytes, digest_after, line_of
from doseflow.store.columns import AnyRow
from doseflow.store.tables import audit_log as table
from doseflow.store.tables import cycles
from doseflow.store.transactions import Transactions

SCAN_ENTRIES = 2000
MAX_SCANS = 10
"""Chunks of entries that one search looks through before it gives what it has and says where to go on."""
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

    def head(self) -> AuditHead:
        """The last entry's number and digest."""
        with self._transactions.read() as connection:
            return head_of(connection)

    def lines(self, after_no: int = 0) -> Iterator[bytes]:
        """Entries after a number as lines of JSON, each with its digests: what `check_lines` can check anywhere."""
        while chunk := self._rows(after_no):
            yield from map(line_of, chunk)
            after_no = chunk[-1].entry_no

    def heads(self) -> list[AuditHead]:
        """Heads that were kept with cycles, oldest first: entries up to each must still be there."""
        statement = (
            select(cycles.c.audit_entry_no, cycles.c.audit_digest)
            .where(cycles.c.audit_entry_no > 0)
            .distinct()
            .order_by(cycles.c.audit_entry_no)
        )
        with self._transactions.read() as connection:
            return [AuditHead(*row) for row in connection.execute(statement)]

    def _rows(self, after_no: int) -> list[AnyRow]:
        statement = select(table).where(table.c.entry_no > after_no).order_by(table.c.entry_no).limit(SCAN_ENTRIES)
        with self._transactions.read() as connection:
            return list(connection.execute(statement))

    def search(self, wanted: AuditFilter, after_no: int = 0, limit: int = 1000) -> AuditPage:
        """
        Entries that fit, oldest first; a page may hold fewer than `limit` and not be the last.

        What is hashed is looked through, so that nobody is shown a column that the chain does not vouch for.
        """
        return _scan(lambda number: self.entries(number, SCAN_ENTRIES), wanted, after_no, limit)

    def entries(self, after_no: int = 0, limit: int = 1000) -> list[ChainedEntry]:
        """Entries after a number, oldest first."""
        statement = select(table).where(table.c.entry_no > after_no).order_by(table.c.entry_no).limit(limit)
        with self._transactions.read() as connection:
            return [_chained(row) for row in connection.execute(statement)]


def _scan(read: Callable[[int], list[ChainedEntry]], wanted: AuditFilter, after_no: int, limit: int) -> AuditPage:
    found: list[ChainedEntry] = []
    for _ in range(MAX_SCANS):
        chunk = read(after_no)
        for one in chunk:
            after_no = one.entry_no
            if wanted.takes(one.entry):
                found.append(one)
                if len(found) == limit:
                    return AuditPage(tuple(found), after_no)
        if len(chunk) < SCAN_ENTRIES:
            return AuditPage(tuple(found), None)
    return AuditPage(tuple(found), after_no)


def wait_for_turn(connection: Connection) -> None:
    """
    Wait until no other transaction appends; the turn lasts until this one ends.

    Who takes locks of other tables before it appends calls this first, so that two of them never wait for each other.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})


def head_of(connection: Connection) -> AuditHead:
    """The number and the digest of the last entry; 0 and the first digest where there is none."""
    last = connection.execute(_LAST).one_or_none()
    return NO_HEAD if last is None else AuditHead(last.entry_no, last.digest)


def append(connection: Connection, entry: AuditEntry) -> ChainedEntry:
    """Keep an entry in the transaction of what it tells of: both are kept, or neither."""
    wait_for_turn(connection)
    head = head_of(connection)
    entry_no, previous = head.entry_no + 1, head.digest
    content = content_bytes(entry)
    digest = digest_after(previous, entry_no, content)
    row = {"entry_no": entry_no, "at": entry.at, "content": content, "previous_digest": previous, "digest": digest}
    connection.execute(table.insert(), row)
    return ChainedEntry(entry_no, entry, previous, digest)


def _chained(row: AnyRow) -> ChainedEntry:
    value = orjson.loads(row.content)
    entry = AuditEntry(row.at, value["by"], value["action"], value["subject"], value["reason"], value["details"])
    return ChainedEntry(row.entry_no, entry, row.previous_digest, row.digest)
