"""POST /api/v1/playbooks starts a playbook, POST .../{playbook_id}/end ends it, GET says what runs and what to do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from doseflow.domain.caller import Caller
from doseflow.domain.decisions import Decision
from doseflow.domain.playbooks import Playbook, PlaybookKind, objection_to
from doseflow.errors import CommandRefused, PlaybookNotFound
from doseflow.feasible.referee import referee
from doseflow.feasible.words import phrase
from doseflow.live.live_city import LiveCity
from doseflow.playbooks.briefing import Briefing, brief
from doseflow.playbooks.minutes_to_loss import Warming
from doseflow.playbooks.proposed import ProposedPlaybook, proposed_playbooks
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
from doseflow.web.order_actions import REFUSED, ClientKey, Commanding, Reason, press_of
from doseflow.web.own_sites import require_own_site

UNKNOWN = ERROR_TO_PROBLEM[PlaybookNotFound]
router = APIRouter(prefix="/api/v1", tags=["playbooks"])
SiteId = Annotated[str, Field(min_length=1, max_length=100)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
AskRate = Annotated[float, Query(gt=0, le=100, description="Warming of a fridge without cooling; 1 is assumed.")]
AskHoldover = Annotated[float | None, Query(ge=0, le=14 * 1440, description="Instead, the fridge's own holdover.")]


class Starting(BaseModel):
    """An incident: its kind, what it is about, and why it is declared."""

    model_config = ConfigDict(extra="forbid")
    kind: PlaybookKind
    site_ids: Annotated[list[SiteId], Field(max_length=2000)] = []
    fridge_id: Name | None = None
    lot_number: Name | None = None
    factor: Annotated[float, Field(ge=1, le=2)] | None = None
    reason: Reason
    client_key: ClientKey = ""


@dataclass(frozen=True, slots=True)
class ReadyOrder:
    """An order that fits; `objection` is the rule that the latest plan would break with it, empty where none."""

    decision: Decision
    text_en: str
    text_zh: str
    objection: str


@dataclass(frozen=True, slots=True)
class PlaybookAnswer:
    """A playbook, what is known about it now, and orders that are ready; the next plan makes its own."""

    playbook: Playbook
    briefing: Briefing | None
    ready_orders: list[ReadyOrder]


@dataclass(frozen=True, slots=True)
class PlaybooksAnswer:
    """Running ones first; then ended ones, the latest first; and what readings suggest, which nobody has started."""

    now: datetime
    running: list[Playbook]
    ended: list[Playbook]
    proposed: list[ProposedPlaybook]


@router.post(
    "/playbooks",
    responses={
        200: {"model": PlaybookAnswer},
        **documented(REFUSED, UNKNOWN, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("playbook.start")
def post_playbook(asked: Starting, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Start a playbook; it binds every plan until it is ended."""
    live = living.live
    playbook = Playbook(
        f"pb-{secrets.token_hex(6)}",
        asked.kind,
        tuple(dict.fromkeys(asked.site_ids)),
        asked.fridge_id,
        asked.lot_number,
        asked.factor,
    )
    _check(live, caller, playbook)
    started = live.desk.start_playbook(playbook, press_of(live, caller, asked.reason, asked.client_key))
    answer = _answer(live, started, Warming())
    near = [one.site_id for one in answer.briefing.neighbours] if answer.briefing else []
    told = {"playbook_id": started.playbook_id, "kind": started.kind, "site_ids": started.site_ids, "neighbours": near}
    live.feed.publish("playbook_started", told)
    return JsonAnswer(answer)


@router.post(
    "/playbooks/{playbook_id}/end",
    responses={
        200: {"model": Playbook},
        **documented(UNKNOWN, REFUSED, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("playbook.end")
def post_end(playbook_id: str, asked: Commanding, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """End a playbook; one that has ended stays as it is."""
    live = living.live
    ended = live.desk.end_playbook(playbook_id, press_of(live, caller, asked.reason, asked.client_key))
    live.feed.publish("playbook_ended", {"playbook_id": playbook_id, "kind": ended.kind})
    return JsonAnswer(ended)


@router.get(
    "/playbooks", responses={200: {"model": PlaybooksAnswer}, **documented(MALFORMED_REQUEST, STORE_UNAVAILABLE)}
)
@needs("playbook.read")
def get_playbooks(
    living: AskLiving, _caller: AskCaller, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> JsonAnswer:
    """What runs, what ran, and what readings suggest."""
    live = living.live
    every = live.desk.playbooks(limit)
    running = [one for one in every if one.ended_at is None]
    proposed = [] if live.latest is None else proposed_playbooks(live.latest.state, tuple(running))
    ended = [one for one in every if one.ended_at is not None]
    return JsonAnswer(PlaybooksAnswer(live.clock.now(), running, ended, proposed))


@router.get(
    "/playbooks/{playbook_id}",
    responses={200: {"model": PlaybookAnswer}, **documented(UNKNOWN, MALFORMED_REQUEST, STORE_UNAVAILABLE)},
)
@needs("playbook.read")
def get_playbook(
    playbook_id: str,
    living: AskLiving,
    _caller: AskCaller,
    warming_celsius_per_hour: AskRate = 1.0,
    holdover_minutes: AskHoldover = None,
) -> JsonAnswer:
    """A playbook with what is known now: what lies where, how long it is good, where it fits, what to order."""
    found = [one for one in living.live.desk.playbooks(10_000) if one.playbook_id == playbook_id]
    if not found:
        raise PlaybookNotFound(f"no playbook has the id {playbook_id!r}")
    return JsonAnswer(_answer(living.live, found[0], Warming(warming_celsius_per_hour, holdover_minutes)))


def _check(live: LiveCity, caller: Caller, playbook: Playbook) -> None:
    objection = objection_to(playbook)
    if objection:
        raise CommandRefused(objection)
    for site_id in playbook.site_ids:
        require_own_site(live, caller, site_id)
    if playbook.fridge_id is not None:
        site = live.city.sites[live.city.site_to_idx[playbook.site_ids[0]]]
        if playbook.fridge_id not in {fridge.fridge_id for fridge in site.fridges}:
            raise CommandRefused(f"fridge_id: must be a fridge of {site.site_id}, got {playbook.fridge_id!r}")


def _answer(live: LiveCity, playbook: Playbook, warming: Warming) -> PlaybookAnswer:
    cycle = live.latest
    if cycle is None:
        return PlaybookAnswer(playbook, None, [])
    briefing = brief(playbook, cycle.state, warming)
    planned = [one.decision for one in cycle.plan.decisions]
    ready = []
    for decision in briefing.rescue.ready_orders if briefing.rescue else ():
        others = [one for one in planned if one.key != decision.key]
        found = [one for one in referee(cycle.state, cycle.forecast, [*others, decision]) if one.hard]
        broken = next((one for one in found if len(others) in one.decision_idx), None)
        objection = "" if broken is None else f"{broken.rule}: {broken.sentence}"
        ready.append(ReadyOrder(decision, *phrase(decision, live.city), objection))
    return PlaybookAnswer(playbook, briefing, ready)
