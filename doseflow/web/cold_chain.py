"""POST /api/v1/cold-chain: transmissions of cold-chain loggers by WHO PQS E006/DS01, clause 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from doseflow.errors import ReportMalformed, ReportTooLarge, TimeImplausible
from doseflow.live.cold_chain_door import MAX_WIRE_BYTES, take_cold_chain
from doseflow.web.actions import needs
from doseflow.web.error_responses import (
    BROKEN_BODY,
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_REQUEST,
    STORE_UNAVAILABLE,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.limited_body import read_limited
from doseflow.web.living import AskLiving

SOURCE = "cold_chain:http"
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": ["object", "array"]}}},
    }
}
router = APIRouter(prefix="/api/v1", tags=["sources"])


@dataclass(frozen=True, slots=True)
class RefusedRecordRow:
    """A record that was refused and is in quarantine; `position` is its path in the body."""

    position: str
    logger_id: str | None
    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class ColdChainAnswer:
    """
    The receiver has taken responsibility for the transmission.

    `taken` counts moments that are new, `repeated` those known before; `unmapped` names loggers that hang in no fridge
    of the table: their points are kept, and no report is made of them.
    """

    taken: int
    repeated: int
    unmapped: list[str]
    refused: list[RefusedRecordRow]


@router.post(
    "/cold-chain",
    status_code=202,
    openapi_extra=_BODY,
    responses={
        202: {"model": ColdChainAnswer},
        **documented(BROKEN_BODY, FOREIGN_ORIGIN, MALFORMED_REQUEST, STORE_UNAVAILABLE),
        **documented(*(ERROR_TO_PROBLEM[one] for one in (ReportMalformed, ReportTooLarge, TimeImplausible))),
    },
)
@needs("cold_chain.send")
async def post_cold_chain(
    request: Request, living: AskLiving, logger: Annotated[str | None, Query(min_length=1, max_length=100)] = None
) -> JsonAnswer:
    """
    Take a transmission, as JSON or as JSON packed by gzip, of at most 1 MB.

    2xx means that the receiver has taken responsibility. Sending it again does no harm. `logger` names the logger of
    records that do not name one.
    """
    body = await read_limited(request, MAX_WIRE_BYTES)
    if not body.is_whole:
        raise ReportTooLarge("body", f"must have at most {MAX_WIRE_BYTES} bytes, got {body.num_bytes}")
    outcome = await run_in_threadpool(take_cold_chain, living.live, body.kept, SOURCE, logger)
    refused = [
        RefusedRecordRow(one.position, one.logger_id, one.error.field, one.error.reason) for one in outcome.refused
    ]
    answer = ColdChainAnswer(outcome.taken, outcome.repeated, list(outcome.unmapped), refused)
    return JsonAnswer(answer, status_code=202)
