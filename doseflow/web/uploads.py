"""POST /api/v1/uploads takes a table of site reports; GET /api/v1/uploads/template.csv and .xlsx give one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from doseflow.errors import EnvironmentUnfit, ReportMalformed, ReportTooLarge
from doseflow.intake.sheet_columns import Language
from doseflow.intake.sheet_rows import MAX_BYTES
from doseflow.intake.sheet_template import csv_template, xlsx_template
from doseflow.live.sheet_door import take_sheet
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_REQUEST,
    STORE_UNAVAILABLE,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.limited_body import read_limited
from doseflow.web.living import AskLiving

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MULTIPART_TYPE = "multipart/form-data"
OVERHEAD_BYTES = 10_000
"""Of a form round its file."""
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FORM = {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}
_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"text/csv": _BINARY, XLSX_TYPE: _BINARY, MULTIPART_TYPE: _FORM}}
}
router = APIRouter(prefix="/api/v1", tags=["sources"])


@dataclass(frozen=True, slots=True)
class RefusedRowAnswer:
    """A row that was refused and is in quarantine; `row` is its number in the file, the header being row 1."""

    row: int
    column: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class UploadAnswer:
    """Rows taken and refused; `unknown_columns` were not read."""

    taken: int
    refused: list[RefusedRowAnswer]
    unknown_columns: list[str]


@router.post(
    "/uploads",
    status_code=202,
    openapi_extra=_BODY,
    responses={
        202: {"model": UploadAnswer},
        **documented(FOREIGN_ORIGIN, MALFORMED_REQUEST, STORE_UNAVAILABLE),
        **documented(*(ERROR_TO_PROBLEM[one] for one in (ReportMalformed, ReportTooLarge, EnvironmentUnfit))),
    },
)
@needs("report.send")
async def post_upload(
    request: Request,
    living: AskLiving,
    caller: AskCaller,
    name: Annotated[str, Query(min_length=1, max_length=80)] = "table",
) -> JsonAnswer:
    """
    Take a table, CSV or XLSX, as the body itself or as the file of a form.

    Good rows are taken although others are bad; `name` tells uploads apart.
    """
    body = await read_limited(request, MAX_BYTES + OVERHEAD_BYTES)
    if not body.is_whole:
        raise ReportTooLarge("file", f"must have at most {MAX_BYTES} bytes, got {body.num_bytes}")
    data = body.kept
    if request.headers.get("content-type", "").startswith(MULTIPART_TYPE):
        data = await _file_of_form(request, data)
    outcome = await run_in_threadpool(take_sheet, living.live, data, name, caller.site_ids)
    refused = [RefusedRowAnswer(one.number, one.column, one.reason, str(one)) for one in outcome.refused]
    return JsonAnswer(UploadAnswer(outcome.taken, refused, list(outcome.unknown_headers)), status_code=202)


@router.get("/uploads/template.csv", response_class=Response, responses=documented(MALFORMED_REQUEST))
@needs("api.read")
def get_csv_template(language: Language = "en") -> Response:
    """The table to fill in."""
    return _download(csv_template(language), "text/csv; charset=utf-8", "csv")


@router.get("/uploads/template.xlsx", response_class=Response, responses=documented(MALFORMED_REQUEST))
@needs("api.read")
def get_xlsx_template(language: Language = "en") -> Response:
    """The table to fill in, as an Excel file."""
    return _download(xlsx_template(language), XLSX_TYPE, "xlsx")


def _download(data: bytes, media_type: str, extension: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="doseflow-report.{extension}"'}
    return Response(data, media_type=media_type, headers=headers)


async def _file_of_form(request: Request, data: bytes) -> bytes:
    """The first file of a form that is held in memory already."""
    try:
        from starlette.formparsers import MultiPartException, MultiPartParser

        async def chunks() -> AsyncIterator[bytes]:
            yield data

        form = await MultiPartParser(request.headers, chunks(), max_files=1, max_fields=10).parse()  # type: ignore[arg-type]
    except (ImportError, AssertionError) as error:
        raise EnvironmentUnfit("a form needs the library of `pip install 'doseflow[sheets]'`") from error
    except (MultiPartException, KeyError) as error:
        raise ReportMalformed("file", f"must be a whole form with a file: {error}") from error
    for value in form.values():
        if not isinstance(value, str):
            return await value.read()
    raise ReportMalformed("file", "must be a form with a file, got none")
