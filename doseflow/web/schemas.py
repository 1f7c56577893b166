"""GET /api/v1/schemas/report/{version}: what a report may say, for programs that check before they send."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from doseflow.intake.report_schema import report_schema
from doseflow.web.actions import needs
from doseflow.web.error_responses import MALFORMED_REQUEST, documented
from doseflow.web.json_answer import JsonAnswer

router = APIRouter(prefix="/api/v1", tags=["reports"])


@router.get(
    "/schemas/report/{version}",
    responses={200: {"content": {"application/schema+json": {}}}, **documented(MALFORMED_REQUEST)},
)
@needs("api.read")
def get_report_schema(version: Literal["1", "2"]) -> JsonAnswer:
    """JSON Schema of the site report in one of the accepted versions."""
    return JsonAnswer(report_schema(int(version)), media_type="application/schema+json")
