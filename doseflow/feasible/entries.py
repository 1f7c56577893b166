"""
A decision with everything it names found in the state: what rules and rows read.

Each function finds what one kind of decision names and gives its entry, or a sentence saying what is not known.
`position` is that of the decision in the list that is judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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
)
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import ROLE_TO_IDX, STAGE_TO_IDX
from doseflow.feasible.lookup import StateLookup
from doseflow.units import epoch_minutes_from_datetime

MOST_ASKED = 10_000_000
"""Largest quantity that a decision may name: that of doses in a report."""


@dataclass(slots=True)
class MoveEntry:
    """A staff move; `rows` are its group in the staff table."""

    position: int
    decision: StaffMove
    from_idx: int
    to_idx: int
    role_idx: int
    works_as_idx: int
    rows: tuple[int, ...]
    people: int


@dataclass(slots=True)
class StationEntry:
    """A station change; `open_now` is what the state says, None where it does not know."""

    position: int
    decision: StationChange
    site_idx: int
    stage_idx: int
    open_now: int | None
    open_after: int


@dataclass(slots=True)
class TransferEntry:
    """A dose transfer."""

    position: int
    decision: DoseTransfer
    from_idx: int
    to_idx: int
    product_idx: int
    lot_row: int
    from_fridge_row: int
    to_fridge_row: int
    van_idx: int
    doses: int


@dataclass(slots=True)
class FridgeMoveEntry:
    """A move between two fridges of a site."""

    position: int
    decision: FridgeMove
    from_idx: int
    product_idx: int
    lot_row: int
    from_fridge_row: int
    to_fridge_row: int
    doses: int


@dataclass(slots=True)
class SettingEntry:
    """A temperature asked of a fridge, lasting or ahead of a delivery."""

    position: int
    decision: PreCool | SetPoint
    site_idx: int
    fridge_row: int
    celsius: float


@dataclass(slots=True)
class MarkEntry:
    """A lot to be taken out of use."""

    position: int
    decision: MarkUnusable
    site_idx: int
    lot_row: int
    doses: int


@dataclass(slots=True)
class SlotEntry:
    """Appointments to be released or held."""

    position: int
    decision: ReleaseSlots | HoldSlots
    site_idx: int
    people: int


@dataclass(slots=True)
class TellEntry:
    """Early comers to be told a time."""

    position: int
    decision: TellArrivalTime
    site_idx: int
    people: int


@dataclass(slots=True)
class SendEntry:
    """Walk-ins to be sent to a neighbour."""

    position: int
    decision: SendWalkIns
    from_idx: int
    to_idx: int
    people: int


LotEntry = TransferEntry | FridgeMoveEntry


def move_entry(lookup: StateLookup, position: int, decision: StaffMove) -> MoveEntry | str:
    """Find the group that a staff move takes people from."""
    sites = lookup.city.site_to_idx
    from_idx, to_idx = sites.get(decision.from_site_id), sites.get(decision.to_site_id)
    role_idx, works_as_idx = ROLE_TO_IDX.get(decision.role), ROLE_TO_IDX.get(decision.works_as)
    if from_idx is None or to_idx is None:
        return _no_site(decision.from_site_id if from_idx is None else decision.to_site_id)
    if role_idx is None or works_as_idx is None:
        return f"there is no role {str(decision.role if role_idx is None else decision.works_as)!r}"
    rows = lookup.group_rows(from_idx, role_idx, epoch_minutes_from_datetime(decision.shift_ends_at))
    if not rows:
        ends = decision.shift_ends_at.isoformat(timespec="minutes")
        return f"{lookup.name(from_idx)} has no {decision.role} on duty whose shift ends at {ends}"
    return MoveEntry(position, decision, from_idx, to_idx, role_idx, works_as_idx, rows, decision.people)


def station_entry(lookup: StateLookup, position: int, decision: StationChange) -> StationEntry | str:
    """Find the site and stage of a station change."""
    site_idx, stage_idx = lookup.city.site_to_idx.get(decision.site_id), STAGE_TO_IDX.get(decision.stage)
    if site_idx is None:
        return _no_site(decision.site_id)
    if stage_idx is None:
        return f"there is no stage {str(decision.stage)!r}"
    now = lookup.open_now(site_idx, stage_idx)
    return StationEntry(position, decision, site_idx, stage_idx, now, decision.open_stations)


def transfer_entry(lookup: StateLookup, position: int, decision: DoseTransfer) -> TransferEntry | str:
    """Find lot, fridges, van and sites of a dose transfer."""
    sites = lookup.city.site_to_idx
    from_idx, to_idx = sites.get(decision.from_site_id), sites.get(decision.to_site_id)
    if from_idx is None or to_idx is None:
        return _no_site(decision.from_site_id if from_idx is None else decision.to_site_id)
    van_idx = lookup.city.van_to_idx.get(decision.van_id)
    if van_idx is None:
        return f"there is no van {decision.van_id!r}"
    found = _lot_in_fridge(lookup, from_idx, decision.from_fridge_id, decision.lot_number, decision.product_id)
    if isinstance(found, str):
        return found
    to_fridge_row = lookup.fridge_row(to_idx, decision.to_fridge_id)
    if to_fridge_row is None:
        return _no_fridge(lookup, to_idx, decision.to_fridge_id)
    fridge_row, lot_row, product_idx = found
    return TransferEntry(
        position, decision, from_idx, to_idx, product_idx, lot_row, fridge_row, to_fridge_row, van_idx, decision.doses
    )


def fridge_move_entry(lookup: StateLookup, position: int, decision: FridgeMove) -> FridgeMoveEntry | str:
    """Find lot and fridges of a move within a site."""
    site_idx = lookup.city.site_to_idx.get(decision.site_id)
    if site_idx is None:
        return _no_site(decision.site_id)
    found = _lot_in_fridge(lookup, site_idx, decision.from_fridge_id, decision.lot_number, decision.product_id)
    if isinstance(found, str):
        return found
    to_fridge_row = lookup.fridge_row(site_idx, decision.to_fridge_id)
    if to_fridge_row is None:
        return _no_fridge(lookup, site_idx, decision.to_fridge_id)
    fridge_row, lot_row, product_idx = found
    return FridgeMoveEntry(
        position, decision, site_idx, product_idx, lot_row, fridge_row, to_fridge_row, decision.doses
    )


def setting_entry(lookup: StateLookup, position: int, decision: PreCool | SetPoint) -> SettingEntry | str:
    """Find the fridge of a set-point or a pre-cooling."""
    site_idx = lookup.city.site_to_idx.get(decision.site_id)
    if site_idx is None:
        return _no_site(decision.site_id)
    fridge_row = lookup.fridge_row(site_idx, decision.fridge_id)
    if fridge_row is None:
        return _no_fridge(lookup, site_idx, decision.fridge_id)
    return SettingEntry(position, decision, site_idx, fridge_row, decision.quantity)


def mark_entry(lookup: StateLookup, position: int, decision: MarkUnusable) -> MarkEntry | str:
    """Find the lot that is to be taken out of use."""
    site_idx = lookup.city.site_to_idx.get(decision.site_id)
    if site_idx is None:
        return _no_site(decision.site_id)
    found = _lot_in_fridge(lookup, site_idx, decision.fridge_id, decision.lot_number, decision.product_id)
    return found if isinstance(found, str) else MarkEntry(position, decision, site_idx, found[1], decision.doses)


def slot_entry(lookup: StateLookup, position: int, decision: ReleaseSlots | HoldSlots) -> SlotEntry | str:
    """Find the site and booking bin of a change of slots."""
    site_idx = lookup.city.site_to_idx.get(decision.site_id)
    if site_idx is None:
        return _no_site(decision.site_id)
    if not is_whole(decision.bin_idx) or not 0 <= decision.bin_idx < BOOKING_BINS:
        return f"bin_idx must lie in 0..{BOOKING_BINS - 1}, got {decision.bin_idx}"
    return SlotEntry(position, decision, site_idx, decision.people)


def tell_entry(lookup: StateLookup, position: int, decision: TellArrivalTime) -> TellEntry | str:
    """Find the site whose early comers are told a time."""
    site_idx = lookup.city.site_to_idx.get(decision.site_id)
    return _no_site(decision.site_id) if site_idx is None else TellEntry(position, decision, site_idx, decision.people)


def send_entry(lookup: StateLookup, position: int, decision: SendWalkIns) -> SendEntry | str:
    """Find the two sites between which walk-ins are sent."""
    sites = lookup.city.site_to_idx
    from_idx, to_idx = sites.get(decision.from_site_id), sites.get(decision.to_site_id)
    if from_idx is None or to_idx is None:
        return _no_site(decision.from_site_id if from_idx is None else decision.to_site_id)
    return SendEntry(position, decision, from_idx, to_idx, decision.people)


def is_whole(quantity: object) -> bool:
    """Whether a quantity is a whole number; True and False are none."""
    return type(quantity) is int or isinstance(quantity, np.integer)


def unsound_quantity(decision: Decision) -> str | None:
    """What is wrong with a decision's quantity by itself, None where nothing is."""
    quantity = decision.quantity
    if isinstance(decision, SetPoint | PreCool):
        return None if math.isfinite(quantity) else f"the temperature must be a number, got {quantity}"
    least = 0 if isinstance(decision, StationChange) else 1
    if not is_whole(quantity) or not least <= quantity <= MOST_ASKED:
        return f"the quantity must be a whole number in {least}..{MOST_ASKED}, got {quantity}"
    if isinstance(decision, TellArrivalTime) and not (
        decision.delay_minutes > 0 and math.isfinite(decision.delay_minutes)
    ):
        return f"delay_minutes must be above 0, got {decision.delay_minutes}"
    return None


def _lot_in_fridge(
    lookup: StateLookup, site_idx: int, fridge_id: str, lot_number: str, product_id: str
) -> tuple[int, int, int] | str:
    fridge_row = lookup.fridge_row(site_idx, fridge_id)
    if fridge_row is None:
        return _no_fridge(lookup, site_idx, fridge_id)
    lot_row = lookup.lot_row(site_idx, fridge_row, lot_number)
    if lot_row is None:
        return f"{lookup.name(site_idx)} has no lot {lot_number!r} in fridge {fridge_id!r}"
    product_idx = int(lookup.state.lots.product_idx.item(lot_row))
    if lookup.city.products[product_idx].product_id != product_id:
        return f"lot {lot_number!r} at {lookup.name(site_idx)} is not of the product {product_id!r}"
    return fridge_row, lot_row, product_idx


def _no_site(site_id: str) -> str:
    return f"there is no site {site_id!r}"


def _no_fridge(lookup: StateLookup, site_idx: int, fridge_id: str) -> str:
    return f"{lookup.name(site_idx)} has no fridge {fridge_id!r}"
