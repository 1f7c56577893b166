"""What sending walk-ins on is worth, in two ways of saying it: by the waits to expect, or by prices of arrivals."""

from __future__ import annotations

from typing import Protocol

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import Why
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.report import BOOKING_BINS
from doseflow.policy.outlook import WaitOutlook
from doseflow.units import PERIOD_MINUTES

BIN_PERIODS = HORIZON_PERIODS // BOOKING_BINS
BIN_MINUTES = BIN_PERIODS * PERIOD_MINUTES
WALK_IN_PERIODS = 2 * BIN_PERIODS
"""Walk-ins of the next half hour may be sent on."""


class WalkInWorth(Protocol):
    """Who is crowded, and what one walk-in gains elsewhere."""

    crowding_minutes: FloatArray
    """How crowded each site is, (S,), NaN where unknown."""
    crowded_above_minutes: float
    """From where on walk-ins are sent away."""
    least_gain_minutes: float
    """What a walk-in must gain."""

    def gain_minutes(self, from_idx: int, to_idx: int, travel_minutes: float) -> float:
        """Minutes gained by one walk-in who goes, the way taken off; NaN unknown."""

    def why(self, from_idx: int) -> Why:
        """Why a site sends walk-ins away."""


class ExpectedWaits:
    """By the wait that a walk-in has to expect here and there: what they gain themselves."""

    def __init__(self, outlook: WaitOutlook, crowded_above_minutes: float, least_gain_minutes: float) -> None:
        self.crowding_minutes: FloatArray = outlook.wait_minutes[:, :WALK_IN_PERIODS].mean(axis=1)
        self.crowded_above_minutes, self.least_gain_minutes = crowded_above_minutes, least_gain_minutes

    def gain_minutes(self, from_idx: int, to_idx: int, travel_minutes: float) -> float:
        """See `WalkInWorth`."""
        return float(self.crowding_minutes[from_idx] - self.crowding_minutes[to_idx] - travel_minutes)

    def why(self, from_idx: int) -> Why:
        """See `WalkInWorth`."""
        return Why("queue_ahead", {"wait_minutes": round(float(self.crowding_minutes[from_idx]), 1)})
