"""GET /healthz (the process does its work) and GET /readyz (it can take reports, and if not, why)."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from fastapi import APIRouter

from doseflow.errors import StoreUnavailable
from doseflow.live.live_city import LiveCity
from doseflow.web.actions import open_to_all
from doseflow.web.error_responses import CYCLES_STUCK, STORE_UNAVAILABLE, documented, problem_document
from doseflow.web.json_answer import JsonAnswer, ProblemAnswer
from doseflow.web.living import AskLiving, Living

log = structlog.get_logger(__name__)
router = APIRouter(tags=["health"])


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """`ok`, where cycles run."""

    status: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; one that is not `ok` says why."""

    name: str
    ok: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ReadinessAnswer:
    """Whether reports can be taken, and everything that was looked at."""

    ready: bool
    checks: list[Check]


@router.get("/healthz", responses={200: {"model": HealthAnswer}, **documented(CYCLES_STUCK)})
@open_to_all
def healthz(living: AskLiving) -> JsonAnswer:
    """
    Whether the process does its work: it answers, and cycles run.

    Where none has run for three periods something hangs, and starting anew is what helps: nothing accepted is lost.
    """
    age_minutes = cycle_age_minutes(living.live)
    if age_minutes > living.params.late_after_minutes:
        detail = f"no cycle has completed for {age_minutes:.0f} minutes"
        return ProblemAnswer(problem_document(CYCLES_STUCK, detail), status_code=CYCLES_STUCK.status)
    return JsonAnswer(HealthAnswer("ok"))


@router.get("/readyz", responses={200: {"model": ReadinessAnswer}, **documented(STORE_UNAVAILABLE)})
@open_to_all
def readyz(living: AskLiving) -> JsonAnswer:
    """
    Whether reports can be taken: the store can be written. The doors open only after every net has given its golden
    answers and is warm.

    A first cycle that has not run, a late one, one that a fallback answered, or an engine that is being started anew is
    told and does not make the service unready: a report is safe with it, and the next cycle takes it.
    """
    store, rests = _check_store(living), living.live.why_engines_rest()
    checks = [store, _check_cycle(living), Check("engines", not rests, rests), *_check_models(living)]
    if store.ok:
        return JsonAnswer(ReadinessAnswer(True, checks))
    problem = problem_document(STORE_UNAVAILABLE, store.reason, ready=False, checks=checks)
    return ProblemAnswer(problem, status_code=STORE_UNAVAILABLE.status)


def cycle_age_minutes(live: LiveCity) -> float:
    """Minutes since the latest cycle, or since the start where none has run, by the city's clock."""
    since = live.began_at if live.latest is None else live.latest.started_at
    return (live.clock.now() - since).total_seconds() / 60


def _check_store(living: Living) -> Check:
    try:
        living.live.plans.check_writable()
    except StoreUnavailable as error:
        log.warning("store_unavailable", reason=str(error))
        return Check("store", False, str(error))
    return Check("store", True, "")


def _check_cycle(living: Living) -> Check:
    if living.live.latest is None:
        return Check("cycle", False, "no cycle has run since the start")
    age_minutes = cycle_age_minutes(living.live)
    if age_minutes > living.params.late_after_minutes:
        return Check("cycle", False, f"the latest cycle ran {age_minutes:.0f} minutes ago")
    return Check("cycle", True, "")


def _check_models(living: Living) -> list[Check]:
    """Whether the chosen forecaster and planner have answered, which only an engine that is loaded can."""
    latest = living.live.latest
    if latest is None:
        return []
    whys = {"forecaster": latest.forecast.why_this_forecaster, "planner": latest.plan.why_this_planner}
    return [Check(name, not why, why) for name, why in whys.items()]
