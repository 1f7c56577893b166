"""The gateways that orders are told to, and how far each has been read from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from doseflow.store.tables import gateways as table
from doseflow.store.transactions import Transactions

SITE_INBOX = "site_inbox"
_NAMES = select(table.c.name).order_by(table.c.name)


class SqlGatewayPositions:
    """How far each gateway's answers have been taken: a word that only the gateway understands; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def position(self, gateway: str) -> str | None:
        """Where to go on; None at the beginning."""
        with self._transactions.read() as connection:
            return connection.execute(select(table.c.position).where(table.c.name == gateway)).scalar()

    def go_on_from(self, gateway: str, position: str) -> None:
        """Keep where to go on."""
        with self._transactions.write() as connection:
            connection.execute(update(table).where(table.c.name == gateway).values(position=position))


def gateway_names(connection: Connection) -> tuple[str, ...]:
    """Names of the gateways that are set up; as long as nobody has set up any, the site inbox."""
    return tuple(connection.execute(_NAMES).scalars()) or (SITE_INBOX,)


def set_up(connection: Connection, names: Sequence[str], now: datetime) -> list[str]:
    """Set up these gateways and no others; those that were not set up before, and are not told by default."""
    before = set(connection.execute(_NAMES).scalars())
    connection.execute(delete(table).where(table.c.name.not_in(list(names))))
    new = [name for name in names if name not in before]
    if new:
        connection.execute(table.insert(), [{"name": name, "set_up_at": now} for name in new])
    return [name for name in new if before or name != SITE_INBOX]
