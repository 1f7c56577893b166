"""Cold-chain transmissions into a living city: every point becomes a report, and is kept before the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import numpy as np

from doseflow.domain.report import FridgeReading, SiteReport
from doseflow.domain.storage_band import storage_bands_celsius
from doseflow.errors import ReportMalformed, ReportRefused, TimeImplausible
from doseflow.intake.cold_chain_records import (
    ColdChainReading,
    LoggerRecord,
    RefusedRecord,
    freezer_reading,
    fridge_reading,
    read_cold_chain,
)
from doseflow.intake.excursion import excursion_minutes
from doseflow.intake.gzip_body import unpacked
from doseflow.intake.logger_table import FridgePlace
from doseflow.live.live_city import LiveCity
from doseflow.ports import LoggerPoint, QuarantinedReport
from doseflow.units import epoch_minutes_from_datetime

MAX_WIRE_BYTES = 1_000_000
"""Largest body as sent (DS01, clause 5)."""
MAX_PLAIN_BYTES = 8 * 2**20
"""Largest body once unpacked."""
FREEZER = "#freezer"
"""After a logger's name, the points of its freezer compartment."""


@dataclass(frozen=True, slots=True)
class ColdChainOutcome:
    """What became of one transmission; `taken` and `repeated` count moments of single loggers."""

    taken: int
    repeated: int
    unmapped: tuple[str, ...]
    refused: tuple[RefusedRecord, ...]


@dataclass(frozen=True, slots=True)
class _Series:
    """New records of one logger, oldest first, where it hangs, and the points kept of it before."""

    logger_id: str
    place: FridgePlace | None
    records: tuple[LoggerRecord, ...]
    num_repeated: int


def take_cold_chain(live: LiveCity, body: bytes, source: str, logger_id: str | None = None) -> ColdChainOutcome:
    """
    Take a transmission: when this returns, all that can be used is stored and the rest is in quarantine.

    Parameters
    ----------
    source
        Name of the way it came, such as `cold_chain:http`.
    logger_id
        Name of the logger for records that name none.

    Raises
    ------
    ReportRefused
        It cannot be read at all, or nothing of it could be used; it is in quarantine too.
    """
    try:
        if len(body) > MAX_WIRE_BYTES:
            raise ReportMalformed("body", f"must have at most {MAX_WIRE_BYTES} bytes, got {len(body)}")
        reading = read_cold_chain(unpacked(body, MAX_PLAIN_BYTES), logger_id)
    except ReportRefused as error:
        _refuse_whole(live, source, body, error)
        raise
    outcome = _take(live, reading, source)
    _note(live, reading, outcome, source)
    if outcome.refused and not (outcome.taken or outcome.repeated):
        raise outcome.refused[0].error
    return outcome


def _take(live: LiveCity, reading: ColdChainReading, source: str) -> ColdChainOutcome:
    now = live.clock.now()
    named, refused = _usable(live, reading, now)
    series = [_series(live, ids, records) for ids, records in _by_logger(named)]
    reports = [report for one in series for report in _reports(live, one, source, now)]
    if reports:
        live.submit_reports(reports)
    live.sources.points.keep([point for one in series for point in _points(one)])
    window_start = now - timedelta(days=live.sources.params.excursion_days)
    live.sources.points.forget_before([name for one in series for name in _sensors(one)], window_start)
    unmapped = tuple(one.logger_id for one in series if one.place is None)
    num_taken = sum(len(one.records) for one in series)
    return ColdChainOutcome(num_taken, sum(one.num_repeated for one in series), unmapped, tuple(refused))


def _usable(live: LiveCity, reading: ColdChainReading, now: datetime) -> tuple[list[LoggerRecord], list[RefusedRecord]]:
    """Records that name a logger and are not of the future, and all that were refused."""
    usable, refused = [], list(reading.refused)
    latest = now + timedelta(minutes=live.intake.max_future_minutes)
    for record in reading.records:
        error: ReportRefused
        if not record.logger_ids:
            reason = "must name its logger by LSER, ESER or AMID, or the address must, as ?logger=..."
            error = ReportMalformed(record.position, reason)
        elif record.at > latest:
            error = TimeImplausible(f"{record.position}.ABST", f"must not lie after {latest:%Y%m%dT%H%M%SZ}")
        else:
            usable.append(record)
            continue
        refused.append(RefusedRecord(record.position, (record.logger_ids or (None,))[0], error, b""))
    return usable, refused


def _by_logger(records: Sequence[LoggerRecord]) -> list[tuple[tuple[str, ...], tuple[LoggerRecord, ...]]]:
    ordered = sorted(records, key=lambda one: (one.logger_ids, one.at))
    return [(ids, tuple(group)) for ids, group in groupby(ordered, key=lambda one: one.logger_ids)]


def _series(live: LiveCity, ids: tuple[str, ...], records: tuple[LoggerRecord, ...]) -> _Series:
    place = live.sources.loggers.place_of(ids)
    known = live.sources.points.of(ids[0], records[0].at, records[-1].at)
    celsius_at = {point.at: point.temperature_celsius for point in known}
    fresh = tuple(
        one
        for one in records
        if one.at not in celsius_at or (celsius_at[one.at] is None and one.fridge_celsius is not None)
    )
    return _Series(ids[0], place, fresh, len(records) - len(fresh))


