"""GET /api/v1/summaries: what a shift or a day was like, as JSON, as a page to print, and as PDF."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import AwareDatetime

from doseflow.live.live_city import LiveCity
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import MALFORMED_REQUEST, STORE_UNAVAILABLE, Problem, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving
from doseflow.web.summary import Summary, summary_between
from doseflow.web.summary_page import summary_page
from doseflow.web.summary_pdf import summary_pdf

router = APIRouter(prefix="/api/v1", tags=["summaries"])
LONGEST = timedelta(hours=26)


class Shape(StrEnum):
    """How a summary is told."""

    JSON = "json"
    HTML = "html"
    PDF = "pdf"


class Language(StrEnum):
    """Of a page or a PDF."""

    EN = "en"
    ZH = "zh"


EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2199, 12, 31, tzinfo=UTC)
AskShape = Annotated[Shape, Query(description="`json`, `html` to print, or `pdf`.")]
RESPONSES = {
    200: {"model": Summary, "content": {"text/html": {}, "application/pdf": {}}},
    **documented(MALFORMED_REQUEST, STORE_UNAVAILABLE),
}


@router.get("/summaries/shift", responses=RESPONSES)
@needs("summary.read")
def get_shift(
    living: AskLiving,
    _caller: AskCaller,
    since: Annotated[AwareDatetime, Query(alias="from", ge=EARLIEST, le=LATEST)],
    until: Annotated[AwareDatetime, Query(alias="to", ge=EARLIEST, le=LATEST)],
    shape: AskShape = Shape.JSON,
    language: Language = Language.EN,
) -> Response:
    """A shift, for whoever takes the watch; at most 26 hours."""
    if not timedelta(0) < until - since <= LONGEST:
        raise Problem(MALFORMED_REQUEST, f"to: must be later than from and at most 26 h later, got {until.isoformat()}")
    return _told(living.live, since, until, shape, language)


@router.get("/summaries/day", responses=RESPONSES)
@needs("summary.read")
def get_day(
    living: AskLiving,
    _caller: AskCaller,
    on: Annotated[date, Query(ge=date(2000, 1, 1), le=date(2199, 12, 31))],
    shape: AskShape = Shape.JSON,
    language: Language = Language.EN,
) -> Response:
    """A local day of the city, from midnight to midnight."""
    since = datetime.combine(on, time(), ZoneInfo(living.live.city.timezone))
    return _told(living.live, since, since + timedelta(days=1), shape, language)


def _told(live: LiveCity, since: datetime, until: datetime, shape: Shape, language: Language) -> Response:
    summary = summary_between(live, since, until)
    if shape is Shape.JSON:
        return JsonAnswer(summary)
    if shape is Shape.HTML:
        return Response(summary_page(summary, language), media_type="text/html; charset=utf-8")
    name = f"doseflow-{since:%Y%m%d-%H%M}.pdf"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(summary_pdf(summary, language), media_type="application/pdf", headers=headers)
