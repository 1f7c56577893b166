"""A plan as JSON: what the HTTP API gives, the screen shows, and the store keeps word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import KIND_TO_FAMILY
from doseflow.domain.orders import Order
from doseflow.domain.plan import PlannedDecision
from doseflow.store.decision_codec import KIND_TO_FIELDS, DecisionIdentity, identity
from doseflow.store.json_bytes import json_bytes


def plan_as_json(cycle: Cycle) -> dict[str, Any]:
    """The plan of a cycle as plain JSON values; decisions that make a new order carry its `order_id`."""
    plan: dict[str, Any] = orjson.loads(plan_bytes(cycle, order_ids_of(cycle.new_orders)))
    return plan


def order_ids_of(orders: Sequence[Order]) -> dict[DecisionIdentity, str]:
    """The id of the order for each decision."""
    return {identity(order.decision): order.order_id for order in orders}


def plan_bytes(cycle: Cycle, order_ids: Mapping[DecisionIdentity, str]) -> bytes:
    """The same as bytes; decisions that `order_ids` knows carry their `order_id`, others have it null."""
    plan = cycle.plan
    return json_bytes(
        {
            "plan_id": cycle.cycle_id,
            "cycle_id": cycle.cycle_id,
            "planner": plan.planner,
            "why_this_planner": plan.why_this_planner,
            "made_by": plan.made_by,
            "forecaster": cycle.forecast.forecaster,
            "forecast_made_by": cycle.forecast.made_by,
            "models": cycle.models,
            "as_of": plan.as_of,
            "repair_path": plan.repair_path,
            "distance": plan.distance,
            "decisions": [
                _planned(planned) | {"order_id": order_ids.get(identity(planned.decision))}
                for planned in plan.decisions
            ],
            "dropped": [_planned(planned) for planned in plan.dropped],
            "soft_violations": plan.soft_violations,
            "infeasible": cycle.infeasible,
        }
    )


def _planned(planned: PlannedDecision) -> dict[str, Any]:
    decision = planned.decision
    return {
        "kind": decision.kind,
        "family": KIND_TO_FAMILY[decision.kind],
        **{name: getattr(decision, name) for name in KIND_TO_FIELDS[decision.kind]},
        "reason_en": planned.reason_en,
        "reason_zh": planned.reason_zh,
        "proposed_quantity": planned.proposed_quantity,
    }
