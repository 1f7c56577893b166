"""How long an order is in force: the time in which a site must have carried it out."""

from __future__ import annotations

from datetime import datetime, timedelta

from doseflow.domain.decisions import Decision, DecisionKind, DoseTransfer, StaffMove

KIND_TO_DUE_MINUTES: dict[DecisionKind, float] = {
    DecisionKind.STAFF_MOVE: 15.0,
    DecisionKind.STATION_CHANGE: 10.0,
    DecisionKind.DOSE_TRANSFER: 30.0,
    DecisionKind.FRIDGE_MOVE: 10.0,
    DecisionKind.PRE_COOL: 10.0,
    DecisionKind.MARK_UNUSABLE: 10.0,
    DecisionKind.SET_POINT: 10.0,
    DecisionKind.RELEASE_SLOTS: 10.0,
    DecisionKind.HOLD_SLOTS: 10.0,
    DecisionKind.TELL_ARRIVAL_TIME: 10.0,
    DecisionKind.SEND_WALK_INS: 30.0,
}
"""Minutes to answer and act, assumed; walk-ins are sent during the half hour that their decision speaks of."""


def due_at(decision: Decision, as_of: datetime) -> datetime:
    """The moment past which an order is no longer in force; whoever travels has the time of the way on top."""
    minutes = KIND_TO_DUE_MINUTES[decision.kind]
    if isinstance(decision, StaffMove | DoseTransfer):
        minutes += decision.travel_minutes
    return as_of + timedelta(minutes=minutes)
