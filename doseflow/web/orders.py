"""GET /api/v1/orders and one order; POST /api/v1/orders/{order_id}/receipts says what a site did with it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from doseflow.domain.caller import Caller
from doseflow.domain.orders import Order, OrderState
from doseflow.errors import OrderNotFound, ReceiptRefused
from doseflow.intake.receipt_body import MAX_RECEIPT_BYTES, read_receipt
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_RECEIPT,
    MALFORMED_REQUEST,
    STORE_UNAVAILABLE,
    Problem,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.limited_body import read_limited
from doseflow.web.living import AskLiving, Living
from doseflow.web.openapi import body_of
from doseflow.web.order_view import OrderRow, OrdersAnswer, order_row
from doseflow.web.own_sites import own_order

UNKNOWN_ORDER = ERROR_TO_PROBLEM[OrderNotFound]
router = APIRouter(prefix="/api/v1", tags=["orders"])


@router.get("/orders", responses={200: {"model": OrdersAnswer}, **documented(MALFORMED_REQUEST, STORE_UNAVAILABLE)})
@needs("order.read")
def get_orders(
    living: AskLiving,
    caller: AskCaller,
    state: Annotated[list[OrderState] | None, Query(description="One state, or several by repeating it.")] = None,
    site_id: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> JsonAnswer:
    """Orders, the newest first."""
    orders = _own_orders(living, caller, state, site_id, limit)
    return JsonAnswer(OrdersAnswer(living.live.clock.now(), [order_row(order) for order in orders]))


@router.get("/orders/{order_id}", responses={200: {"model": OrderRow}, **documented(UNKNOWN_ORDER, STORE_UNAVAILABLE)})
@needs("order.read")
def get_order(order_id: str, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """One order."""
    return JsonAnswer(order_row(own_order(living.live, caller, order_id)))


@router.post(
    "/orders/{order_id}/receipts",
    openapi_extra=body_of("OrderReceipt"),
    responses={
        200: {"model": OrderRow},
        **documented(
            UNKNOWN_ORDER, ERROR_TO_PROBLEM[ReceiptRefused], MALFORMED_RECEIPT, FOREIGN_ORIGIN, STORE_UNAVAILABLE
        ),
    },
)
@needs("order.receipt")
async def post_receipt(order_id: str, request: Request, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """
    Say what became of an order; the same receipt twice changes nothing.

    The answer is the order in its new state. A refusal must give its reason.
    """
    body = await read_limited(request, MAX_RECEIPT_BYTES)
    # Cut off at the limit it is refused for what it is: one byte more than the limit says so.
    receipt_bytes = body.kept if body.is_whole else body.kept + b" "
    return JsonAnswer(order_row(await run_in_threadpool(_record, living, caller, order_id, receipt_bytes)))


def _own_orders(
    living: Living, caller: Caller, states: list[OrderState] | None, site_id: str | None, limit: int
) -> list[Order]:
    plans = living.live.plans
    if caller.site_ids is None:
        return plans.orders(states=states, site_id=site_id, limit=limit)
    site_ids = caller.site_ids if site_id is None else caller.site_ids & {site_id}
    found = [order for each in site_ids for order in plans.orders(states=states, site_id=each, limit=limit)]
    return sorted(found, key=lambda order: order.created_at, reverse=True)[:limit]


def _record(living: Living, caller: Caller, order_id: str, body: bytes) -> Order:
    own_order(living.live, caller, order_id)
    try:
        receipt = read_receipt(body, living.live.clock.now())
    except ReceiptRefused as error:
        raise Problem(MALFORMED_RECEIPT, str(error), field=error.field, reason=error.reason) from error
    return living.live.record_receipt(order_id, receipt)
