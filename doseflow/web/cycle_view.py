"""A cycle as the screens see it: who planned, what came out, how long each stage took."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from doseflow.domain.cycle import Cycle
from doseflow.domain.plan import Infeasible


@dataclass(frozen=True, slots=True)
class CycleAnswer:
    """
    One cycle.

    `orders` counts the orders that the cycle made; `plan_id` names its plan; `infeasible` is set where no plan was
    allowed; `total_milliseconds` is the sum of the stages. `made_by` says who made the plan, with which model and why,
    `forecast_made_by` which models forecast; null after a restart, where only the plan itself tells it.
    """

    cycle_id: str
    plan_id: str
    started_at: datetime
    completed_at: datetime
    planner: str
    why_this_planner: str
    made_by: str | None
    forecaster: str
    forecast_made_by: str | None
    repair_path: str
    repair_distance: float | None
    infeasible: Infeasible | None
    sites: int
    decisions: int | None
    dropped: int | None
    soft_violations: int | None
    orders: int
    withdrawn_orders: int
    stage_milliseconds: dict[str, float]
    total_milliseconds: float


@dataclass(frozen=True, slots=True)
class CyclesAnswer:
    """
    The latest cycles since the process began, the newest first, at the city's own moment `now`.

    `latest` is the latest cycle of all, of an earlier process too; null before the very first.
    """

    now: datetime
    latest: CycleAnswer | None
    cycles: list[CycleAnswer]


def cycle_answer(cycle: Cycle) -> CycleAnswer:
    """A cycle as an answer."""
    stages = {name: round(milliseconds, 3) for name, milliseconds in cycle.stage_milliseconds.items()}
    total = sum(cycle.stage_milliseconds.values())
    return CycleAnswer(
        cycle_id=cycle.cycle_id,
        plan_id=cycle.cycle_id,
        started_at=cycle.started_at,
        completed_at=cycle.started_at + timedelta(milliseconds=total),
        planner=cycle.plan.planner,
        why_this_planner=cycle.plan.why_this_planner,
        made_by=cycle.plan.made_by,
        forecaster=cycle.forecast.forecaster,
        forecast_made_by=cycle.forecast.made_by,
        repair_path=cycle.plan.repair_path,
        repair_distance=cycle.plan.distance,
        infeasible=cycle.infeasible,
        sites=cycle.state.city.num_sites,
        decisions=len(cycle.plan.decisions),
        dropped=len(cycle.plan.dropped),
        soft_violations=len(cycle.plan.soft_violations),
        orders=len(cycle.new_orders),
        withdrawn_orders=len(cycle.withdrawn_order_ids),
        stage_milliseconds=stages,
        total_milliseconds=round(total, 3),
    )


def kept_cycle_answer(record: dict[str, Any]) -> CycleAnswer:
    """A cycle of an earlier process from its kept record; what the record does not tell is null."""
    stages: dict[str, float] = record["stage_milliseconds"]
    return CycleAnswer(
        cycle_id=record["cycle_id"],
        plan_id=record["cycle_id"],
        started_at=datetime.fromisoformat(record["started_at"]),
        completed_at=datetime.fromisoformat(record["completed_at"]),
        planner=record["planner"],
        why_this_planner=record["why_this_planner"],
        made_by=None,
        forecaster=record["forecaster"],
        forecast_made_by=None,
        repair_path=record["repair_path"],
        repair_distance=None,
        infeasible=None if record["infeasible"] is None else Infeasible(**record["infeasible"]),
        sites=record["sites"],
        decisions=None,
        dropped=None,
        soft_violations=None,
        orders=record["orders"],
        withdrawn_orders=record["withdrawn"],
        stage_milliseconds=stages,
        total_milliseconds=round(sum(stages.values()), 3),
    )
