"""One cycle as it is kept: what went in, what came out, how long each stage took."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.orders import Order
from doseflow.domain.plan import Infeasible, Plan, Proposal
from doseflow.domain.state import CityState


@dataclass(frozen=True)
class Cycle:
    """
    What one run of the flow took and gave.

    `new_orders` and `withdrawn_order_ids` are the difference between the plan and what was standing;
    `infeasible` is set where no plan was allowed, and then the plan holds everything as it is. `models` names, by net,
    the models that stood and whom the challenger's share fell on: what a replay needs to ask the same.
    """

    cycle_id: str
    started_at: datetime
    state: CityState
    forecast: ArrivalForecast
    proposal: Proposal
    plan: Plan
    infeasible: Infeasible | None
    new_orders: tuple[Order, ...]
    withdrawn_order_ids: tuple[str, ...]
    stage_milliseconds: dict[str, float] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
