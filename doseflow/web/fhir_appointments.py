"""POST /api/v1/fhir/Appointment takes FHIR R4 appointments; every answer is a FHIR resource, refusals too."""

from __future__ import annotations

from typing import Any

import structlog
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from doseflow.domain.caller import Caller
from doseflow.errors import DoseflowError, EnvironmentUnfit, FhirIssue, ResourceRefused, StoreUnavailable
from doseflow.intake.fhir_outcome import outcome_of_issues, outcome_of_sentence
from doseflow.live.fhir_door import ALL_OR_NOTHING, FhirDoor, FhirResult
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import FOREIGN_HOST, FOREIGN_ORIGIN, UNEXPECTED
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.limited_body import read_limited
from doseflow.web.living import AskLiving, Living

FHIR_MEDIA_TYPE = "application/fhir+json"
WHOLE_BODY = frozenset({"body", "resourceType"})
router = APIRouter(prefix="/api/v1/fhir", tags=["appointments"])
log = structlog.get_logger(__name__)

_RESOURCE = {FHIR_MEDIA_TYPE: {"schema": {"type": "object", "required": ["resourceType"]}}}
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_SAID = {
    200: "What became of each entry of a Bundle, or an Appointment that changed nothing",
    201: "The Appointment was taken",
    400: "The body is not a FHIR resource that is read here",
    404: "This door is not on",
    413: "The body is too large",
    422: "The Appointment, or one of a transaction, cannot be used; nothing was taken",
    503: "Nobody can take it now; send it again later",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: {"description": text, "content": _RESOURCE} for status, text in _SAID.items()},
    403: {"description": FOREIGN_ORIGIN.title, "content": {**_PROBLEM, **_RESOURCE}},
    421: {"description": FOREIGN_HOST.title, "content": _PROBLEM},
    500: {"description": UNEXPECTED.title, "content": _PROBLEM},
}
_BODY = {"requestBody": {"required": True, "content": {**_RESOURCE, "application/json": _RESOURCE[FHIR_MEDIA_TYPE]}}}


class FhirAnswer(JsonAnswer):
    """A response that is a FHIR resource."""

    media_type = FHIR_MEDIA_TYPE


@router.post("/Appointment", status_code=201, openapi_extra=_BODY, responses=_RESPONSES)
@needs("appointment.send")
async def post_appointment(request: Request, living: AskLiving, caller: AskCaller) -> FhirAnswer:
    """
    Take one Appointment, or a Bundle of them (batch, transaction or collection).

    2xx means that the receiver has taken responsibility. Of a batch the good entries are taken all the same; a
    transaction is taken whole or not at all.
    """
    door = living.live.fhir_door
    if door is None:
        sentence = "this door is not on; set fhir.is_on"
        return FhirAnswer(outcome_of_sentence(sentence, "not-supported", "error"), status_code=404)
    body = await read_limited(request, living.params.max_body_bytes)
    if not body.is_whole:
        sentence = f"the body must be at most {living.params.max_body_bytes} bytes, got {body.num_bytes}"
        return FhirAnswer(outcome_of_sentence(sentence, "too-long", "error"), status_code=413)
    return await run_in_threadpool(_take, living, door, body.kept, caller)


def _take(living: Living, door: FhirDoor, body: bytes, caller: Caller) -> FhirAnswer:
    try:
        read, results = door.take(body, caller)
    except ResourceRefused as error:
        status = 400 if error.issues[0].expression in WHOLE_BODY else 422
        return FhirAnswer(outcome_of_issues(error.issues), status_code=status)
    except (StoreUnavailable, EnvironmentUnfit) as error:
        return _unavailable(error)
    living.live.feed.publish("appointments_received", {"taken": sum(one.taken is not None for one in results)})
    if not read.bundle_type:
        status, outcome = _single(results[0])
        return FhirAnswer(outcome, status_code=status)
    kind = "transaction-response" if read.bundle_type == ALL_OR_NOTHING else "batch-response"
    entries = [_entry(*_single(one)) for one in results]
    return FhirAnswer({"resourceType": "Bundle", "type": kind, "entry": entries} if entries else _empty(kind))


def _empty(kind: str) -> dict[str, Any]:
    return {"resourceType": "Bundle", "type": kind}


def _entry(status: int, outcome: dict[str, Any]) -> dict[str, Any]:
    return {"response": {"status": str(status), "outcome": outcome}}


def _single(result: FhirResult) -> tuple[int, dict[str, Any]]:
    """Status and outcome of one entry."""
    if result.refused is not None:
        code = "forbidden" if result.is_foreign else "invalid"
        return (403 if result.is_foreign else 422), outcome_of_issues(result.refused.issues, code)
    if result.taken is None:
        return 200, outcome_of_sentence(f"{result.entry.resource_type or 'it'} is not kept here; it was passed over")
    if result.taken.is_repeat:
        return 200, outcome_of_sentence("it was taken before and counts once")
    if result.taken.unplaced:
        issue = FhirIssue(
            "Appointment.participant", "is at no known site; it is kept, and counts when the site is named"
        )
        return 201, outcome_of_issues([issue], "not-found", "warning")
    if not result.taken.changed:
        return 200, outcome_of_sentence("a newer word of it is known; nothing changed")
    return 201, outcome_of_sentence("it was taken")


def _unavailable(error: DoseflowError) -> FhirAnswer:
    log.error("fhir_request_failed", exc_info=error)
    answer = FhirAnswer(outcome_of_sentence(str(error), "transient", "error"), status_code=503)
    answer.headers["retry-after"] = "5"
    return answer
