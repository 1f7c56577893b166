"""SqlApiKeys: the keys of machines. Secrets are kept as digests only; what holds no more stays, for the record."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update

from doseflow.domain.audit import AuditEntry
from doseflow.domain.sign_ins import ApiKey
from doseflow.errors import UserNotFound
from doseflow.store.audit import append
from doseflow.store.caller_columns import caller_of, caller_values
from doseflow.store.columns import AnyRow
from doseflow.store.tables import api_keys as table
from doseflow.store.transactions import Transactions


class SqlApiKeys:
    """Keys on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def add(self, key: ApiKey, entry: AuditEntry) -> None:
        """Keep a key, and in the same transaction that it was made."""
        row = {
            "prefix": key.prefix,
            "secret_digest": key.secret_digest,
            **caller_values(key.caller),
            "made_at": key.made_at,
            "ends_at": key.ends_at,
            "revoked_at": key.revoked_at,
        }
        with self._transactions.write() as connection:
            connection.execute(table.insert(), row)
            append(connection, entry)

    def find(self, prefix: str) -> ApiKey | None:
        """The key of a prefix, whether it holds or not."""
        with self._transactions.read() as connection:
            row = connection.execute(select(table).where(table.c.prefix == prefix)).one_or_none()
        return None if row is None else _key(row)

    def all_keys(self) -> list[ApiKey]:
        """All of them, oldest first."""
        with self._transactions.read() as connection:
            return [_key(row) for row in connection.execute(select(table).order_by(table.c.made_at, table.c.prefix))]

    def revoke(self, prefix: str, now: datetime, entry: AuditEntry) -> None:
        """
        From now on the key opens nothing.

        Raises
        ------
        UserNotFound
            No key has the prefix, or it was revoked before.
        """
        holding = update(table).where(table.c.prefix == prefix, table.c.revoked_at.is_(None))
        with self._transactions.write() as connection:
            if not connection.execute(holding.values(revoked_at=now)).rowcount:
                raise UserNotFound(f"prefix: no key that holds begins with {prefix!r}")
            append(connection, entry)


def _key(row: AnyRow) -> ApiKey:
    caller = caller_of(row, is_machine=True)
    return ApiKey(row.prefix, row.secret_digest, caller, row.made_at, row.ends_at, row.revoked_at)
