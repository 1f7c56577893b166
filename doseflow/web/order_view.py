"""An order as JSON: the decision with its kind, fields and reason, exactly as the site is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from doseflow.domain.decisions import KIND_TO_FAMILY, Decision
from doseflow.domain.orders import Order
from doseflow.web.json_answer import json_bytes


@dataclass(frozen=True, slots=True)
class OrderRow:
    """An order with the kind and the family of its decision."""

    order_id: str
    cycle_id: str
    site_id: str
    expecting_site_id: str | None
    kind: str
    family: str
    decision: Decision
    reason_en: str
    reason_zh: str
    state: str
    created_at: datetime
    due_at: datetime
    refusal_reason: str
    approval: str
    decide_by: datetime | None
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class OrdersAnswer:
    """Orders, the newest first, at the city's own moment `now`."""

    now: datetime
    orders: list[OrderRow]


def order_row(order: Order) -> OrderRow:
    """An order as a row."""
    kind = order.decision.kind
    return OrderRow(
        order_id=order.order_id,
        cycle_id=order.cycle_id,
        site_id=order.site_id,
        expecting_site_id=order.expecting_site_id,
        kind=kind,
        family=KIND_TO_FAMILY[kind],
        decision=order.decision,
        reason_en=order.reason_en,
        reason_zh=order.reason_zh,
        state=order.state,
        created_at=order.created_at,
        due_at=order.due_at,
        refusal_reason=order.refusal_reason,
        approval=order.approval,
        decide_by=order.decide_by,
        is_waiting=order.is_waiting,
    )


def order_as_json(order: Order) -> dict[str, Any]:
    """An order as plain JSON values."""
    value: dict[str, Any] = orjson.loads(json_bytes(order_row(order)))
    return value
