"""POST /api/v1/handover: one officer gives the watch to the next, who confirms; GET lists them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from doseflow.domain.commanding import Handover
from doseflow.errors import HandoverNotFound
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
from doseflow.web.order_actions import REFUSED, Answering, ClientKey, press_of

UNKNOWN = ERROR_TO_PROBLEM[HandoverNotFound]
router = APIRouter(prefix="/api/v1", tags=["command"])
OfficerName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]


class Giving(BaseModel):
    """Who gives the watch to whom, and what the next one should know."""

    model_config = ConfigDict(extra="forbid", validate_by_alias=True)
    from_officer: OfficerName = Field(alias="from")
    to_officer: OfficerName = Field(alias="to")
    note: str = Field(default="", max_length=4000)
    client_key: ClientKey = ""


@dataclass(frozen=True, slots=True)
class HandoversAnswer:
    """The latest first, and what is open now."""

    now: datetime
    open_items: dict[str, Any]
    handovers: list[Handover]


@router.post(
    "/handover",
    responses={
        200: {"model": Handover},
        **documented(REFUSED, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("handover.give")
def post_handover(asked: Giving, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Give the watch; the answer lists what is open."""
    press = press_of(living.live, caller, "", asked.client_key)
    made = living.live.desk.hand_over(asked.from_officer, asked.to_officer, asked.note, press)
    living.live.feed.publish("handover_given", {"handover_id": made.handover_id, "to": made.to_officer})
    return JsonAnswer(made)


@router.post(
    "/handover/{handover_id}/confirm",
    responses={
        200: {"model": Handover},
        **documented(UNKNOWN, REFUSED, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("handover.confirm")
def post_confirm(
    handover_id: Annotated[int, Path(ge=1, le=2**53)], asked: Answering, living: AskLiving, caller: AskCaller
) -> JsonAnswer:
    """Take the watch."""
    press = press_of(living.live, caller, asked.reason, asked.client_key)
    taken = living.live.desk.confirm_handover(handover_id, press)
    living.live.feed.publish("handover_confirmed", {"handover_id": handover_id})
    return JsonAnswer(taken)


@router.get(
    "/handover", responses={200: {"model": HandoversAnswer}, **documented(MALFORMED_REQUEST, STORE_UNAVAILABLE)}
)
@needs("handover.read")
def get_handovers(
    living: AskLiving, _caller: AskCaller, limit: Annotated[int, Query(ge=1, le=1000)] = 20
) -> JsonAnswer:
    """The latest hand-overs, and what is open now."""
    desk = living.live.desk
    return JsonAnswer(HandoversAnswer(living.live.clock.now(), desk.open_items(), desk.handovers(limit)))
