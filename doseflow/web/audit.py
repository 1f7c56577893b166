"""GET /api/v1/audit: who did what, oldest first or from a number on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from doseflow.domain.audit import AuditFilter, ChainedEntry
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import MALFORMED_REQUEST, STORE_UNAVAILABLE, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

router = APIRouter(prefix="/api/v1", tags=["audit"])
Words = Annotated[str | None, Query(max_length=200)]
ActionWords = Annotated[str | None, Query(max_length=200, description="One action, or its noun, such as `order`.")]


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry with its place in the chain."""

    entry_no: int
    at: datetime
    by: str
    action: str
    subject: str
    reason: str
    details: dict[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """
    Entries that fit, oldest first.

    `next_after_no` goes on where this answer ends, None at the end of the log; `head` is the last entry's number and
    digest: who keeps it elsewhere sees later when entries are missing.
    """

    head: str
    next_after_no: int | None
    entries: list[AuditRow]


@router.get("/audit", responses={200: {"model": AuditAnswer}, **documented(MALFORMED_REQUEST, STORE_UNAVAILABLE)})
@needs("audit.read")
def get_audit(
    living: AskLiving,
    _caller: AskCaller,
    by: Words = None,
    action: Annotated[
        str | None, Query(max_length=200, description="One action, or its noun, such as `order`.")
    ] = None,
    subject: Words = None,
    since: Annotated[AwareDatetime | None, Query()] = None,
    before: Annotated[AwareDatetime | None, Query()] = None,
    after_no: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> JsonAnswer:
    """Who did what; filters hold together, `after_no` pages."""
    log = living.live.audit
    page = log.search(AuditFilter(by, action, subject, since, before), after_no, limit)
    return JsonAnswer(AuditAnswer(str(log.head()), page.next_after_no, [_row(one) for one in page.entries]))


def _row(chained: ChainedEntry) -> AuditRow:
    entry = chained.entry
    return AuditRow(
        chained.entry_no,
        entry.at,
        entry.by,
        entry.action,
        entry.subject,
        entry.reason,
        dict(entry.details),
        chained.digest,
    )
