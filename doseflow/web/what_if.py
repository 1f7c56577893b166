"""POST /api/v1/what-if: the rest of today as it stands and as it would be, side by side; nothing is changed by it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from doseflow.domain.city import City
from doseflow.domain.decisions import Decision
from doseflow.errors import InputWrong
from doseflow.feasible.words import phrase
from doseflow.live.live_city import LiveCity
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import FOREIGN_ORIGIN, MALFORMED_REQUEST, NO_CYCLE_YET, Problem, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving
from doseflow.web.order_actions import ClientKey
from doseflow.what_if.changes import Change, ChangeKind, check_changes, site_indices
from doseflow.what_if.comparison import PlaceView, compared
from doseflow.what_if.future import PLAN_EVERY_MINUTES, RECORD_EVERY_MINUTES
from doseflow.what_if.replica import Question
from doseflow.what_if.workers import WhatIfWorkers

router = APIRouter(prefix="/api/v1", tags=["what-if"])
DEADLINE_SECONDS = 4.0
PLANNED_MOMENTS = 24

ASSUMED_EN = (
    "Arrivals follow the forecast for two hours, then the usual shape of the day, scaled to the doses forecast.",
    "Staff whose shift ends are relieved by as many; each shift began eight hours before its end.",
    "Who waits came evenly over the wait that was observed; an opened vial has half of its life left.",
    "Orders that are on their way now are not carried on; the first plan of each future makes its own.",
    "Four in five of the people of a site that closes go to its three nearest open neighbours.",
    "The rules plan both futures, at once and then every hour; deliveries still to come are not known.",
)
ASSUMED_ZH = (
    "到达人数两小时内按预测，其后按一天的通常形状，并按预测的剩余剂次缩放。",
    "班次结束的人员由同样人数接班；每班按结束前八小时开始计。",
    "正在等候的人按观察到的等候时间均匀到达；已开瓶疫苗还剩一半使用时间。",
    "正在途中的指令不再延续；每种情形的第一个计划自行下达。",
    "关闭的接种点的人有五分之四前往最近的三个开放接种点。",
    "两种情形都由规则计划，立即一次，其后每小时一次；尚未到货的配送未知。",
)


class AskedChange(BaseModel):
    """One change from now on; without `site_id` it is about the whole city."""

    model_config = ConfigDict(extra="forbid")
    kind: ChangeKind
    site_id: Annotated[str, Field(max_length=100)] | None = None
    fridge_id: Annotated[str, Field(max_length=100)] | None = None
    factor: Annotated[float, Field(ge=0, le=5)] = 1.0
    people: Annotated[int, Field(ge=0, le=200)] = 0
    minutes: Annotated[int, Field(ge=5, le=1440)] = 60


class Supposing(BaseModel):
    """What is supposed. The answer changes nothing, so `client_key` is taken and not looked at."""

    model_config = ConfigDict(extra="forbid")
    changes: Annotated[list[AskedChange], Field(min_length=1, max_length=20)]
    num_replicas: Annotated[int, Field(ge=1, le=16)] = 2
    client_key: ClientKey = ""


@dataclass(frozen=True, slots=True)
class DifferingOrder:
    """A decision that the first plan of only one future holds."""

    decision: Decision
    text_en: str
    text_zh: str


@dataclass(frozen=True, slots=True)
class RealCommand:
    """A command that would make a change real: where to POST it and with what; it still needs a reason."""

    path: str
    body: dict[str, object]


@dataclass(frozen=True, slots=True)
class WhatIfAnswer:
    """Both futures from `as_of`, a value each `period_minutes`, over `num_replicas` of those that were asked for."""

    as_of: datetime
    period_minutes: int
    plan_every_minutes: int
    num_replicas: int
    seconds: float
    planner: str
    city: PlaceView
    sites: list[PlaceView]
    only_as_is: list[DifferingOrder]
    only_changed: list[DifferingOrder]
    commands: list[RealCommand]
    assumed_en: list[str]
    assumed_zh: list[str]


@router.post(
    "/what-if",
    responses={200: {"model": WhatIfAnswer}, **documented(NO_CYCLE_YET, MALFORMED_REQUEST, FOREIGN_ORIGIN)},
)
@needs("what_if.run")
def post_what_if(asked: Supposing, living: AskLiving, _caller: AskCaller, request: Request) -> JsonAnswer:
    """Simulate the rest of the day twice, in processes of their own."""
    live, began = living.live, time.monotonic()
    changes = tuple(Change(**one.model_dump()) for one in asked.changes)
    _check(changes, live.city)
    question = _question(live, changes, asked.num_replicas)
    workers: WhatIfWorkers = request.app.state.what_if_workers
    replicas = workers.ask(question, DEADLINE_SECONDS)
    seen = compared(replicas, live.city, site_indices(changes, live.city))
    return JsonAnswer(
        WhatIfAnswer(
            as_of=question.state.as_of,
            period_minutes=RECORD_EVERY_MINUTES,
            plan_every_minutes=PLAN_EVERY_MINUTES,
            num_replicas=len(replicas),
            seconds=round(time.monotonic() - began, 2),
            planner="rules",
            city=seen.city,
            sites=list(seen.sites),
            only_as_is=[_differing(one, live.city) for one in seen.only_as_is],
            only_changed=[_differing(one, live.city) for one in seen.only_changed],
            commands=[command for one in changes for command in _commands(one, live.city)],
            assumed_en=list(ASSUMED_EN),
            assumed_zh=list(ASSUMED_ZH),
        )
    )


def _check(changes: tuple[Change, ...], city: City) -> None:
    try:
        check_changes(changes, city)
    except InputWrong as error:
        raise Problem(MALFORMED_REQUEST, str(error)) from error


def _question(live: LiveCity, changes: tuple[Change, ...], num_replicas: int) -> Question:
    cycle = live.latest
    if cycle is None:
        raise Problem(NO_CYCLE_YET, "no cycle has run yet; the first one runs at the next five-minute mark")
    moments = [cycle.state.as_of + timedelta(minutes=PLAN_EVERY_MINUTES * k) for k in range(PLANNED_MOMENTS)]
    past = live.past_weeks_at(moments)
    return Question(cycle.state, cycle.forecast, past, changes, num_replicas)


def _differing(decision: Decision, city: City) -> DifferingOrder:
    return DifferingOrder(decision, *phrase(decision, city))


def _commands(change: Change, city: City) -> list[RealCommand]:
    """The existing door of a change; people from outside the city have none."""
    match change.kind:
        case ChangeKind.CLOSE_SITE | ChangeKind.SUSPEND_SITE:
            return [RealCommand("/api/v1/commands/suspend", {"site_id": change.site_id})]
        case ChangeKind.LOSE_FRIDGE:
            fridges = city.sites[city.site_to_idx[str(change.site_id)]].fridges
            fridge_id = change.fridge_id or (fridges[0].fridge_id if fridges else None)
            body: dict[str, object] = {"kind": "fridge_failure", "site_ids": [change.site_id], "fridge_id": fridge_id}
            return [RealCommand("/api/v1/playbooks", body)]
        case ChangeKind.WALK_INS if change.factor > 1:
            return [RealCommand("/api/v1/playbooks", {"kind": "surge", "factor": min(change.factor, 2.0)})]
    return []
