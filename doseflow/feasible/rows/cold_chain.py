"""Rows of the rules about fridges."""

from __future__ import annotations

import math
from collections.abc import Sequence

from doseflow.feasible.entries import SettingEntry
from doseflow.feasible.model import NearestModel
from doseflow.feasible.rules.cold_chain import room_litres, stored_products, suits_some_product


def cold_volume(model: NearestModel) -> None:
    """Litres into a fridge less litres out of it are at most its free volume."""
    ledger, lookup = model.ledger, model.ledger.lookup
    for fridge_row, incoming in ledger.into_fridge.items():
        room = room_litres(lookup, fridge_row)
        if math.isnan(room):
            for entry in incoming:
                model.forbid(entry.position)
            continue
        leaving = ledger.out_of_fridge.get(fridge_row, [])
        added = [(entry.position, lookup.litres_per_dose(entry.product_idx)) for entry in incoming]
        removed = [(entry.position, -lookup.litres_per_dose(entry.product_idx)) for entry in leaving]
        model.at_most([*added, *removed], room)


def set_point_in_band(model: NearestModel) -> None:
    """A set-point that hurts what is stored is dropped; beside doses that it would hurt it is one or the other."""
    _settings(model, model.ledger.set_points)


def pre_cool_in_band(model: NearestModel) -> None:
    """The same for pre-cooling."""
    _settings(model, model.ledger.pre_cools)


def _settings(model: NearestModel, settings: Sequence[SettingEntry]) -> None:
    lookup = model.ledger.lookup
    for entry in settings:
        inside = stored_products(lookup, entry)
        hurts = any(not lookup.is_in_band(entry.celsius, product_idx) for product_idx in inside)
        if hurts or (not inside and not suits_some_product(lookup, entry)):
            model.forbid(entry.position)
            continue
        for incoming in model.ledger.into_fridge.get(entry.fridge_row, []):
            if not lookup.is_in_band(entry.celsius, incoming.product_idx):
                model.at_most([(entry.position, 1.0), (model.switch([incoming.position]), 1.0)], 1.0)
