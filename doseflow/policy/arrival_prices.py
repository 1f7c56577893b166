"""
Walk-ins by price: what one arrival more costs everybody at a site, in minutes of waiting.

A price is the whole cost to others, not only what the newcomer waits. Who is sent to where it is low helps those who
stay (W. Vickrey, Congestion theory and transport investment, American Economic Review 59(2), 1969; no DOI).
"""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import Why
from doseflow.policy.walk_in_worth import WALK_IN_PERIODS
from doseflow.units import PERIOD_MINUTES


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
        self._prices = price_minutes
        self._bin_minutes = WALK_IN_PERIODS * PERIOD_MINUTES / _BINS
        self.crowding_minutes: FloatArray = price_minutes[:, :_BINS].mean(axis=1)
        self.crowded_above_minutes = params.crowded_above_minutes
        self.least_gain_minutes = params.least_gain_minutes

    def gain_minutes(self, from_idx: int, to_idx: int, travel_minutes: float) -> float:
        """See `WalkInWorth`; the price there is that of the half hour in which they arrive."""
        return float(self.crowding_minutes[from_idx] - self._there(to_idx, travel_minutes) - travel_minutes)

    def why(self, from_idx: int) -> Why:
        """See `WalkInWorth`."""
        return Why("arrivals_dear", {"price_minutes": round(float(self.crowding_minutes[from_idx]), 1)})

    def _there(self, to_idx: int, travel_minutes: float) -> float:
        first = min(int(travel_minutes // self._bin_minutes), self._prices.shape[1] - 1)
        return float(self._prices[to_idx, first : first + _BINS].mean())


_BINS = 2
"""Quarter hours of the half hour over which prices are averaged."""
