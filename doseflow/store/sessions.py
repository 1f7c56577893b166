"""SqlSessions: who has signed in. Tokens are kept as digests only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select, update

from doseflow.domain.audit import AuditEntry
from doseflow.domain.sign_ins import Session, SignInWay
from doseflow.store.audit import append
from doseflow.store.caller_columns import caller_of, caller_values
from doseflow.store.tables import sessions as table
from doseflow.store.transactions import Transactions


class SqlSessions:
    """Sessions on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def begin(self, session: Session, entry: AuditEntry) -> None:
        """Keep a session, and in the same transaction that it began; those whose time is over are forgotten."""
        row = {
            "token_digest": session.token_digest,
            **caller_values(session.caller),
            "way": session.way.value,
            "began_at": session.began_at,
            "seen_at": session.seen_at,
            "ends_at": session.ends_at,
        }
        with self._transactions.write() as connection:
            connection.execute(delete(table).where(table.c.ends_at <= session.began_at))
            connection.execute(table.insert(), row)
            append(connection, entry)

    def find(self, token_digest: str) -> Session | None:
        """The session of a token, whether its time is over or not."""
        with self._transactions.read() as connection:
            row = connection.execute(select(table).where(table.c.token_digest == token_digest)).one_or_none()
        if row is None:
            return None
        caller = caller_of(row, is_machine=False)
        return Session(row.token_digest, caller, SignInWay(row.way), row.began_at, row.seen_at, row.ends_at)

    def see(self, token_digest: str, now: datetime) -> None:
        """Something was heard of it."""
        with self._transactions.write() as connection:
            connection.execute(update(table).where(table.c.token_digest == token_digest).values(seen_at=now))

    def end(self, token_digest: str, entry: AuditEntry) -> None:
        """End one session; where there is none nothing is kept."""
        with self._transactions.write() as connection:
            ended = connection.execute(delete(table).where(table.c.token_digest == token_digest))
            if ended.rowcount:
                append(connection, entry)

    def end_all_of(self, name: str) -> int:
        """End every session of a person; how many there were."""
        with self._transactions.write() as connection:
            return connection.execute(delete(table).where(table.c.name == name)).rowcount
