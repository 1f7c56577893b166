"""Rows of the rules about people on their way."""

from __future__ import annotations

from doseflow.feasible.model import NearestModel
from doseflow.feasible.rules.arrivals import (
    changeable_slots,
    expected_early_people,
    sendable_walk_ins,
    sendings_by_giver,
    slots_by_bin,
)


def slots_within_share(model: NearestModel) -> None:
    """Appointments changed in a booking bin are at most the share of it that may be."""
    for (site_idx, bin_idx), entries in slots_by_bin(model.ledger).items():
        model.sum_at_most([entry.position for entry in entries], changeable_slots(model.ledger, site_idx, bin_idx))


def send_walk_ins(model: NearestModel) -> None:
    """Walk-ins sent away from a site are at most the share of the expected ones that may be."""
    for site_idx, entries in sendings_by_giver(model.ledger).items():
        model.sum_at_most([entry.position for entry in entries], sendable_walk_ins(model.ledger, site_idx))


def tell_arrival_time(model: NearestModel) -> None:
    """People told to come later are at most those expected early."""
    for entry in model.ledger.tellings:
        model.restrict(entry.position, 0, expected_early_people(model.ledger, entry.site_idx))
