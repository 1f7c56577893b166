"""Retention: lets go of what is older than it must be kept, in small transactions, so that a cycle never waits long."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import Connection, delete, exists, func, select, text

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.store import arrivals
from doseflow.store.cycles import forget_inputs_before
from doseflow.store.months import month_of, months_with_partition, partition_name
from doseflow.store.tables import cycle_inputs, cycles, orders, outbox, plans, presses, quarantine, receipts, reports
from doseflow.store.transactions import Transactions

MIN_REPORT_DAYS = 35
"""The forecast looks four weeks back, and a report may be three days late."""
ROWS_AT_ONCE = 5_000
"""Rows that one transaction lets go of."""
_DAY = timedelta(days=1)
_OPEN = [state.value for state in OPEN_STATES]
_TAKEN = reports.c.cycle_id.is_not(None)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Rows that were let go of, by table; `report_months` are partitions dropped whole."""

    cycle_inputs: int = 0
    reports: int = 0
    report_months: int = 0
    quarantine: int = 0
    presses: int = 0
    orders: int = 0
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class KeepParams:
    """
    Days for which things are kept.

    Arrivals of a report's day are kept by period for good (`arrival_days`), also when the report itself goes. A report
    that no cycle has taken, and an order that is still open, stay however old they are; the audit log stays for good.
    """

    cycle_inputs_days: int = 14
    reports_days: int = 42
    quarantine_days: int = 90
    """Refused reports, and keys of presses by which a repeated one is known."""
    records_days: int = 730
    """Cycles, plans, orders, receipts and what was told of them."""

    def __post_init__(self) -> None:
        for name, low in (
            ("cycle_inputs_days", 1),
            ("reports_days", MIN_REPORT_DAYS),
            ("quarantine_days", 1),
            ("records_days", max(self.cycle_inputs_days, self.reports_days)),
        ):
            if not low <= getattr(self, name) <= 36_500:
                raise ValueError(f"{name}: must lie in {low}..36500, got {getattr(self, name)}")


class Retention:
    """Lets go of what is old, on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def forget(self, now: datetime, keep: KeepParams) -> Forgotten:
        """Let go of all that is older than `keep` says."""
        records_before = now - timedelta(days=keep.records_days)
        with self._transactions.write() as connection:
            num_inputs = forget_inputs_before(connection, now - timedelta(days=keep.cycle_inputs_days))
        num_reports, num_months = self.forget_reports_before(now - timedelta(days=keep.reports_days))
        with self._transactions.write() as connection:
            old = quarantine.c.received_at < now - timedelta(days=keep.quarantine_days)
            num_refused = connection.execute(delete(quarantine).where(old)).rowcount
            old = presses.c.pressed_at < now - timedelta(days=keep.quarantine_days)
            num_presses = connection.execute(delete(presses).where(old)).rowcount
        num_orders = self._in_portions(_forget_orders, records_before)
        num_cycles = self._in_portions(_forget_cycles, records_before)
        return Forgotten(num_inputs, num_reports, num_months, num_refused, num_presses, num_orders, num_cycles)

    def forget_reports_before(self, moment: datetime) -> tuple[int, int]:
        """
        Let go of reports of whole UTC days, on PostgreSQL whole months, before a moment; their arrivals stay by period.

        Those that no cycle has taken stay.

        Returns
        -------
        tuple of int, int
            Reports let go of, and partitions dropped.
        """
        with self._transactions.read() as connection:
            months = sorted(months_with_partition(connection)) if connection.dialect.name == "postgresql" else None
        if months is not None:
            old = [month for month in months if month < month_of(moment)]
            return sum(map(self._forget_month, old)), len(old)
        before, num_reports = _start_of_day(moment.astimezone(UTC).date()), 0
        while (first := self._oldest_taken(before)) is not None:
            day = _start_of_day(first.astimezone(UTC).date())
            with self._transactions.write() as connection:
                arrivals.keep_day_of_reports(connection, day)
                num_reports += _delete_taken(connection, day, day + _DAY)
        return num_reports, 0

    def _oldest_taken(self, before: datetime) -> datetime | None:
        statement = select(func.min(reports.c.valid_at)).where(reports.c.valid_at < before, _TAKEN)
        with self._transactions.read() as connection:
            oldest: datetime | None = connection.execute(statement).scalar_one()
        return oldest

    def _forget_month(self, month: date) -> int:
        """Drop a month's partition, or empty it but for what no cycle took; how many reports went."""
        days = [_start_of_day(month) + number * _DAY for number in range(monthrange(month.year, month.month)[1])]
        of_month = reports.c.valid_month == month
        with self._transactions.write() as connection:
            for day in days:
                arrivals.keep_day_of_reports(connection, day)
            if connection.execute(select(exists().where(of_month, ~_TAKEN))).scalar_one():
                return _delete_taken(connection, days[0], days[-1] + _DAY)
            num_reports: int = connection.execute(select(func.count()).where(of_month)).scalar_one()
            connection.execute(text(f"DROP TABLE {partition_name(month)}"))
        return num_reports

    def _in_portions(self, forget: Callable[[Connection, datetime], int], before: datetime) -> int:
        """Run `forget`, each time in a transaction of its own, until it finds nothing more."""
        total = 0
        while True:
            with self._transactions.write() as connection:
                num_rows = forget(connection, before)
            total += num_rows
            if num_rows < ROWS_AT_ONCE:
                return total


def _start_of_day(day_on: date) -> datetime:
    return datetime.combine(day_on, time(), UTC)


def _delete_taken(connection: Connection, start: datetime, end: datetime) -> int:
    within = reports.c.valid_at >= start, reports.c.valid_at < end
    return connection.execute(delete(reports).where(*within, _TAKEN)).rowcount


def _forget_orders(connection: Connection, before: datetime) -> int:
    old = (
        select(orders.c.order_id)
        .where(orders.c.created_at < before, orders.c.state.not_in(_OPEN))
        .order_by(orders.c.order_no)
        .limit(ROWS_AT_ONCE)
    )
    order_ids = list(connection.execute(old).scalars())
    for table in (receipts, outbox, orders):
        connection.execute(delete(table).where(table.c.order_id.in_(order_ids)))
    return len(order_ids)


def _forget_cycles(connection: Connection, before: datetime) -> int:
    """Cycles that nothing kept names any more."""
    is_named = exists().where(orders.c.cycle_id == cycles.c.cycle_id) | exists().where(
        reports.c.cycle_id == cycles.c.cycle_id
    )
    old = select(cycles.c.cycle_id).where(cycles.c.started_at < before, ~is_named).limit(ROWS_AT_ONCE)
    cycle_ids = list(connection.execute(old).scalars())
    for table in (plans, cycle_inputs, cycles):
        connection.execute(delete(table).where(table.c.cycle_id.in_(cycle_ids)))
    return len(cycle_ids)
