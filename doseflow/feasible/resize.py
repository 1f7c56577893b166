"""The same decision with another quantity."""

from __future__ import annotations

from dataclasses import replace

from doseflow.domain.decisions import (
    Decision,
    DoseTransfer,
    FridgeMove,
    MarkUnusable,
    PreCool,
    SetPoint,
    StationChange,
)


def resized(decision: Decision, quantity: int) -> Decision:
    """A decision that asks for `quantity` in its own unit; a setting has none and stays as it is."""
    if decision.quantity == quantity or isinstance(decision, SetPoint | PreCool):
        return decision
    if isinstance(decision, StationChange):
        return replace(decision, open_stations=quantity)
    if isinstance(decision, DoseTransfer | FridgeMove | MarkUnusable):
        return replace(decision, doses=quantity)
    return replace(decision, people=quantity)
