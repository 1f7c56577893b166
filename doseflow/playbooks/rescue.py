"""The rescue of what lies in fridges that do not cool: what is lost first, where it fits, and the orders for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.decisions import Decision, DoseTransfer, FridgeMove, Why
from doseflow.domain.state import CityState
from doseflow.playbooks.minutes_to_loss import Warming, minutes_to_loss
from doseflow.playbooks.spare_volume import SpareVolume, nearest_spare_volume

MOST_PLACES = 5
"""Nearest places that a person is shown for each lot."""


@dataclass(frozen=True, slots=True)
class LotInDanger:
    """A lot in a fridge that does not cool, with the nearest places that could take it in."""

    site_id: str
    fridge_id: str
    product_id: str
    lot_number: str
    doses: int
    minutes_to_loss: float
    places: tuple[SpareVolume, ...]


@dataclass(frozen=True, slots=True)
class Rescue:
    """Lots in the order in which they must be seen to, and orders that are ready, the first the most urgent."""

    lots: tuple[LotInDanger, ...]
    ready_orders: tuple[Decision, ...]
    doses_without_place: int
    """Unopened doses for which no room within reach, or no van, was found."""


def rescue(state: CityState, fridge_names: Sequence[tuple[str, str]], warming: Warming) -> Rescue:
    """
    What to do about fridges, named (site_id, fridge_id): the lot that is lost first comes first, then the larger one.

    The fridges themselves are no place to go, and neither are those that a running playbook speaks of.
    """
    minutes, named = minutes_to_loss(state, warming), set(fridge_names)
    rows = [row for row in range(len(state.lots.lot_number)) if _place(state, row) in named and _doses(state, row) > 0]
    rows.sort(key=lambda row: (minutes[row], -_doses(state, row), row))
    room = _Room(state, named)
    lots: list[LotInDanger] = []
    orders: list[Decision] = []
    homeless = 0
    for row in rows:
        places = room.places_for(row)
        lots.append(_in_danger(state, row, float(minutes[row]), places[:MOST_PLACES]))
        made = room.orders_for(row, places, _why(float(minutes[row])))
        orders += made
        homeless += max(0, int(state.lots.unopened_doses[row]) - sum(int(one.quantity) for one in made))
    return Rescue(tuple(lots), tuple(orders), homeless)


class _Room:
    """Free litres and idle vans, less what the orders made so far take."""

    def __init__(self, state: CityState, closed: set[tuple[str, str]]) -> None:
        self._state, self._closed = state, closed
        self._taken_litres: dict[tuple[str, str], float] = {}
        self._trip_of_van: dict[str, str] = {}

    def places_for(self, row: int) -> list[SpareVolume]:
        lots = self._state.lots
        found = nearest_spare_volume(self._state, int(lots.site_idx[row]), int(lots.product_idx[row]))
        return [place for place in found if (place.site_id, place.fridge_id) not in self._closed]

    def orders_for(self, row: int, places: Sequence[SpareVolume], why: Why) -> list[Decision]:
        product = self._state.city.products[int(self._state.lots.product_idx[row])]
        free = int(self._state.lots.unopened_doses[row] - self._state.lots.reserved_doses[row])
        left = max(0, free) // product.doses_per_vial * product.doses_per_vial
        made: list[Decision] = []
        for place in places:
            name = (place.site_id, place.fridge_id)
            litres = place.free_litres - self._taken_litres.get(name, 0.0)
            vials = min(left // product.doses_per_vial, int(litres / product.litres_per_vial + 1e-9))
            order = self._order(row, place, vials * product.doses_per_vial, why) if vials > 0 else None
            if order is not None:
                made.append(order)
                left -= vials * product.doses_per_vial
                self._taken_litres[name] = self._taken_litres.get(name, 0.0) + vials * product.litres_per_vial
        return made

    def _order(self, row: int, place: SpareVolume, doses: int, why: Why) -> Decision | None:
        site_id, fridge_id = _place(self._state, row)
        product_id = self._state.city.products[int(self._state.lots.product_idx[row])].product_id
        lot = self._state.lots.lot_number[row]
        if place.site_id == site_id:
            return FridgeMove(site_id, product_id, lot, fridge_id, place.fridge_id, doses, why)
        van_id = self._van_to(site_id, place.site_id)
        if van_id is None:
            return None
        self._trip_of_van[van_id] = place.site_id
        return DoseTransfer(
            site_id,
            place.site_id,
            product_id,
            lot,
            fridge_id,
            place.fridge_id,
            van_id,
            doses,
            place.travel_minutes,
            why,
        )

    def _van_to(self, site_id: str, to_site_id: str) -> str | None:
        """A van that goes there already, or an idle one at the site."""
        state, site_idx = self._state, self._state.city.site_to_idx[site_id]
        now = state.as_of.timestamp() / 60
        for van, at, free in zip(state.city.vans, state.vans.site_idx, state.vans.free_epoch_minutes, strict=True):
            if at == site_idx and free <= now and self._trip_of_van.get(van.van_id, to_site_id) == to_site_id:
                return van.van_id
        return None


def _place(state: CityState, row: int) -> tuple[str, str]:
    fridge_row = int(state.lots.fridge_row[row])
    site_id = state.city.sites[int(state.lots.site_idx[row])].site_id
    return site_id, state.fridges.fridge_id[fridge_row] if fridge_row >= 0 else ""


def _doses(state: CityState, row: int) -> int:
    return int(state.lots.unopened_doses[row] + state.lots.open_vial_doses[row])


def _in_danger(state: CityState, row: int, minutes: float, places: Sequence[SpareVolume]) -> LotInDanger:
    site_id, fridge_id = _place(state, row)
    product = state.city.products[int(state.lots.product_idx[row])]
    return LotInDanger(
        site_id, fridge_id, product.product_id, state.lots.lot_number[row], _doses(state, row), minutes, tuple(places)
    )


def _why(minutes: float) -> Why:
    return Why("failing_fridge", {"minutes_to_loss": round(minutes)} if np.isfinite(minutes) else {})
