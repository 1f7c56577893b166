from __future__ import annotations

from datetime import UTC, datetime, timedelta

from doseflow.dispatch.due_times import KIND_TO_DUE_MINUTES, due_at
from doseflow.domain.decisions import DecisionKind, DoseTransfer, SendWalkIns, SetPoint, StaffMove, Why
from doseflow.domain.roles import Role

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WHY = Why("x")


def minutes_of(decision: object) -> float:
    return (due_at(decision, NOW) - NOW) / timedelta(minutes=1)


def test_every_kind_has_its_time() -> None:
    assert set(KIND_TO_DUE_MINUTES) == set(DecisionKind)
    assert min(KIND_TO_DUE_MINUTES.values()) >= 5


def test_whoever_travels_has_the_time_of_the_way_on_top() -> None:
    assert minutes_of(StaffMove("a", "b", Role.SCREENER, Role.SCREENER, NOW, 1, 40.0, WHY)) == 55
    assert minutes_of(DoseTransfer("a", "b", "p", "L", "f", "f", "v", 6, 25.0, WHY)) == 55
    assert minutes_of(SetPoint("a", "f", 4.0, WHY)) == 10


def test_walk_ins_are_sent_for_the_half_hour_their_decision_speaks_of() -> None:
    assert minutes_of(SendWalkIns("a", "b", 5, 25.0, WHY)) == 30
