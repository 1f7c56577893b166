"""
Walk-ins by price: what one arrival more costs everybody at a site, in minutes of waiting.

A price is the whole cost to others, not only what the newcomer waits. Who is sent to where it is low helps those who
stay (W. Vickrey, Congestion theory and transport investment, American Economic Review 59(2), 1969; no DOI).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import Why
from doseflow.policy.walk_in_worth import BIN_MINUTES


@dataclass(frozen=True, slots=True)
class PriceParams:
    """When walk-ins are sent on; chosen on training families."""

    crowded_above_minutes: float = 20.0
    """Price of an arrival in the next half hour above which walk-ins are sent away."""
    least_gain_minutes: float = 15.0
    """Minutes that the price must fall by, the way taken off."""

    def __post_init__(self) -> None:
        for name in ("crowded_above_minutes", "least_gain_minutes"):
            if not 0 <= getattr(self, name) <= 1000:
                raise ValueError(f"{name}: must lie in 0..1000, got {getattr(self, name)}")


class ArrivalPrices:
    """
    The prices of a cycle.

    Parameters
    ----------
    price_minutes
        What one arrival more costs everybody, by site and coming quarter hour, (S, 8).
    """

    def __init__(self, price_minutes: FloatArray, params: PriceParams) -> None:
        later = np.concatenate([price_minutes[:, 1:], price_minutes[:, -1:]], axis=1)
        half_hours = (price_minutes + later) / 2
        self._half_hours: list[list[float]] = half_hours.tolist()
        self.crowding_minutes: FloatArray = half_hours[:, 0]
        self.crowded_above_minutes = params.crowded_above_minutes
        self.least_gain_minutes = params.least_gain_minutes

    def gain_minutes(self, from_idx: int, to_idx: int, travel_minutes: float) -> float:
        """See `WalkInWorth`; the price there is that of the half hour in which they arrive."""
        there = self._half_hours[to_idx]
        arriving = min(int(travel_minutes // BIN_MINUTES), len(there) - 1)
        return self._half_hours[from_idx][0] - there[arriving] - travel_minutes

    def why(self, from_idx: int) -> Why:
        """See `WalkInWorth`."""
        return Why("arrivals_dear", {"price_minutes": round(float(self.crowding_minutes[from_idx]), 1)})
