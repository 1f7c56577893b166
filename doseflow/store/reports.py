"""SqlReportStore: every report as it came, once; what was refused; and the arrivals that the reports tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime

import structlog
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, bindparam, select, update

from doseflow.domain.city import City, FloatArray
from doseflow.domain.report import ReceivedReport, SiteReport
from doseflow.ports import QuarantinedReport
from doseflow.store import arrivals, quarantine
from doseflow.store.columns import AnyRow, storable
from doseflow.store.insert_new import insert_new
from doseflow.store.many_rows import Column, ManyRows
from doseflow.store.months import MonthPartitions, month_of
from doseflow.store.tables import reports as table
from doseflow.store.transactions import Transactions

log = structlog.get_logger(__name__)

_REPORT = TypeAdapter(SiteReport)
_INSERT = ManyRows(lambda connection: insert_new(connection, table))
_MARK_TAKEN = ManyRows(
    lambda _connection: (
        update(table)
        .where(
            table.c.report_id == bindparam("of_report"),
            table.c.site_id == bindparam("of_site"),
            table.c.valid_month == bindparam("of_month"),
        )
        .values(cycle_id=bindparam("cycle"))
    )
)
_KEPT = (table.c.site_id, table.c.report_id, table.c.received_at, table.c.raw)


class SqlReportStore:
    """
    The report store on SQLite or PostgreSQL; thread-safe.

    Parameters
    ----------
    after_write
        Told how many bytes of reports a transaction has kept, once it has ended.
    """

    def __init__(self, transactions: Transactions, after_write: Callable[[int], None] = lambda _: None) -> None:
        self._transactions = transactions
        self._after_write = after_write
        self._partitions = MonthPartitions()

    def accept(self, reports: Sequence[ReceivedReport], raws: Sequence[bytes]) -> list[bool]:
        """Keep reports in one transaction; for each, whether it is new."""
        if not reports:
            return []
        columns = _columns(reports, raws)
        with self._transactions.write() as connection:
            self._partitions.make(connection, set(columns["valid_month"]))
            are_all_new = _insert_all(connection, columns)
            is_new = [True] * len(reports) if are_all_new else _insert_new_ones(connection, columns)
        self._after_write(sum(map(len, raws)))
        return is_new

    def quarantine(self, reports: Iterable[QuarantinedReport]) -> None:
        """Keep what was refused."""
        refused = list(reports)
        if refused:
            with self._transactions.write() as connection:
                quarantine.keep(connection, refused)

    def quarantined(self, limit: int = 100) -> list[QuarantinedReport]:
        """The latest refused ones, newest first."""
        with self._transactions.read() as connection:
            return quarantine.latest(connection, limit)

    def pending(self) -> list[ReceivedReport]:
        """Accepted reports that no cycle has taken yet, oldest first."""
        statement = select(*_KEPT).where(table.c.cycle_id.is_(None)).order_by(table.c.report_no)
        with self._transactions.read() as connection:
            return _received(connection.execute(statement).all())

    def import_arrivals(self, day_on: date, site_ids: Sequence[str], people: FloatArray) -> None:
        """Keep arrivals of a past UTC day by site and period, (S, 288), NaN unknown; again replaces."""
        with self._transactions.write() as connection:
            arrivals.import_day(connection, day_on, site_ids, people)

    def arrivals_between(self, city: City, start: datetime, end: datetime) -> FloatArray:
        """Arrivals by site and whole period of `start` to `end`, (S, periods), NaN unknown."""
        with self._transactions.read() as connection:
            return arrivals.between(connection, city, start, end)

    def reports_of_site(self, site_id: str, limit: int = 50) -> list[ReceivedReport]:
        """The latest reports of a site, newest first by the moment they were true."""
        statement = (
            select(*_KEPT)
            .where(table.c.site_id == site_id)
            .order_by(table.c.valid_at.desc(), table.c.report_no.desc())
            .limit(limit)
        )
        with self._transactions.read() as connection:
            return _received(connection.execute(statement).all())


def mark_taken(connection: Connection, cycle_id: str, taken: Sequence[ReceivedReport]) -> None:
    """Note which cycle took these reports."""
    columns: dict[str, Column] = {
        "of_report": [received.report.report_id for received in taken],
        "of_site": [received.report.site_id for received in taken],
        "of_month": [month_of(received.report.valid_at) for received in taken],
        "cycle": [cycle_id] * len(taken),
    }
    _MARK_TAKEN.run(connection, columns)


def _columns(received: Sequence[ReceivedReport], raws: Sequence[bytes]) -> dict[str, Column]:
    if len(received) != len(raws):
        raise ValueError(f"raws: must be one for each of the {len(received)} reports, got {len(raws)}")
    reports = [one.report for one in received]
    for report in reports:
        if report.report_id is None:
            raise ValueError(f"report_id: must be set before a report is kept (site {report.site_id})")
    return {
        "site_id": [report.site_id for report in reports],
        "report_id": [report.report_id for report in reports],
        "valid_at": [report.valid_at for report in reports],
        "received_at": [one.received_at for one in received],
        "arrivals_people": [report.arrivals_people for report in reports],
        "raw": raws,
        "valid_month": [month_of(report.valid_at) for report in reports],
    }


def _insert_all(connection: Connection, columns: dict[str, Column]) -> bool:
    """Insert reports that are all new; False, and nothing inserted, where one is not."""
    with connection.begin_nested() as savepoint:
        if _INSERT.run(connection, columns) == len(columns["raw"]):
            return True
        savepoint.rollback()
    return False


def _insert_new_ones(connection: Connection, columns: dict[str, Column]) -> list[bool]:
    """Insert the new ones among reports; for each, whether it is one. Slower, since the database tells which."""
    statement = insert_new(connection, table).returning(table.c.site_id, table.c.report_id)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    fresh = {(row.site_id, row.report_id) for row in connection.execute(statement, rows)}
    is_new = []
    for site_id, report_id in zip(columns["site_id"], columns["report_id"], strict=True):
        key = (site_id, storable(report_id))
        is_new.append(key in fresh)
        fresh.discard(key)  # a second copy in the same body is a repeat
    return is_new


def _received(rows: Sequence[AnyRow]) -> list[ReceivedReport]:
    received = []
    for row in rows:
        try:
            report = _REPORT.validate_json(row.raw)
        except ValidationError as error:
            # Accepted by a version with another report schema; it stays in the table.
            log.warning("stored_report_unreadable", site_id=row.site_id, report_id=row.report_id, reason=str(error))
            continue
        received.append(ReceivedReport(replace(report, report_id=row.report_id), row.received_at))
    return received
