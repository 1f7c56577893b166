"""Small orders and plans, for the tests of dispatch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doseflow.domain.decisions import Decision, StationChange, Why, acting_site_id, expecting_site_id
from doseflow.domain.orders import Order, OrderState
from doseflow.domain.plan import Plan, PlannedDecision, RepairPath
from doseflow.domain.roles import Stage

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WHY = Why("queue_shed", {"wait_minutes": 17.0})

MakeDecision = Callable[..., StationChange]
MakePlan = Callable[..., Plan]
MakeOrder = Callable[..., Order]


@pytest.fixture
def station() -> MakeDecision:
    def make(open_stations: int = 3, site_id: str = "a") -> StationChange:
        return StationChange(site_id, Stage.VACCINATION, 1, open_stations, WHY)

    return make


@pytest.fixture
def make_plan() -> MakePlan:
    def make(*decisions: Decision, **changes: object) -> Plan:
        planned = tuple(PlannedDecision(one, f"because {one.kind}", "因为", 1.0) for one in decisions)
        return replace(Plan("rules", START, planned, RepairPath.UNTOUCHED, 0.0), **changes)

    return make


@pytest.fixture
def make_order() -> MakeOrder:
    def make(decision: Decision, state: str = "sent", order_id: str = "old") -> Order:
        return Order(
            order_id=order_id,
            cycle_id="c0",
            site_id=acting_site_id(decision),
            expecting_site_id=expecting_site_id(decision),
            decision=decision,
            reason_en="",
            reason_zh="",
            state=OrderState(state),
            created_at=START,
            due_at=START + timedelta(minutes=10),
        )

    return make
