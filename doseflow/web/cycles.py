"""GET /api/v1/cycles and /api/v1/cycles/latest; POST /api/v1/cycles runs one now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from doseflow.web.actions import needs
from doseflow.web.cycle_view import CycleAnswer, CyclesAnswer, cycle_answer, kept_cycle_answer
from doseflow.web.error_responses import FOREIGN_ORIGIN, NO_CYCLE_YET, STORE_UNAVAILABLE, Problem, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving, Living

router = APIRouter(prefix="/api/v1", tags=["cycles"])


@router.get("/cycles/latest", responses={200: {"model": CycleAnswer}, **documented(NO_CYCLE_YET, STORE_UNAVAILABLE)})
@needs("cycle.read")
def get_latest_cycle(living: AskLiving) -> JsonAnswer:
    """The latest cycle; after a restart the latest one that was kept."""
    latest = _latest_or_none(living)
    if latest is None:
        raise Problem(NO_CYCLE_YET, "no cycle has run yet; the first one runs at the next five-minute mark")
    return JsonAnswer(latest)


@router.get("/cycles", responses={200: {"model": CyclesAnswer}, **documented(STORE_UNAVAILABLE)})
@needs("cycle.read")
def get_cycles(living: AskLiving, limit: Annotated[int, Query(ge=1, le=120)] = 60) -> JsonAnswer:
    """The latest cycles since the process began, the newest first."""
    return JsonAnswer(CyclesAnswer(living.live.clock.now(), _latest_or_none(living), living.watch.recent[:limit]))


@router.post(
    "/cycles", status_code=201, responses={201: {"model": CycleAnswer}, **documented(FOREIGN_ORIGIN, STORE_UNAVAILABLE)}
)
@needs("cycle.run")
def post_cycle(living: AskLiving) -> JsonAnswer:
    """Run a cycle now, besides those of the clock: for operators, and for a city whose clock is driven from outside."""
    return JsonAnswer(cycle_answer(living.live.run_cycle()), status_code=201)


def _latest_or_none(living: Living) -> CycleAnswer | None:
    if living.live.latest is not None:
        return cycle_answer(living.live.latest)
    kept = living.live.plans.latest_cycle()
    return None if kept is None else kept_cycle_answer(kept)
