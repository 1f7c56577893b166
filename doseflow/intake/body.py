"""A body as it came over the wire: one JSON report or a list of them, each judged alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from doseflow.domain.city import City
from doseflow.domain.report import SCHEMA_VERSION, ReceivedReport, SiteReport
from doseflow.errors import ReportMalformed, ReportRefused, ReportRepeated, ReportTooLarge, SiteUnknown
from doseflow.intake.json_text import BYTE_ORDER_MARK, parse_json
from doseflow.intake.params import IntakeParams
from doseflow.intake.refusal_sentences import first_problem, got
from doseflow.intake.report_checks import check_report
from doseflow.ports import QuarantinedReport

MAX_SUGGESTIONS = 20
"""Unknown sites of one body that are answered with the nearest known id: finding one takes milliseconds."""

_REPORT = TypeAdapter(SiteReport)
_FIRST_KEY = re.compile(rb'[ \t\r\n]*\[[ \t\r\n]*\{[ \t\r\n]*("[A-Za-z_]{1,40}")[ \t\r\n]*:')
_BETWEEN_REPORTS = re.compile(rb"\}([ \t\r\n]*,[ \t\r\n]*)\{[ \t\r\n]*\Z")
_LIST_END = re.compile(rb"[ \t\r\n]*\][ \t\r\n]*\Z")
_MAX_SPACE_BYTES = 64
"""White space around a comma or the list's end that a guess looks over."""
_NOT_JSON = "json_invalid"


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    """A report that may be used; `raw` are its bytes and `position` its place in the body."""

    position: int
    received: ReceivedReport
    raw: bytes


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """A report that may not be used, and why; `site_id` is what it calls itself, None if it does not say."""

    position: int
    site_id: str | None
    error: ReportRefused
    raw: bytes


class _NotSeparateError(Exception):
    """The body is not what its first bytes promised; it must be parsed as a whole."""


def read_body(
    body: bytes,
    city: City,
    now: datetime,
    params: IntakeParams,
    quarantine: Callable[[Iterable[QuarantinedReport]], None],
) -> list[AcceptedItem | RefusedItem]:
    """
    Read a body; one bad report never spoils the others.

    A report without `report_id` gets one made from its content, so that whoever keeps it knows a repeat.

    Parameters
    ----------
    now
        The moment of receipt, aware.
    quarantine
        Called with the body when it cannot be read at all. Single refused reports are left to the caller.

    Raises
    ------
    ReportRefused
        The body cannot be read at all; the text names the field `body`, and the byte where it breaks.
    """
    try:
        outcomes = _read_reports(body, params)
    except ReportRefused as error:
        kept = body[: params.max_quarantine_bytes]
        quarantine([QuarantinedReport(None, now, None, error.field, error.reason, kept, len(body))])
        raise
    return _judge(outcomes, city, now, params)


def _read_reports(body: bytes, params: IntakeParams) -> list[tuple[bytes, SiteReport | ReportRefused]]:
    if len(body) > params.max_body_bytes:
        raise ReportTooLarge("body", f"must have at most {params.max_body_bytes} bytes, got {len(body)}")
    try:
        return [(raw, _read_separate(raw, params)) for raw in _guess_pieces(body, params)]
    except _NotSeparateError:
        return _read_whole(body, params)


def _guess_pieces(body: bytes, params: IntakeParams) -> list[bytes]:
    """
    Cut a list where an object ends and the next begins with the key that the first one begins with.

    The guess cannot mislead: if every piece is JSON, the body is the list of exactly these pieces, since JSON can be
    read in one way only. It spares a second parse of everything, and keeps each report's bytes as they came.
    """
    if body[:1] == b"{":
        return [body]
    first, end = _FIRST_KEY.match(body), _LIST_END.search(body, max(0, len(body) - _MAX_SPACE_BYTES))
    if first is None or end is None:
        raise _NotSeparateError
    pieces, start = [], body.index(b"{")
    at = body.find(first[1], first.end())
    while at >= 0:
        between = _BETWEEN_REPORTS.search(body, max(start, at - _MAX_SPACE_BYTES), at)
        if between is not None:
            pieces.append(body[start : between.start(1)])
            start = between.end(1)
        if len(pieces) >= params.max_reports:
            raise _NotSeparateError
        at = body.find(first[1], at + 1)
    pieces.append(body[start : end.start()])
    return pieces


