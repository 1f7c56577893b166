"""GET /api/v1/models: who answers for each net; POST /api/v1/models/{step}: the steps that a person may order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from doseflow.domain.caller import LOCAL_CALLER
from doseflow.errors import EngineFailed, EnvironmentUnfit, InputWrong, ModelNotFound, ModelWrong, ReleaseRefused
from doseflow.serve.aliases import Aliases
from doseflow.serve.model_store import ModelStore
from doseflow.serve.release_desk import ReleaseDesk
from doseflow.serve.release_history import ReleaseTrail, trail_of
from doseflow.serve.release_orders import ReleaseOrder, let_in, promote_challenger, take_back
from doseflow.serve.release_share import permille_of
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import ERROR_TO_PROBLEM, FOREIGN_ORIGIN, MALFORMED_REQUEST, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving, Living

SHOWN_EVENTS = 50
router = APIRouter(prefix="/api/v1", tags=["models"])


class ReleaseStep(StrEnum):
    """
    What can be ordered of a release.

    `canary` lets a model in or gives it a share, `promote` makes the challenger champion, `rollback` drops it, or
    where there is none goes back to the previous champion.
    """

    CANARY = "canary"
    PROMOTE = "promote"
    ROLLBACK = "rollback"


def _kept_share(share_percent: float) -> float:
    try:
        permille_of(share_percent)
    except InputWrong as error:
        raise ValueError(str(error)) from error
    return share_percent


class OrderedStep(BaseModel):
    """
    The net that is meant, and who wants it and why.

    `model` are the first digits of a digest, for `canary`; `share_percent` 0 begins in shadow. `force` promotes one
    that has not passed every gate.
    """

    model_config = ConfigDict(extra="forbid")
    net: str = Field(max_length=40)
    model: str = Field(default="", max_length=64)
    share_percent: Annotated[float, AfterValidator(_kept_share)] = Field(default=0.0, ge=0, lt=100)
    force: bool = False
    by: str = Field(default="dashboard", min_length=1, max_length=100)
    why: str = Field(default="", max_length=1000)


@dataclass(frozen=True, slots=True)
class NetAnswer:
    """
    Who answers for a net.

    `answering` is the champion that is warm in this process, which lags behind `aliases` while a model is being opened;
    `evidence` is what has been measured of the challenger in its phase.
    """

    net: str
    aliases: Aliases
    answering: str
    challenger: str | None
    breaker: str
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelsAnswer:
    """
    Every net in use, and the latest events of the history, the newest first; none without a model store.

    `history_damage` says in a sentence each where the history was torn or changed; the events are those still readable.
    """

    now: datetime
    has_store: bool
    nets: list[NetAnswer]
    events: list[dict[str, Any]]
    history_damage: list[str]


@router.get("/models", responses={200: {"model": ModelsAnswer}, **documented(ERROR_TO_PROBLEM[ModelWrong])})
@needs("model.read")
def get_models(living: AskLiving) -> JsonAnswer:
    """Who answers for each net that this city uses, how a release stands, and what happened before."""
    desks = living.live.releases
    store = next((desk.slot.store for desk in desks.values()), None)
    trail = ReleaseTrail([], []) if store is None else trail_of(store.folder)
    events = trail.events[-SHOWN_EVENTS:][::-1]
    nets = [_net_answer(net, desk) for net, desk in desks.items()]
    return JsonAnswer(ModelsAnswer(living.live.clock.now(), store is not None, nets, events, trail.damage))


@router.post(
    "/models/{step}",
    responses={
        200: {"model": NetAnswer},
        **documented(
            ERROR_TO_PROBLEM[ReleaseRefused],
            ERROR_TO_PROBLEM[ModelNotFound],
            ERROR_TO_PROBLEM[ModelWrong],
            ERROR_TO_PROBLEM[EngineFailed],
            ERROR_TO_PROBLEM[EnvironmentUnfit],
            MALFORMED_REQUEST,
            FOREIGN_ORIGIN,
        ),
    },
)
@needs("model.{step}")
async def post_step(step: ReleaseStep, ordered: OrderedStep, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Take a step of a release; the next cycle follows it."""
    # Whoever has signed in answers for it by their own name, whatever the body says.
    ordered = ordered if caller is LOCAL_CALLER else ordered.model_copy(update={"by": caller.name})
    return JsonAnswer(await run_in_threadpool(_taken, living, step, ordered))


def _taken(living: Living, step: ReleaseStep, ordered: OrderedStep) -> NetAnswer:
    desk, store = _desk(living, ordered.net)
    opens = desk.slot.require_opens
    order = ReleaseOrder(ordered.net, ordered.by, ordered.why, datetime.now(UTC), living.live.clock.now())
    if step is ReleaseStep.CANARY:
        let_in(store, order, store.find(ordered.model), permille_of(ordered.share_percent), opens)
    elif step is ReleaseStep.PROMOTE:
        promote_challenger(store, order, opens, force=ordered.force)
    else:
        take_back(store, order, opens)
    living.live.feed.publish("release_step", {"net": ordered.net, "step": step})
    return _net_answer(ordered.net, desk)


def _desk(living: Living, net: str) -> tuple[ReleaseDesk[Any], ModelStore]:
    desk = living.live.releases.get(net)
    if desk is None:
        used = ", ".join(living.live.releases) or "none"
        raise ModelNotFound(f"net: must be one that this city uses ({used}), got {net!r}")
    if desk.slot.store is None:
        raise ModelNotFound("models.folder: is not set, so there is no other model")
    return desk, desk.slot.store


def _net_answer(net: str, desk: ReleaseDesk[Any]) -> NetAnswer:
    slot = desk.slot
    standing = slot.standing
    return NetAnswer(
        net=net,
        aliases=standing.aliases if slot.store is None else slot.store.aliases(net),
        answering=standing.champion.label,
        challenger=None if standing.challenger is None else standing.challenger.label,
        breaker=standing.champion.engine.breaker.view().state,
        evidence=desk.evidence(),
    )
