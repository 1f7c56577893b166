"""SqlOutbox: what was decided and not told yet, for each gateway by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, exists, func, or_, select, update

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.audit import AuditEntry
from doseflow.domain.orders import NEXT_STATES, OrderState
from doseflow.errors import NotFound, ResendRefused
from doseflow.ports import DeadLetter, OutboxEntry, OutboxLine
from doseflow.store import audit
from doseflow.store.gateways import gateway_names, set_up
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

ToTell = tuple[str, str, str]
"""Topic, order id, and the site that must be told."""

_PUT = ManyRows(lambda _connection: table.insert())
_WAITING = table.c.delivered_at.is_(None) & table.c.dead_at.is_(None)
_IS_DEAD = table.c.delivered_at.is_(None) & table.c.dead_at.is_not(None)
_OPEN = [state.value for state in OPEN_STATES]
_UNTOLD_STATES = [state.value for state in OrderState if OrderState.SENT in NEXT_STATES[state]]
_ENTRIES = (
    select(table.c.entry_id, table.c.topic, table.c.attempts, table.c.gateway, *ORDER_COLUMNS)
    .join(orders, orders.c.order_id == table.c.order_id)
    .order_by(table.c.entry_id)
)
_HELD_BACK = (
    select(table.c.gateway, table.c.site_id, func.min(table.c.entry_id).label("entry_id"))
    .where(_WAITING, table.c.next_attempt_at > bindparam("now"))
    .group_by(table.c.gateway, table.c.site_id)
    .subquery("held_back")
)
"""For each gateway and site that has one, the oldest entry whose next attempt is not due: those behind it must wait."""
_DUE = _ENTRIES.outerjoin(
    _HELD_BACK, (_HELD_BACK.c.gateway == table.c.gateway) & (_HELD_BACK.c.site_id == table.c.site_id)
).where(
    _WAITING,
    table.c.next_attempt_at <= bindparam("now"),
    or_(_HELD_BACK.c.entry_id.is_(None), table.c.entry_id < _HELD_BACK.c.entry_id),
)
_DEAD = _ENTRIES.add_columns(table.c.dead_at, table.c.last_error).where(_IS_DEAD)
_LINES = (
    select(
        table.c.gateway,
        func.count().filter(_WAITING),
        func.min(table.c.put_at).filter(_WAITING),
        func.count().filter(_IS_DEAD),
    )
    .where(table.c.delivered_at.is_(None))
    .group_by(table.c.gateway)
)
_TOLD = table.alias("told")
_TOLD_ELSEWHERE = exists().where(
    _TOLD.c.order_id == table.c.order_id, _TOLD.c.topic == ORDER, _TOLD.c.delivered_at.is_not(None)
)


class SqlOutbox:
    """
    The outbox on SQLite or PostgreSQL; thread-safe. It is filled by `SqlPlanStore`, a row for each gateway.

    Lines are told in order for a site and a gateway; one gateway never waits for another.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def set_up_gateways(self, names: Sequence[str], now: datetime) -> None:
        """
        From now on these gateways are told, and no others.

        One that was not set up before is told every order that is open and was let out; what waited for one that is
        no more waits no longer.
        """
        with self._transactions.write() as connection:
            for name in set_up(connection, names, now):
                _tell_open_orders(connection, name, now)
            gone = delete(table).where(_WAITING, table.c.gateway.not_in(list(names)))
            connection.execute(gone)

    def due(self, now: datetime, limit: int = 500, gateway: str | None = None) -> list[OutboxEntry]:
        """Entries whose next attempt is due, of one gateway or all: of each line only its oldest ones, in order."""
        statement = _DUE.limit(limit)
        if gateway is not None:
            statement = statement.where(table.c.gateway == gateway)
        with self._transactions.read() as connection:
            return [_entry(row) for row in connection.execute(statement, {"now": now})]

    def mark_delivered(self, entry_ids: Sequence[int], now: datetime) -> None:
        """Delivered: an order that nobody was told of before becomes `sent`."""
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

    def drop(self, entry_ids: Sequence[int]) -> None:
        """Nobody is to be told: the gateway does not reach the site."""
        if entry_ids:
            with self._transactions.write() as connection:
                connection.execute(delete(table).where(table.c.entry_id.in_(entry_ids), _WAITING))

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

    def lines(self) -> list[OutboxLine]:
        """How each gateway stands that is set up or has something left."""
        with self._transactions.read() as connection:
            rows = {row[0]: OutboxLine(*row) for row in connection.execute(_LINES)}
            names = gateway_names(connection)
        return [rows.get(name) or OutboxLine(name, 0, None, 0) for name in sorted({*names, *rows})]

    def dead_letters(self) -> list[DeadLetter]:
        """Entries that nobody tries any more, oldest first."""
        with self._transactions.read() as connection:
            return [_letter(row) for row in connection.execute(_DEAD)]

    def resend(self, entry_id: int, now: datetime, *, by: str = "doseflow", reason: str = "") -> DeadLetter:
        """
        Take an entry off the dead-letter list and try it at once; the audit log says who wanted it.

        Raises
        ------
        NotFound
            The list has no such entry.
        ResendRefused
            The order has ended: telling it now would be telling something that no longer holds.
        """
        with self._transactions.write() as connection:
            letter = _read_letter(connection, entry_id)
            if letter.topic == ORDER and letter.order.state in (OrderState.EXPIRED, OrderState.WITHDRAWN):
                raise ResendRefused(f"entry {entry_id}: its order must be open, it is {letter.order.state}")
            again = {"dead_at": None, "attempts": 0, "next_attempt_at": now, "put_at": now}
            connection.execute(update(table).where(table.c.entry_id == entry_id).values(again))
            audit.append(connection, _deed("resend", letter, now, by, reason))
        return letter

    def dismiss(self, entry_id: int, now: datetime, *, by: str = "doseflow", reason: str = "") -> DeadLetter:
        """
        Take an entry off the dead-letter list for good: somebody has seen to it otherwise, as the audit log says.

        Raises
        ------
        NotFound
            The list has no such entry.
        """
        with self._transactions.write() as connection:
            letter = _read_letter(connection, entry_id)
            connection.execute(delete(table).where(table.c.entry_id == entry_id))
            audit.append(connection, _deed("dismiss", letter, now, by, reason))
        return letter


