"""Orders as the API lists them, for the simulator's tests: one of each kind that can be done in a given world."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from doseflow.domain.city import City
from doseflow.domain.decisions import (
    Decision,
    DoseTransfer,
    FridgeMove,
    HoldSlots,
    MarkUnusable,
    PreCool,
    ReleaseSlots,
    SendWalkIns,
    SetPoint,
    StaffMove,
    StationChange,
    TellArrivalTime,
    Why,
)
from doseflow.domain.roles import Role, Stage
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import World
from doseflow.units import datetime_from_epoch_minutes

WHY = Why("test")


def order_of(decision: Decision, order_id: str = "order-1") -> dict[str, Any]:
    """An order as `GET /api/v1/orders` gives it."""
    plain = asdict(decision)
    for name, value in plain.items():
        if hasattr(value, "isoformat"):
            plain[name] = value.isoformat()
    return {"order_id": order_id, "kind": str(decision.kind), "decision": plain, "state": "sent"}


def feasible_decisions(world: World, city: City, params: StepParams) -> dict[str, Decision]:
    """A decision of each kind that the world allows, by kind."""
    site_id = [site.site_id for site in city.sites]
    vaccinators = world.staff_people[:, 2, 2, :, 0]
    giver, shift = np.unravel_index(np.argmax(vaccinators), vaccinators.shape)
    to = int(city.neighbour_idx[giver, 0])
    van_idx = 0
    van_at = int(world.vans.site_idx[van_idx])
    lot_place = int(np.argmax(world.lots.unopened_doses[van_at]))
    lot = world.lot_numbers[world.lots.code[van_at, lot_place]]
    product_idx = int(world.lots.product_idx[van_at, lot_place])
    product_id = city.products[product_idx].product_id
    from_fridge = city.sites[van_at].fridges[world.lots.fridge_slot[van_at, lot_place]].fridge_id
    other_fridge = next(f.fridge_id for f in city.sites[van_at].fridges if f.fridge_id != from_fridge)
    vial = int(params.doses_per_vial[product_idx])
    van_to = int(city.neighbour_idx[van_at, 0])
    free_at = int(np.argmax(_free_ahead(world)))
    decisions = (
        StaffMove(
            site_id[giver],
            site_id[to],
            Role.VACCINATOR,
            Role.VACCINATOR,
            datetime_from_epoch_minutes(world.day.shift_ends[shift]),
            1,
            float(city.neighbour_travel_minutes[giver, 0]),
            WHY,
        ),
        StationChange(site_id[giver], Stage.VACCINATION, 1, 1, WHY),
        DoseTransfer(
            site_id[van_at],
            site_id[van_to],
            product_id,
            lot,
            from_fridge,
            city.sites[van_to].fridges[0].fridge_id,
            city.vans[van_idx].van_id,
            vial,
            float(city.neighbour_travel_minutes[van_at, 0]),
            WHY,
        ),
        FridgeMove(site_id[van_at], product_id, lot, from_fridge, other_fridge, vial, WHY),
        PreCool(site_id[van_at], other_fridge, 3.0, WHY),
        MarkUnusable(site_id[van_at], from_fridge, product_id, lot, vial, WHY),
        SetPoint(site_id[van_at], other_fridge, 4.0, WHY),
        ReleaseSlots(site_id[giver], 3, 9, WHY),
        HoldSlots(site_id[free_at], 2, 1, WHY),
        TellArrivalTime(site_id[giver], 5, 45.0, WHY),
        SendWalkIns(site_id[giver], site_id[to], 6, float(city.neighbour_travel_minutes[giver, 0]), WHY),
    )
    return {str(decision.kind): decision for decision in decisions}


def _free_ahead(world: World) -> np.ndarray:
    first = world.day.period_of(world.epoch_minutes) + 6
    return world.free_slots[:, first : first + 3].sum(axis=1)
