"""SqlOutbox: what was decided and not told yet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, or_, select, update

from doseflow.domain.orders import OrderState
from doseflow.errors import NotFound
from doseflow.ports import OutboxEntry
from doseflow.store.many_rows import Column, ManyRows
from doseflow.store.orders import ORDER_COLUMNS, order_of_values
from doseflow.store.tables import orders
from doseflow.store.tables import outbox as table
from doseflow.store.transactions import Transactions

ORDER = "order"
WITHDRAWAL = "withdrawal"
MAX_ERROR_TEXT = 1000
"""Characters kept of what a gateway said when it failed."""
EXPIRED_UNTOLD = "the order expired before it could be told"

_UNTOLD_STATES = (OrderState.PROPOSED.value, OrderState.APPROVED.value)

ToTell = tuple[str, str, str]
"""Topic, order id, and the site that must be told."""

_PUT = ManyRows(lambda _connection: table.insert())
_WAITING = table.c.delivered_at.is_(None) & table.c.dead_at.is_(None)
_ENTRIES = (
    select(table.c.entry_id, table.c.topic, table.c.attempts, *ORDER_COLUMNS)
    .join(orders, orders.c.order_id == table.c.order_id)
    .order_by(table.c.entry_id)
)
_HELD_BACK = (
    select(table.c.site_id, func.min(table.c.entry_id).label("entry_id"))
    .where(_WAITING, table.c.next_attempt_at > bindparam("now"))
    .group_by(table.c.site_id)
    .subquery("held_back")
)
"""For each site that has one, the oldest entry whose next attempt is not due: those behind it must wait."""
_DUE = _ENTRIES.outerjoin(_HELD_BACK, _HELD_BACK.c.site_id == table.c.site_id).where(
    _WAITING,
    table.c.next_attempt_at <= bindparam("now"),
    or_(_HELD_BACK.c.entry_id.is_(None), table.c.entry_id < _HELD_BACK.c.entry_id),
)
_DEAD = _ENTRIES.where(table.c.delivered_at.is_(None), table.c.dead_at.is_not(None))


class SqlOutbox:
    """The outbox on SQLite or PostgreSQL; thread-safe. It is filled by `SqlPlanStore.save_cycle`."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def due(self, now: datetime, limit: int = 500) -> list[OutboxEntry]:
        """Entries whose next attempt is due: of each site only its oldest undelivered ones, in order."""
        statement = _DUE.limit(limit)
        with self._transactions.read() as connection:
            return _read(connection, statement, {"now": now})

    def mark_delivered(self, entry_ids: Sequence[int], now: datetime) -> None:
        """Delivered: an order that was proposed or approved becomes `sent`."""
        if not entry_ids:
            return
        entries = table.c.entry_id.in_(entry_ids)
        told = select(table.c.order_id).where(entries, table.c.topic == ORDER)
        with self._transactions.write() as connection:
            connection.execute(update(table).where(entries).values(delivered_at=now))
            connection.execute(
                update(orders)
                .where(orders.c.order_id.in_(told), orders.c.state.in_(_UNTOLD_STATES))
                .values(state=OrderState.SENT.value, changed_at=now)
            )

    def mark_failed(self, entry_id: int, now: datetime, reason: str, retry_at: datetime | None) -> None:
        """Not delivered: try again at `retry_at`, or put it on the dead-letter list when that is None."""
        values = {
            "attempts": table.c.attempts + 1,
            "last_error": reason[:MAX_ERROR_TEXT],
            "next_attempt_at": retry_at or now,
            "dead_at": now if retry_at is None else None,
        }
        with self._transactions.write() as connection:
            connection.execute(update(table).where(table.c.entry_id == entry_id, _WAITING).values(values))

    def dead_letters(self) -> list[OutboxEntry]:
        """Entries that nobody tries any more, oldest first."""
        with self._transactions.read() as connection:
            return _read(connection, _DEAD, {})

    def resend(self, entry_id: int, now: datetime) -> None:
        """
        Take an entry off the dead-letter list and try it at once.

        Raises
        ------
        NotFound
            The list has no such entry.
        """
        statement = (
            update(table)
            .where(table.c.entry_id == entry_id, table.c.delivered_at.is_(None), table.c.dead_at.is_not(None))
            .values(dead_at=None, attempts=0, next_attempt_at=now)
        )
        with self._transactions.write() as connection:
            if connection.execute(statement).rowcount == 0:
                raise NotFound(f"the dead-letter list has no entry {entry_id}")


def put(connection: Connection, orders_to_tell: Sequence[ToTell], now: datetime) -> None:
    """Put entries of (topic, order id, site id) at the end, due at once."""
    num_entries = len(orders_to_tell)
    columns: dict[str, Column] = {
        "topic": [topic for topic, _, _ in orders_to_tell],
        "order_id": [order_id for _, order_id, _ in orders_to_tell],
        "site_id": [site_id for _, _, site_id in orders_to_tell],
        "attempts": [0] * num_entries,
        "next_attempt_at": [now] * num_entries,
        "last_error": [""] * num_entries,
    }
    _PUT.run(connection, columns)


def has_been_due(connection: Connection, order_id: str, now: datetime) -> bool:
    """Whether anything of an order was delivered, or may just be on its way to somebody."""
    begun = or_(table.c.delivered_at.is_not(None), table.c.attempts > 0, table.c.next_attempt_at <= now)
    return connection.execute(select(table.c.entry_id).where(table.c.order_id == order_id, begun)).first() is not None


def drop_untold(connection: Connection, order_ids: Sequence[str]) -> None:
    """Drop what is not delivered yet of these orders: they were withdrawn, and the withdrawal is told instead."""
    if order_ids:
        connection.execute(delete(table).where(table.c.order_id.in_(order_ids), table.c.delivered_at.is_(None)))


def give_up(connection: Connection, order_ids: Sequence[str], now: datetime) -> None:
    """Move what still waits of these orders, which have expired, to the dead-letter list."""
    connection.execute(
        update(table).where(table.c.order_id.in_(order_ids), _WAITING).values(dead_at=now, last_error=EXPIRED_UNTOLD)
    )


def _read(connection: Connection, statement: Select[Any], parameters: dict[str, Any]) -> list[OutboxEntry]:
    return [
        OutboxEntry(row[0], row[1], order_of_values(row[3:]), row[2])
        for row in connection.execute(statement, parameters)
    ]
