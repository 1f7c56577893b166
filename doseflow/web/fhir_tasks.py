"""PUT and POST /api/v1/fhir/Task: a FHIR R4 server pushes the Tasks of our orders, instead of being asked for them."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from doseflow.domain.caller import Caller
from doseflow.errors import OrderNotFound, ReceiptRefused
from doseflow.intake.fhir_receipt import TASK_STATUS_SYSTEM, read_task
from doseflow.intake.json_text import BYTE_ORDER_MARK, parse_json
from doseflow.intake.receipt_body import MAX_RECEIPT_BYTES
from doseflow.live.receipt_desk import ReceiptDesk
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import FOREIGN_ORIGIN, STORE_UNAVAILABLE, documented
from doseflow.web.limited_body import read_limited
from doseflow.web.living import AskLiving, Living

MEDIA_TYPE = "application/fhir+json"
SOURCE = "fhir"
_ANSWER = {"description": "A FHIR resource: the Task, or an OperationOutcome", "content": {MEDIA_TYPE: {"schema": {}}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    **documented(FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    **dict.fromkeys((200, 400, 404, 413, 422), _ANSWER),
}
router = APIRouter(prefix="/api/v1/fhir", tags=["orders"])


@router.post("/Task", responses=ANSWERS)
@router.put("/Task/{task_id}", responses=ANSWERS)
@needs("order.receipt")
async def take_pushed_task(request: Request, living: AskLiving, caller: AskCaller) -> Response:
    """
    Take a Task as the receipt of its order. The answer is the Task, or an OperationOutcome.

    A Task that comes late or again is taken and moves nothing: 200, since its sender need not send it any more.
    """
    body = await read_limited(request, MAX_RECEIPT_BYTES)
    if not body.is_whole:
        return _outcome(413, "too-long", f"must have at most {MAX_RECEIPT_BYTES} bytes, got {body.num_bytes}")
    return await run_in_threadpool(_take, living, caller, body.kept)


def _take(living: Living, caller: Caller, body: bytes) -> Response:
    live = living.live
    try:
        task = parse_json(body.removeprefix(BYTE_ORDER_MARK))
        told = read_task(task, living.params.fhir_order_system, live.clock.now())
        order = live.plans.order(told.order_id)
    except OrderNotFound as error:
        return _outcome(404, "not-found", str(error))
    except ReceiptRefused as error:
        return _outcome(422, "invalid", str(error))
    except ValueError as error:
        return _outcome(400, "structure", str(error))
    if not caller.may_touch(order.site_id):
        return _outcome(404, "not-found", f"no order has the id {told.order_id!r}")
    desk = ReceiptDesk(live)
    desk.mark(SOURCE, ok=True)
    if told.unknown_status:
        desk.note_unknown(SOURCE, TASK_STATUS_SYSTEM, told.unknown_status, f"status of the task of {told.order_id}")
    if told.receipt is not None:
        desk.take(SOURCE, told.order_id, told.receipt)
    return _answer(200, task)


def _outcome(status: int, code: str, text: str) -> Response:
    issue = {"severity": "error", "code": code, "diagnostics": text}
    return _answer(status, {"resourceType": "OperationOutcome", "issue": [issue]})


def _answer(status: int, resource: Any) -> Response:
    return Response(orjson.dumps(resource), status_code=status, media_type=MEDIA_TYPE)