def put(connection: Connection, orders_to_tell: Sequence[ToTell], now: datetime) -> None:
    """Put entries of (topic, order id, site id) at the end of every gateway's line, due at once."""
    if not orders_to_tell:
        return
    names = gateway_names(connection)
    rows = [(*one, name) for one in orders_to_tell for name in names]
    columns: dict[str, Column] = {
        "topic": [topic for topic, _, _, _ in rows],
        "order_id": [order_id for _, order_id, _, _ in rows],
        "site_id": [site_id for _, _, site_id, _ in rows],
        "attempts": [0] * len(rows),
        "next_attempt_at": [now] * len(rows),
        "last_error": [""] * len(rows),
        "gateway": [name for _, _, _, name in rows],
        "put_at": [now] * len(rows),
    }
    _PUT.run(connection, columns)


def has_been_due(connection: Connection, order_id: str, now: datetime) -> bool:
    """Whether anything of an order was delivered, or may just be on its way to somebody."""
    begun = or_(table.c.delivered_at.is_not(None), table.c.attempts > 0, table.c.next_attempt_at <= now)
    return connection.execute(select(table.c.entry_id).where(table.c.order_id == order_id, begun)).first() is not None


def drop_untold(connection: Connection, order_ids: Sequence[str]) -> None:
    """
    Drop what is not delivered yet of these orders: they were withdrawn, and the withdrawal is told instead.

    It is told to every gateway, since what is not noted as delivered may yet have arrived.
    """
    if order_ids:
        connection.execute(delete(table).where(table.c.order_id.in_(order_ids), table.c.delivered_at.is_(None)))


def give_up(connection: Connection, order_ids: Sequence[str], now: datetime) -> None:
    """
    End what still waits of these orders, which have expired.

    What some gateway was told is dropped at the others, for it no longer holds; what nobody was told is a dead letter.
    """
    waits = table.c.order_id.in_(order_ids) & _WAITING
    connection.execute(delete(table).where(waits, _TOLD_ELSEWHERE))
    connection.execute(update(table).where(waits).values(dead_at=now, last_error=EXPIRED_UNTOLD))


def _tell_open_orders(connection: Connection, gateway: str, now: datetime) -> None:
    let_out = select(table.c.order_id).where(table.c.topic == ORDER)
    open_orders = (
        select(orders.c.order_id, orders.c.site_id)
        .where(orders.c.order_id.in_(let_out), orders.c.state.in_(_OPEN))
        .order_by(orders.c.order_no)
    )
    rows = [
        {
            "topic": ORDER,
            "order_id": order_id,
            "site_id": site_id,
            "attempts": 0,
            "next_attempt_at": now,
            "last_error": "",
            "gateway": gateway,
            "put_at": now,
        }
        for order_id, site_id in connection.execute(open_orders)
    ]
    if rows:
        connection.execute(table.insert(), rows)


def _entry(row: Any) -> OutboxEntry:
    return OutboxEntry(row[0], row[1], order_of_values(row[4:]), row[2], row[3])


def _letter(row: Any) -> DeadLetter:
    entry_id, topic, attempts, gateway, *order, dead_at, last_error = row
    return DeadLetter(entry_id, topic, order_of_values(order), attempts, gateway, dead_at=dead_at, reason=last_error)


def _read_letter(connection: Connection, entry_id: int) -> DeadLetter:
    statement: Select[Any] = _DEAD.where(table.c.entry_id == entry_id)
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise NotFound(f"the dead-letter list has no entry {entry_id}")
    return _letter(row)


def _deed(verb: str, letter: DeadLetter, now: datetime, by: str, reason: str) -> AuditEntry:
    details = {"entry_id": letter.entry_id, "topic": letter.topic, "gateway": letter.gateway, "was": letter.reason}
    return AuditEntry(now, by, f"letter.{verb}", letter.order.order_id, reason, details)
