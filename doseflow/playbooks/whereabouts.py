"""Where a lot lies and is on its way, and which lots a site has in use."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.domain.decisions import DoseTransfer, FridgeMove
from doseflow.domain.state import CityState


@dataclass(frozen=True, slots=True)
class LotPlace:
    """Doses of a lot in one fridge; `fridge_id` is None where the site does not say which."""

    site_id: str
    fridge_id: str | None
    product_id: str
    lot_number: str
    unopened_doses: int
    open_vial_doses: int


@dataclass(frozen=True, slots=True)
class LotOnItsWay:
    """Doses of a lot that a site has promised or begun to move."""

    from_site_id: str
    to_site_id: str
    doses: int


def places_of(state: CityState, *, lot_number: str | None = None, site_id: str | None = None) -> list[LotPlace]:
    """Where doses of a lot lie, or what a site has, in the order of the reports; both where both are given."""
    places = (_place(state, row) for row in range(len(state.lots.lot_number)))
    return [
        place
        for place in places
        if place.unopened_doses + place.open_vial_doses > 0
        and lot_number in {None, place.lot_number}
        and site_id in {None, place.site_id}
    ]


def on_its_way(state: CityState, lot_number: str) -> list[LotOnItsWay]:
    """Moves of a lot that sites have promised or begun: no plan can stop these, a call can."""
    commitments = state.commitments
    moves = []
    for decision in (*commitments.acknowledged, *commitments.under_way):
        if isinstance(decision, DoseTransfer) and decision.lot_number == lot_number:
            moves.append(LotOnItsWay(decision.from_site_id, decision.to_site_id, decision.doses))
        elif isinstance(decision, FridgeMove) and decision.lot_number == lot_number:
            moves.append(LotOnItsWay(decision.site_id, decision.site_id, decision.doses))
    return moves


def _place(state: CityState, row: int) -> LotPlace:
    lots, fridge_row = state.lots, int(state.lots.fridge_row[row])
    return LotPlace(
        site_id=state.city.sites[int(lots.site_idx[row])].site_id,
        fridge_id=state.fridges.fridge_id[fridge_row] if fridge_row >= 0 else None,
        product_id=state.city.products[int(lots.product_idx[row])].product_id,
        lot_number=lots.lot_number[row],
        unopened_doses=int(lots.unopened_doses[row]),
        open_vial_doses=int(lots.open_vial_doses[row]),
    )
