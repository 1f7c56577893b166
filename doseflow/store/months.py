"""Reports lie by the month they were true in: on PostgreSQL in a partition each, made when its first one comes."""

from __future__ import annotations

from collections.abc import Set
from datetime import UTC, date, datetime
from functools import lru_cache

from sqlalchemy import Connection, text

ADVISORY_LOCK = 0x6D6F6E74
"""Key under which processes that make partitions of one PostgreSQL database wait for each other."""

_PARTITIONS = text(
    "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
    "WHERE inhparent = 'reports'::regclass ORDER BY child.relname"
)
_MAKE = "CREATE TABLE {table} PARTITION OF reports FOR VALUES IN ('{month:%Y-%m-%d}')"


class MonthPartitions:
    """Remembers which partitions this process has seen; on SQLite there are none to make."""

    def __init__(self) -> None:
        self._seen: set[date] = set()

    def make(self, connection: Connection, months: Set[date]) -> None:
        """See to it that the months' partitions are there before rows go in."""
        if connection.dialect.name != "postgresql" or months <= self._seen:
            return
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        there = months_with_partition(connection)
        for month in sorted(months - there):
            connection.execute(text(_MAKE.format(table=partition_name(month), month=month)))
        # Of those just made nothing is remembered: this transaction may yet fail. The next call finds them there.
        self._seen |= there


def months_with_partition(connection: Connection) -> set[date]:
    """Months that have a partition, as this transaction sees it."""
    names = connection.execute(_PARTITIONS).scalars()
    return {datetime.strptime(name, "reports_%Y_%m").replace(tzinfo=UTC).date() for name in names}


def partition_name(month: date) -> str:
    """The table of a month."""
    return f"reports_{month:%Y_%m}"


def month_of(moment: datetime) -> date:
    """First day of the month in UTC."""
    return _first_of_month(moment.astimezone(UTC).date())


@lru_cache(maxsize=64)
def _first_of_month(day: date) -> date:
    return day.replace(day=1)
