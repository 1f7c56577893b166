"""POST /api/v1/orders/{order_id}/...: approve, reject, withdraw, undo, override, pin; and many orders at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from doseflow.domain.caller import Caller
from doseflow.domain.commanding import OrderAction, OrderWish, Press, WishAnswer
from doseflow.errors import CommandRefused, OrderNotFound
from doseflow.live.live_city import LiveCity
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
from doseflow.web.living import AskLiving
from doseflow.web.order_view import OrderRow, order_row
from doseflow.web.own_sites import own_order

MAX_WISHES = 1000
REFUSED = ERROR_TO_PROBLEM[CommandRefused]
UNKNOWN_ORDER = ERROR_TO_PROBLEM[OrderNotFound]
PROBLEMS = documented(UNKNOWN_ORDER, REFUSED, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE)
router = APIRouter(prefix="/api/v1", tags=["command"])

OrderId = Annotated[str, Field(min_length=1, max_length=100)]
Reason = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S", description="Why, for the audit log.")]
MaybeReason = Annotated[str, Field(max_length=1000, description="Why, for the audit log.")]
ClientKey = Annotated[
    str,
    Field(max_length=100, description="The client's name of this press: the same one again does nothing twice."),
]


class Answering(BaseModel):
    """Why, and the client's name of this press."""

    model_config = ConfigDict(extra="forbid")
    reason: MaybeReason = ""
    client_key: ClientKey = ""


class Commanding(BaseModel):
    """A reason, which must be given, and the client's name of this press."""

    model_config = ConfigDict(extra="forbid")
    reason: Reason
    client_key: ClientKey = ""


class Overriding(Commanding):
    """Another quantity, in the decision's own unit."""

    quantity: Annotated[float, Field(ge=-100, le=1_000_000, allow_inf_nan=False)]


class WishMode(StrEnum):
    """Whether wishes stand or fall together."""

    ALL = "all"
    EACH = "each"


class WishedOrder(BaseModel):
    """One action on one order."""

    model_config = ConfigDict(extra="forbid")
    order_id: OrderId
    action: OrderAction
    reason: MaybeReason = ""


class Wishes(BaseModel):
    """Actions on many orders: `all` does all or none, `each` answers each by itself."""

    model_config = ConfigDict(extra="forbid")
    wishes: Annotated[list[WishedOrder], Field(min_length=1, max_length=MAX_WISHES)]
    mode: WishMode = WishMode.EACH
    reason: MaybeReason = ""
    client_key: ClientKey = ""


@dataclass(frozen=True, slots=True)
class WishAnswers:
    """What became of each wish, in their order."""

    answers: list[WishAnswer]


@router.post("/orders/decide", responses={200: {"model": WishAnswers}, **PROBLEMS})
@needs("order.decide")
def post_decide(asked: Wishes, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Approve, reject, withdraw or undo many orders at once, or none of them where all must go."""
    live = living.live
    for one in asked.wishes if caller.site_ids is not None else ():
        own_order(live, caller, one.order_id)
    wishes = [OrderWish(one.order_id, one.action, one.reason) for one in asked.wishes]
    press = press_of(live, caller, asked.reason, asked.client_key)
    decide = live.desk.decide_all if asked.mode is WishMode.ALL else live.desk.decide
    answers = decide(wishes, press, live.undo_for)
    for answer in answers:
        if answer.state is not None:
            _publish(live, answer.order_id, answer.state, caller)
    return JsonAnswer(WishAnswers(answers))


@router.post("/orders/{order_id}/override", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.override")
def post_override(order_id: str, asked: Overriding, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """
    Order it in another quantity, which the referee allows; the answer is the new order in its place.

    Every plan keeps it in just this quantity while it is open.
    """
    own_order(living.live, caller, order_id)
    order = living.live.override(
        order_id, asked.quantity, press_of(living.live, caller, asked.reason, asked.client_key)
    )
    _publish(living.live, order.order_id, order.state, caller)
    return JsonAnswer(order_row(order))


@router.post("/orders/{order_id}/approve", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.approve")
def post_approve(order_id: str, asked: Answering, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Let a waiting order go out; it can be undone until it does."""
    return _act(living.live, OrderWish(order_id, OrderAction.APPROVE), asked, caller)


@router.post("/orders/{order_id}/reject", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.reject")
def post_reject(order_id: str, asked: Commanding, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Stop a waiting order; it binds like a refusal: within the hour it is not asked for again."""
    return _act(living.live, OrderWish(order_id, OrderAction.REJECT), asked, caller)


@router.post("/orders/{order_id}/withdraw", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.withdraw")
def post_withdraw(order_id: str, asked: Commanding, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Take an order back that no site has promised; the next plan may ask for it again."""
    return _act(living.live, OrderWish(order_id, OrderAction.WITHDRAW), asked, caller)


@router.post("/orders/{order_id}/undo", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.undo")
def post_undo(order_id: str, asked: Answering, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Take back the answer given last, as long as nobody was told: the order waits again."""
    return _act(living.live, OrderWish(order_id, OrderAction.UNDO), asked, caller)


@router.post("/orders/{order_id}/pin", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.pin")
def post_pin(order_id: str, asked: Commanding, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Keep the order's decision in every plan as long as an order for it is open."""
    own_order(living.live, caller, order_id)
    press = press_of(living.live, caller, asked.reason, asked.client_key)
    return JsonAnswer(order_row(living.live.desk.pin_order(order_id, press)))


@router.post("/orders/{order_id}/unpin", responses={200: {"model": OrderRow}, **PROBLEMS})
@needs("order.unpin")
def post_unpin(order_id: str, asked: Commanding, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Leave the order's decision to the plans again, however it was pinned."""
    own_order(living.live, caller, order_id)
    press = press_of(living.live, caller, asked.reason, asked.client_key)
    return JsonAnswer(order_row(living.live.desk.unpin_order(order_id, press)))


def _act(live: LiveCity, wish: OrderWish, asked: Answering | Commanding, caller: Caller) -> JsonAnswer:
    own_order(live, caller, wish.order_id)
    press = press_of(live, caller, asked.reason, asked.client_key)
    live.desk.decide_all([wish], press, live.undo_for)
    order = live.plans.order(wish.order_id)
    _publish(live, order.order_id, order.state, caller)
    return JsonAnswer(order_row(order))


def press_of(live: LiveCity, caller: Caller, reason: str, client_key: str) -> Press:
    """The press of a button by a caller, now."""
    return Press(caller.name, live.clock.now(), reason, client_key)


def _publish(live: LiveCity, order_id: str, state: str, caller: Caller) -> None:
    live.feed.publish("order_decided", {"order_id": order_id, "state": state, "by": caller.name})
