"""GET /healthz (the process answers) and GET /readyz (it can do its work, and if not, why)."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from fastapi import APIRouter

from doseflow.errors import StoreUnavailable
from doseflow.web.error_responses import STORE_UNAVAILABLE, documented, problem_document
from doseflow.web.json_answer import JsonAnswer, ProblemAnswer
from doseflow.web.living import AskLiving, Living

LATE_AFTER_MINUTES = 15.0
log = structlog.get_logger(__name__)
router = APIRouter(tags=["health"])


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """`ok`, always: who cannot answer does not."""

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


@router.get("/healthz", responses={200: {"model": HealthAnswer}, **documented()})
def healthz() -> JsonAnswer:
    """Whether the process answers."""
    return JsonAnswer(HealthAnswer("ok"))


@router.get("/readyz", responses={200: {"model": ReadinessAnswer}, **documented(STORE_UNAVAILABLE)})
def readyz(living: AskLiving) -> JsonAnswer:
    """
    Whether reports can be taken: the store answers. The doors open only after every net has given its golden answers
    and is warm.

    A first cycle that has not run, or a late one, is told and does not make the service unready: without reports there
    would never be a cycle. The same holds for an engine that is being started anew: others answer meanwhile.
    """
    store, rests = _check_store(living), living.live.why_engines_rest()
    checks = [store, _check_cycle(living), Check("engines", not rests, rests)]
    if store.ok:
        return JsonAnswer(ReadinessAnswer(True, checks))
    problem = problem_document(STORE_UNAVAILABLE, store.reason, ready=False, checks=checks)
    return ProblemAnswer(problem, status_code=STORE_UNAVAILABLE.status)


def _check_store(living: Living) -> Check:
    try:
        living.live.plans.latest_cycle()
    except StoreUnavailable as error:
        log.warning("store_unavailable", reason=str(error))
        return Check("store", False, str(error))
    return Check("store", True, "")


def _check_cycle(living: Living) -> Check:
    latest = living.live.latest
    if latest is None:
        return Check("cycle", False, "no cycle has run since the start")
    age_minutes = (living.live.clock.now() - latest.started_at).total_seconds() / 60
    if age_minutes > LATE_AFTER_MINUTES:
        return Check("cycle", False, f"the latest cycle ran {age_minutes:.0f} minutes ago")
    return Check("cycle", True, "")
