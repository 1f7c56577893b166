"""Vans: which stand idle where, and the one trip that each is given in a cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.decisions import DoseTransfer
from doseflow.domain.state import CityState
from doseflow.policy.standing_orders import StandingOrders
from doseflow.units import epoch_minutes_from_datetime

_LEAST_LITRES = 1e-6


@dataclass(slots=True)
class _Trip:
    from_idx: int
    to_idx: int
    litres_left: float


class VanTrips:
    """
    Vans that stand free at a site, by position in the city's table.

    Invariant: everything on a van goes from one site to one other, and fits.
    """

    def __init__(self, state: CityState, orders: StandingOrders) -> None:
        self._city = state.city
        self._trips: dict[int, _Trip] = {}
        self._standing: dict[int, list[int]] = {}
        vans, as_of = state.vans, epoch_minutes_from_datetime(state.as_of)
        taken = {transfer.van_id for transfer in orders.bound_of(DoseTransfer)}
        for van_idx in np.flatnonzero((vans.site_idx >= 0) & (vans.free_epoch_minutes <= as_of)).tolist():
            if self._city.vans[van_idx].van_id not in taken:
                self._standing.setdefault(int(vans.site_idx[van_idx]), []).append(van_idx)
        self._idle_sites = set(self._standing)

    def stands_idle_at(self, site_idx: int) -> bool:
        """Whether a van without a trip stands at a site."""
        return site_idx in self._idle_sites

    def van_for(self, from_idx: int, to_idx: int) -> int | None:
        """A van that goes there already and has room, else one that stands idle, else None."""
        idle = None
        for van_idx in self._standing.get(from_idx, ()):
            trip = self._trips.get(van_idx)
            if trip is None:
                idle = van_idx if idle is None else idle
            elif trip.to_idx == to_idx and trip.litres_left > _LEAST_LITRES:
                return van_idx
        return idle

    def litres_left(self, van_idx: int) -> float:
        """Cold volume left on a van."""
        trip = self._trips.get(van_idx)
        return self._city.vans[van_idx].capacity_litres if trip is None else trip.litres_left

    def can_go(self, van_idx: int, from_idx: int, to_idx: int) -> bool:
        """Whether a van stands there and is bound nowhere else."""
        if van_idx not in self._standing.get(from_idx, ()):
            return False
        trip = self._trips.get(van_idx)
        return trip is None or (trip.from_idx, trip.to_idx) == (from_idx, to_idx)

    def load(self, van_idx: int, from_idx: int, to_idx: int, litres: float) -> None:
        """Put a volume on a van for a trip."""
        self._trips[van_idx] = _Trip(from_idx, to_idx, self.litres_left(van_idx) - litres)
        if all(standing in self._trips for standing in self._standing.get(from_idx, ())):
            self._idle_sites.discard(from_idx)
