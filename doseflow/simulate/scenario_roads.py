"""What a day does to the roads: everything on them takes longer, and some vans are not to be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.simulate.day_plan import NEVER
from doseflow.simulate.world import Vans


def slow_roads(city: City, travel_factor: float) -> City:
    """The city with the travel times of the day; what is told to planners is the city's own table."""
    if travel_factor == 1:
        return city
    minutes: FloatArray = city.neighbour_travel_minutes * travel_factor
    return replace(city, neighbour_travel_minutes=minutes)


def on_slow_roads(orders: Sequence[dict[str, Any]], travel_factor: float) -> list[dict[str, Any]]:
    """Orders as they turn out: their way takes longer than was planned."""
    if travel_factor == 1:
        return list(orders)
    return [_slower(order, travel_factor) for order in orders]


def without_missing(vans: Vans, is_missing: np.ndarray) -> Vans:
    """The vans with the missing ones away all day: they stand nowhere and never arrive."""
    return replace(
        vans,
        site_idx=np.where(is_missing, -1, vans.site_idx),
        busy_until=np.where(is_missing, NEVER, vans.busy_until),
    )


def _slower(order: dict[str, Any], travel_factor: float) -> dict[str, Any]:
    decision = order["decision"]
    minutes = decision.get("travel_minutes") if isinstance(decision, dict) else None
    if minutes is None:
        return order
    return {**order, "decision": {**decision, "travel_minutes": minutes * travel_factor}}