def _read_whole(body: bytes, params: IntakeParams) -> list[tuple[bytes, SiteReport | ReportRefused]]:
    try:
        document = parse_json(body)
    except ValueError as error:
        raise ReportMalformed("body", str(error)) from error
    if isinstance(document, dict):
        raw = body.removeprefix(BYTE_ORDER_MARK)
        return [(raw, _read_parsed(raw, params))]
    if not isinstance(document, list):
        raise ReportMalformed("body", f"must be a report or a list of reports, got {got(document)}")
    if not document:
        raise ReportMalformed("body", "must hold at least 1 report, got an empty list")
    if len(document) > params.max_reports:
        raise ReportTooLarge("body", f"must hold at most {params.max_reports} reports, got {len(document)}")
    return [_read_item(item, params) for item in document]


def _read_item(item: Any, params: IntakeParams) -> tuple[bytes, SiteReport | ReportRefused]:
    try:
        raw = orjson.dumps(item)
    except TypeError:
        return b"", ReportMalformed("report", "must not be nested hundreds of levels deep")
    return raw, _read_parsed(raw, params)


def _read_separate(raw: bytes, params: IntakeParams) -> SiteReport | ReportRefused:
    if len(raw) > params.max_report_bytes:
        raise _NotSeparateError
    try:
        return _REPORT.validate_json(raw)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] == _NOT_JSON:
            raise _NotSeparateError from error
        return ReportMalformed(*first_problem(error, "report"))


def _read_parsed(raw: bytes, params: IntakeParams) -> SiteReport | ReportRefused:
    if len(raw) > params.max_report_bytes:
        return ReportTooLarge("report", f"must have at most {params.max_report_bytes} bytes, got {len(raw)}")
    try:
        return _REPORT.validate_json(raw)
    except ValidationError as error:
        return ReportMalformed(*first_problem(error, "report"))


def _judge(
    outcomes: Sequence[tuple[bytes, SiteReport | ReportRefused]], city: City, now: datetime, params: IntakeParams
) -> list[AcceptedItem | RefusedItem]:
    items: list[AcceptedItem | RefusedItem] = []
    first_position: dict[tuple[str, str], int] = {}
    num_unknown = 0
    for position, (raw, outcome) in enumerate(outcomes):
        try:
            if isinstance(outcome, ReportRefused):
                raise outcome
            check_report(outcome, city, now, params, suggest=num_unknown < MAX_SUGGESTIONS)
            report = _with_id(outcome)
            _check_first(report, position, first_position)
            items.append(AcceptedItem(position, ReceivedReport(report, now), raw))
        except ReportRefused as error:
            num_unknown += isinstance(error, SiteUnknown)
            items.append(RefusedItem(position, _site_id_of(raw, outcome), error, raw))
    return items


def _check_first(report: SiteReport, position: int, first_position: dict[tuple[str, str], int]) -> None:
    earlier = first_position.setdefault((report.site_id, report.report_id or ""), position)
    if earlier != position:
        reason = f"must be given once, got {report.report_id!r} again; it stands at position {earlier} of this body"
        raise ReportRepeated("report_id", reason)


def _with_id(report: SiteReport) -> SiteReport:
    if report.report_id is not None:
        return report
    # Of either version, one content has one name.
    content = orjson.dumps(replace(report, schema_version=SCHEMA_VERSION))
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    # Time first, so that the ids of one moment lie together in the index of whoever keeps them.
    return replace(report, report_id=f"{report.valid_at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{digest}")


def _site_id_of(raw: bytes, outcome: SiteReport | ReportRefused) -> str | None:
    if isinstance(outcome, SiteReport):
        return outcome.site_id
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    site_id = document.get("site_id") if isinstance(document, dict) else None
    return site_id[:100] if isinstance(site_id, str) else None
