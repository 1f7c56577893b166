"""POST /api/v1/reports takes one report or a list; GET /api/v1/quarantine shows what was refused."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from doseflow.domain.caller import Caller
from doseflow.errors import ReportRefused, ReportTooLarge
from doseflow.intake.body import AcceptedItem, RefusedItem
from doseflow.live.live_city import Submission
from doseflow.ports import QuarantinedReport
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    BROKEN_BODY,
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    REPORTS_REFUSED,
    STORE_UNAVAILABLE,
    Problem,
    documented,
    problem_of,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.limited_body import LimitedBody, read_limited
from doseflow.web.living import AskLiving, Living
from doseflow.web.openapi import body_of
from doseflow.web.own_sites import own

SHOWN_CHARACTERS = 2_000
MOST_LOOKED_THROUGH = 10_000
router = APIRouter(prefix="/api/v1", tags=["reports"])


@dataclass(frozen=True, slots=True)
class AcceptedRow:
    """A report that was accepted."""

    position: int
    site_id: str
    report_id: str | None
    valid_at: datetime


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """All reports were accepted; the next cycle takes them."""

    accepted: int
    reports: list[AcceptedRow]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A report of a list that was refused; `position` counts from 0, `type` and `status` are those it had got alone."""

    position: int
    site_id: str | None
    field: str
    reason: str
    type: str
    status: int


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """Something refused; `raw_text` is its beginning, with what is not UTF-8 shown as a replacement character."""

    quarantine_id: int | None
    received_at: datetime
    site_id: str | None
    field: str
    reason: str
    num_bytes: int
    raw_text: str


@dataclass(frozen=True, slots=True)
class QuarantineAnswer:
    """What was refused, the newest first."""

    now: datetime
    quarantined: list[QuarantineRow]


@router.post(
    "/reports",
    status_code=202,
    openapi_extra=body_of("SiteReport", or_list=True),
    responses={
        202: {"model": AcceptedAnswer},
        **documented(BROKEN_BODY, REPORTS_REFUSED, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
        **documented(*(kind for cls, kind in ERROR_TO_PROBLEM.items() if issubclass(cls, ReportRefused))),
    },
)
@needs("report.send")
async def post_reports(request: Request, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """
    Take one report or a list of them.

    202 means that the receiver has taken responsibility. Of a list with bad reports the good ones are accepted all the
    same: the problem says how many, and names every refused one.
    """
    body = await read_limited(request, living.params.max_body_bytes)
    if not body.is_whole:
        await run_in_threadpool(_refuse_too_large, living, body)
    submission = await run_in_threadpool(_submit, living, body.kept, caller)
    if submission.refused:
        raise _problem_of_refused(submission, is_list=_is_list(body.kept))
    rows = [_accepted_row(item) for item in submission.accepted]
    return JsonAnswer(AcceptedAnswer(len(rows), rows), status_code=202)


@router.get("/quarantine", responses={200: {"model": QuarantineAnswer}, **documented(STORE_UNAVAILABLE)})
@needs("quarantine.read")
def get_quarantine(
    living: AskLiving, caller: AskCaller, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> JsonAnswer:
    """What was refused, the newest first: for the operator, who asks the site."""
    # Of a caller with sites of their own, theirs among the latest of all.
    latest = living.live.reports.quarantined(limit if caller.site_ids is None else MOST_LOOKED_THROUGH)
    rows = [_quarantine_row(each) for each in own(latest, caller, lambda each: each.site_id)[:limit]]
    return JsonAnswer(QuarantineAnswer(living.live.clock.now(), rows))


def _submit(living: Living, body: bytes, caller: Caller) -> Submission:
    metrics = living.metrics
    try:
        submission = living.live.submit(body, site_ids=caller.site_ids)
    except ReportRefused as error:
        metrics.reports_refused.labels(problem_of(error).slug).inc()
        raise
    metrics.reports_accepted.inc(len(submission.accepted))
    for item in submission.refused:
        metrics.reports_refused.labels(problem_of(item.error).slug).inc()
    return submission


def _refuse_too_large(living: Living, body: LimitedBody) -> None:
    error = ReportTooLarge("body", f"must be at most {living.params.max_body_bytes} bytes, got {body.num_bytes}")
    live = living.live
    kept = QuarantinedReport(None, live.clock.now(), None, error.field, error.reason, body.kept, body.num_bytes)
    live.reports.quarantine([kept])
    living.metrics.reports_refused.labels(problem_of(error).slug).inc()
    raise error


def _is_list(body: bytes) -> bool:
    return body.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def _problem_of_refused(submission: Submission, *, is_list: bool) -> Problem:
    accepted, refused = len(submission.accepted), submission.refused
    if not is_list:
        only = refused[0].error
        return Problem(problem_of(only), str(only), field=only.field, reason=only.reason)
    others = "the others were accepted" if accepted else "none was accepted"
    detail = f"{len(refused)} of {accepted + len(refused)} reports were refused; {others}"
    first = refused[0].error
    return Problem(
        REPORTS_REFUSED,
        detail,
        field=first.field,
        accepted=accepted,
        refused=[_refused_row(item) for item in refused],
    )


def _accepted_row(item: AcceptedItem) -> AcceptedRow:
    report = item.received.report
    return AcceptedRow(item.position, report.site_id, report.report_id, report.valid_at)


def _refused_row(item: RefusedItem) -> RefusedRow:
    kind = problem_of(item.error)
    return RefusedRow(item.position, item.site_id, item.error.field, item.error.reason, kind.type, kind.status)


def _quarantine_row(each: QuarantinedReport) -> QuarantineRow:
    text = each.raw[: 4 * SHOWN_CHARACTERS].decode("utf-8", errors="replace")[:SHOWN_CHARACTERS]
    return QuarantineRow(
        each.quarantine_id, each.received_at, each.site_id, each.field, each.reason, each.num_bytes, text
    )
