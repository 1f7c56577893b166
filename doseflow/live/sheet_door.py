"""A table of site reports into a living city: good rows are taken, bad ones are in quarantine, by their cell."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import orjson

from doseflow.errors import ReportRefused
from doseflow.intake.sheet_reports import RefusedRow, SheetReading, SheetRow, read_sheet
from doseflow.live.live_city import LiveCity
from doseflow.ports import QuarantinedReport

SOURCE = "upload"
HEADER_SYSTEM = "column of an uploaded table"


@dataclass(frozen=True, slots=True)
class SheetOutcome:
    """What became of one table; a row that was taken before is refused as a repeat."""

    taken: int
    refused: tuple[RefusedRow, ...]
    unknown_headers: tuple[str, ...]


def take_sheet(live: LiveCity, data: bytes, name: str, site_ids: Set[str] | None = None) -> SheetOutcome:
    """
    Take a table: when this returns, its good rows are stored and the bad ones in quarantine.

    Parameters
    ----------
    site_ids
        Sites that the sender speaks for; None is all.

    Raises
    ------
    ReportRefused
        It cannot be read at all; it is in quarantine too.
    """
    now = live.clock.now()
    try:
        reading = read_sheet(data, name, ZoneInfo(live.city.timezone))
    except ReportRefused as error:
        kept = data[: live.intake.max_quarantine_bytes]
        live.reports.quarantine([QuarantinedReport(None, now, None, error.field, error.reason, kept, len(data))])
        live.sources.book.mark(SOURCE, now, False, str(error))
        raise
    outcome = _submitted(live, reading, site_ids)
    live.reports.quarantine(
        [
            QuarantinedReport(None, now, None, f"row {one.number}", str(one), one.raw, len(one.raw))
            for one in reading.refused
        ]
    )
    first = str(outcome.refused[0]) if outcome.refused else ""
    live.sources.book.mark(SOURCE, now, not first, first)
    for header in reading.unknown_headers:
        live.sources.book.note_unknown(SOURCE, HEADER_SYSTEM, header, name, now)
    live.metrics.source_rows.labels(SOURCE, "taken").inc(outcome.taken)
    live.metrics.source_rows.labels(SOURCE, "refused").inc(len(outcome.refused))
    return outcome


def _submitted(live: LiveCity, reading: SheetReading, site_ids: Set[str] | None) -> SheetOutcome:
    rows = reading.rows
    if not rows:
        return SheetOutcome(0, tuple(reading.refused), tuple(reading.unknown_headers))
    submission = live.submit(orjson.dumps([one.report for one in rows]), site_ids=site_ids)
    refused = [
        RefusedRow(rows[one.position].number, _header(rows[one.position], one.error.field), one.error.reason, b"")
        for one in submission.refused
    ]
    every = sorted([*reading.refused, *refused], key=lambda one: one.number)
    return SheetOutcome(len(submission.accepted), tuple(every), tuple(reading.unknown_headers))


def _header(row: SheetRow, field: str) -> str:
    headers: Mapping[str, str] = row.headers
    return headers.get(field.replace("fridges.0.", "fridge."), field)