def _points(series: _Series) -> list[LoggerPoint]:
    points = [LoggerPoint(series.logger_id, one.at, one.fridge_celsius) for one in series.records]
    name = series.logger_id + FREEZER
    return points + [
        LoggerPoint(name, one.at, one.freezer_celsius) for one in series.records if one.freezer_celsius is not None
    ]


def _sensors(series: _Series) -> tuple[str, str]:
    return series.logger_id, series.logger_id + FREEZER


def _reports(live: LiveCity, series: _Series, source: str, now: datetime) -> list[SiteReport]:
    """A report a moment, none of those too old to say anything of today."""
    place, earliest = series.place, now - timedelta(hours=live.intake.max_age_hours)
    recent = [one for one in series.records if one.at >= earliest]
    if place is None or not recent:
        return []
    points, (fridge, freezer) = _points(series), _sensors(series)
    outside = _excursions(live, fridge, points, place.site_id, place.fridge_id)
    fridges = [fridge_reading(one, place.fridge_id, outside.get(one.at)) for one in recent]
    colder: list[FridgeReading | None] = [None] * len(recent)
    if place.freezer_id is not None:
        outside = _excursions(live, freezer, points, place.site_id, place.freezer_id)
        colder = [freezer_reading(one, place.freezer_id, outside.get(one.at)) for one in recent]
    return [
        SiteReport(
            site_id=place.site_id,
            valid_at=record.at,
            report_id=_report_id(series.logger_id, record),
            fridges=(fridge_told,) if freezer_told is None else (fridge_told, freezer_told),
            source=f"{source.partition(':')[0]}:{series.logger_id}"[:100],
        )
        for record, fridge_told, freezer_told in zip(recent, fridges, colder, strict=True)
    ]


def _excursions(
    live: LiveCity, sensor: str, new: Sequence[LoggerPoint], site_id: str, fridge_id: str
) -> dict[datetime, float]:
    """Minutes outside the band up to each moment, from the points kept before and the new ones."""
    told = {one.at: one.temperature_celsius for one in new if one.logger_id == sensor}
    if not told:
        return {}
    start = min(told) - timedelta(days=live.sources.params.excursion_days)
    kept = live.sources.points.of(sensor, start, max(told))
    points = told | {one.at: one.temperature_celsius for one in kept if one.temperature_celsius is not None}
    known = sorted((at, celsius) for at, celsius in points.items() if celsius is not None)
    fridge = live.city.fridges_by_id[live.city.site_to_idx[site_id]].get(fridge_id)
    set_point = np.array([np.nan if fridge is None else fridge.set_point_celsius])
    low, high = storage_bands_celsius(live.city.products, set_point)[0].tolist()
    at_minutes = np.array([epoch_minutes_from_datetime(at) for at, _ in known])
    minutes = excursion_minutes(at_minutes, np.array([celsius for _, celsius in known]), low, high)
    return dict(zip((at for at, _ in known), minutes.tolist(), strict=True))


def _report_id(logger_id: str, record: LoggerRecord) -> str:
    """One name for a logger, a moment and the codes that it told then, whichever way they came."""
    content = "\n".join((logger_id, *sorted(record.values)))
    return f"{record.at:%Y%m%dT%H%M%SZ}-{hashlib.blake2b(content.encode(), digest_size=12).hexdigest()}"


def _note(live: LiveCity, reading: ColdChainReading, outcome: ColdChainOutcome, source: str) -> None:
    now, book = live.clock.now(), live.sources.book
    kept = [_quarantined(one, now) for one in outcome.refused]
    kept += [
        QuarantinedReport(None, now, None, "logger_id", f"{one!r} is in no row of the table of loggers", b"", 0)
        for one in outcome.unmapped
    ]
    if kept:
        live.reports.quarantine(kept)
    first = next((str(one.error) for one in outcome.refused), "")
    book.mark(source, now, not first, first)
    book.note_unmapped(source, outcome.unmapped, now)
    for one in reading.unknown:
        book.note_unknown(source, one.system, one.code, one.text, now)
    rows = live.metrics.source_rows
    counts = {"taken": outcome.taken, "repeated": outcome.repeated, "refused": len(outcome.refused)}
    for what, number in counts.items():
        rows.labels(source.partition(":")[0], what).inc(number)


def _quarantined(one: RefusedRecord, now: datetime) -> QuarantinedReport:
    return QuarantinedReport(None, now, None, one.error.field, one.error.reason, one.raw, len(one.raw))


def _refuse_whole(live: LiveCity, source: str, body: bytes, error: ReportRefused) -> None:
    now = live.clock.now()
    kept = body[: live.intake.max_quarantine_bytes]
    live.reports.quarantine([QuarantinedReport(None, now, None, error.field, error.reason, kept, len(body))])
    live.sources.book.mark(source, now, False, str(error))
    live.metrics.source_rows.labels(source.partition(":")[0], "refused").inc()
