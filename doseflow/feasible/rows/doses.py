"""Rows of the rules about doses that travel."""

from __future__ import annotations

from doseflow.feasible.ledger import grouped
from doseflow.feasible.model import NearestModel
from doseflow.feasible.rules.doses import leaves_stock, spare_doses


def doses_on_hand(model: NearestModel) -> None:
    """Doses leaving a lot are at most its free ones; doses marked are at most all that are there."""
    lookup, lots = model.ledger.lookup, model.ledger.lookup.state.lots
    for lot_row, entries in model.ledger.doses_out_by_lot.items():
        model.at_most([(entry.position, 1.0) for entry in entries], lookup.free_doses(lot_row))
    for mark in model.ledger.markings:
        held = int(lots.unopened_doses.item(mark.lot_row) + lots.open_vial_doses.item(mark.lot_row))
        model.at_most([(mark.position, 1.0)], held)


def whole_vials(model: NearestModel) -> None:
    """Doses are whole vials: these choices count vials, so no row is needed."""


def fefo(model: NearestModel) -> None:
    """Where a lot leaves, the doses leaving each earlier one are all of its free vials."""
    ledger = model.ledger
    for entry in ledger.transfers:
        for row in ledger.earlier_lots(entry):
            leaving = [(earlier.position, 1.0) for earlier in ledger.transfers_by_lot.get(row, [])]
            whole = float(ledger.lookup.free_vial_doses(row))
            model.at_least([*leaving, (model.switch([entry.position]), -whole)], 0.0)


def safety_stock(model: NearestModel) -> None:
    """Doses leaving a site from fridges that hold are at most what it can spare."""
    lookup = model.ledger.lookup
    for site_idx, transfers in model.ledger.transfers_by_giver.items():
        leaving = [(entry.position, 1.0) for entry in transfers if leaves_stock(lookup, entry)]
        if leaving:
            model.at_most(leaving, spare_doses(lookup, site_idx) or 0)


def van_one_trip(model: NearestModel) -> None:
    """Of the trips that a van is wanted for at most one is ordered."""
    for transfers in model.ledger.transfers_by_van.values():
        trips = grouped(transfers, lambda entry: (entry.from_idx, entry.to_idx))
        if len(trips) > 1:
            chosen = [model.switch([entry.position for entry in entries]) for entries in trips.values()]
            model.at_most([(switch, 1.0) for switch in chosen], 1.0)


def van_volume(model: NearestModel) -> None:
    """Litres on a van are at most what it holds."""
    lookup = model.ledger.lookup
    for van_idx, transfers in model.ledger.transfers_by_van.items():
        terms = [(entry.position, lookup.litres_per_dose(entry.product_idx)) for entry in transfers]
        model.at_most(terms, lookup.city.vans[van_idx].capacity_litres)
