"""GET /api/v1/plans/{plan_id}: a plan as kept. A plan's id is its cycle's id."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from doseflow.errors import PlanNotFound
from doseflow.web.actions import needs
from doseflow.web.error_responses import ERROR_TO_PROBLEM, STORE_UNAVAILABLE, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

router = APIRouter(prefix="/api/v1", tags=["plans"])


@router.get(
    "/plans/{plan_id}",
    responses={200: {"model": dict[str, Any]}, **documented(ERROR_TO_PROBLEM[PlanNotFound], STORE_UNAVAILABLE)},
)
@needs("plan.read")
def get_plan(plan_id: str, living: AskLiving) -> JsonAnswer:
    """A plan: its decisions with their reasons, what was dropped and why, and the soft rules that it bends."""
    return JsonAnswer(living.live.plans.plan(plan_id))
