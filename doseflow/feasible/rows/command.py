"""Rows of the rules of command."""

from __future__ import annotations

from doseflow.domain.decisions import ReleaseSlots, StationChange
from doseflow.feasible.distance import asked_quantity
from doseflow.feasible.model import NearestModel
from doseflow.feasible.rules.command import (
    is_as_pinned_now,
    is_target,
    most_of_override,
    pinned_amount,
    promised_already,
    quarantines,
)

UNBOUNDED = float(2**40)


def suspended_site(model: NearestModel) -> None:
    """Stations of a suspended site are 0, and nothing comes to it."""
    ledger, suspended = model.ledger, model.ledger.lookup.suspended
    for entry in ledger.station_changes:
        if entry.site_idx in suspended:
            model.restrict(entry.position, 0, 0)
    coming = [
        *((move.position, move.to_idx) for move in ledger.moves),
        *((carried.position, carried.to_idx) for carried in ledger.transfers),
        *((send.position, send.to_idx) for send in ledger.sendings),
        *(
            (slots.position, slots.site_idx)
            for slots in ledger.slot_changes
            if isinstance(slots.decision, ReleaseSlots)
        ),
    ]
    for position, site_idx in coming:
        if site_idx in suspended:
            model.forbid(position)


def pinned(model: NearestModel) -> None:
    """A pinned decision is ordered with at least what is still to be done of it; a pinned target is met."""
    lookup = model.ledger.lookup
    for pin in model.universe.pins:
        if promised_already(lookup, pin):
            continue
        position = model.ledger.by_key.get(pin.key)
        if position is None:
            model.rule_out()
            continue
        done = is_as_pinned_now(lookup, pin)
        if not done:
            model.must_order.add(position)
        if not is_target(pin):
            model.restrict(position, pinned_amount(lookup, pin), UNBOUNDED)
        elif isinstance(pin, StationChange):
            model.restrict(position, asked_quantity(pin), asked_quantity(pin))
        elif not done:
            model.restrict(position, 1, 1)


def overridden(model: NearestModel) -> None:
    """Of an overridden decision no more is ordered than a person said."""
    lookup = model.ledger.lookup
    for wish in lookup.state.commitments.overridden:
        position = model.ledger.by_key.get(wish.key)
        if position is not None and not is_target(wish):
            model.restrict(position, 0, most_of_override(lookup, wish))


def recall_out_of_use(model: NearestModel) -> None:
    """Every place where a recalled lot lies is taken out of use whole."""
    for mark in quarantines(model.ledger.lookup):
        position = model.ledger.by_key.get(mark.key)
        if position is None:
            model.rule_out()
            continue
        model.must_order.add(position)
        model.restrict(position, mark.doses, UNBOUNDED)
