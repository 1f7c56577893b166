"""Arrivals of the past by site and period of five minutes, from imported days and from accepted reports."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
from sqlalchemy import Connection, select

from doseflow.domain.city import City, FloatArray
from doseflow.store.insert_new import insert_or_replace
from doseflow.store.many_rows import Column, ManyRows
from doseflow.store.tables import arrival_days, reports
from doseflow.units import PERIOD_MINUTES

PERIODS_PER_DAY = 24 * 60 // PERIOD_MINUTES
_PERIOD = timedelta(minutes=PERIOD_MINUTES)
_DAY = timedelta(days=1)
_FAST_ZLIB = 1
_IMPORT = ManyRows(lambda connection: insert_or_replace(connection, arrival_days, "people"))


def import_day(connection: Connection, day_on: date, site_ids: Sequence[str], people: FloatArray) -> None:
    """Keep one UTC day, (S, 288); a site's day that is there already is replaced."""
    if people.shape != (len(site_ids), PERIODS_PER_DAY):
        raise ValueError(f"people: must have the shape {(len(site_ids), PERIODS_PER_DAY)}, got {people.shape}")
    columns: dict[str, Column] = {
        "day_on": [day_on] * len(site_ids),
        "site_id": site_ids,
        "people": [zlib.compress(row.tobytes(), _FAST_ZLIB) for row in people.astype("<f8")],
    }
    _IMPORT.run(connection, columns)


def keep_day_of_reports(connection: Connection, day: datetime) -> None:
    """
    Keep what the reports of one UTC day tell of arrivals as an imported day; what was imported before stands elsewhere.

    The day's first moment tells of the day before: a report speaks of the five minutes before it.
    """
    for day_on, by_site in _days_of_reports(connection, day).items():
        site_ids = sorted(by_site)
        people = np.full((len(site_ids), PERIODS_PER_DAY), np.nan)
        known = select(arrival_days.c.site_id, arrival_days.c.people).where(arrival_days.c.day_on == day_on)
        for site_id, packed in connection.execute(known.where(arrival_days.c.site_id.in_(site_ids))):
            people[site_ids.index(site_id)] = _unpacked(packed)
        for row, site_id in enumerate(site_ids):
            periods, arrived = zip(*by_site[site_id], strict=True)
            people[row, list(periods)] = arrived
        import_day(connection, day_on, site_ids, people)


def _days_of_reports(connection: Connection, day: datetime) -> dict[date, dict[str, list[tuple[int, int]]]]:
    """Period and arrivals by day and site, in the order in which later readings win."""
    table = reports.c
    statement = (
        select(table.valid_at, table.site_id, table.arrivals_people)
        .where(table.valid_at >= day, table.valid_at < day + _DAY, table.arrivals_people.is_not(None))
        .order_by(table.valid_at, table.report_no)
    )
    days: dict[date, dict[str, list[tuple[int, int]]]] = {}
    for valid_at, site_id, arrived in connection.execute(statement):
        # A report speaks of the five minutes before it: of the period whose end it is nearest to.
        end = round((valid_at - day) / _PERIOD)
        day_on, period = (day.date(), end - 1) if end > 0 else ((day - _DAY).date(), PERIODS_PER_DAY - 1)
        days.setdefault(day_on, {}).setdefault(site_id, []).append((period, arrived))
    return days


def between(connection: Connection, city: City, start: datetime, end: datetime) -> FloatArray:
    """Arrivals by site and whole period of `start` to `end`, (S, periods), NaN unknown; reports beat imported days."""
    num_periods = max(0, (end - start) // _PERIOD)
    people = np.full((city.num_sites, num_periods), np.nan)
    _fill_from_days(connection, city, start.astimezone(UTC), people)
    _fill_from_reports(connection, city, start, people)
    return people


def _fill_from_days(connection: Connection, city: City, start: datetime, people: FloatArray) -> None:
    num_periods = people.shape[1]
    last_day = (start + num_periods * _PERIOD).date()
    table = arrival_days.c
    statement = select(table.day_on, table.site_id, table.people).where(table.day_on.between(start.date(), last_day))
    for day_on, site_id, packed in connection.execute(statement):
        site_idx = city.site_to_idx.get(site_id)
        if site_idx is None:
            continue
        first = (datetime.combine(day_on, time(), UTC) - start) // _PERIOD
        day = _unpacked(packed)
        head, tail = max(0, first), min(num_periods, first + PERIODS_PER_DAY)
        people[site_idx, head:tail] = day[head - first : tail - first]


def _fill_from_reports(connection: Connection, city: City, start: datetime, people: FloatArray) -> None:
    table = reports.c
    statement = (
        select(table.valid_at, table.site_id, table.arrivals_people)
        .where(table.valid_at > start, table.valid_at < start + (people.shape[1] + 1) * _PERIOD)
        .where(table.arrivals_people.is_not(None))
        .order_by(table.valid_at, table.report_no)
    )
    rows = [
        (city.site_to_idx[site_id], valid_at.timestamp(), arrived)
        for valid_at, site_id, arrived in connection.execute(statement)
        if site_id in city.site_to_idx
    ]
    if not rows:
        return
    site_idx, valid_seconds, arrived = (np.array(column) for column in zip(*rows, strict=True))
    # A report speaks of the five minutes before it: of the period whose end it is nearest to.
    ends = np.rint((valid_seconds - start.timestamp()) / _PERIOD.total_seconds()).astype(np.int64)
    inside = (ends >= 1) & (ends <= people.shape[1])
    people[site_idx[inside], ends[inside] - 1] = arrived[inside]


def _unpacked(packed: bytes) -> FloatArray:
    return np.frombuffer(zlib.decompress(packed), dtype="<f8")
