"""
What a site does when it is told: one function for each kind of decision and each moment that matters.

`begin` is when people or vials leave: it gives the moment the order will be done, or the reason why it cannot be.
`finish` is when it is done: it gives "" or the reason why it cannot be. What is refused changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from doseflow.domain.decisions import (
    DecisionKind,
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
from doseflow.domain.roles import ROLE_TO_IDX, STAGE_TO_IDX
from doseflow.simulate.cold_store import used_litres
from doseflow.simulate.draft import WorldDraft
from doseflow.simulate.staffing import QUALIFIED
from doseflow.simulate.table import table_of
from doseflow.simulate.trips import stored
from doseflow.simulate.vials import is_usable
from doseflow.simulate.world import DOSE_TRIP, NUM_MOVES
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

SLOTS_PER_BIN = 3
"""Five-minute slots in a quarter hour."""
WALK_INS_FOR_MINUTES = 30.0
TELL_AHEAD_MINUTES = 30
STATION_MINUTES = 4.0
FRIDGE_MOVE_MINUTES = 10.0

Begin = Callable[[WorldDraft, Any], float | str]
Finish = Callable[[WorldDraft, Any, np.random.Generator], str]


@dataclass(frozen=True, slots=True)
class Carrying:
    """How a kind of order is carried out."""

    begin: Begin
    finish: Finish


def _takes(minutes: float) -> Begin:
    return lambda draft, _decision: draft.now + minutes


def _has_arrived(_draft: WorldDraft, _decision: Any, _rng: np.random.Generator) -> str:
    """The transition lets the trip arrive."""
    return ""


def begin_staff_move(draft: WorldDraft, move: StaffMove) -> float | str:
    """People leave; those who have moved least go first, and only who is qualified for the work there."""
    from_idx, to_idx = draft.city.site_to_idx[move.from_site_id], draft.city.site_to_idx[move.to_site_id]
    role, works_as = ROLE_TO_IDX[move.role], ROLE_TO_IDX[move.works_as]
    shift_ends = epoch_minutes_from_datetime(move.shift_ends_at)
    shifts = np.flatnonzero(np.abs(draft.world.day.shift_ends - shift_ends) < 1)
    cells = [
        (home, int(shift), moves)
        for moves in range(NUM_MOVES)
        for shift in shifts
        for home in np.flatnonzero(QUALIFIED[:, works_as])
        if draft.staff_people[from_idx, home, role, shift, moves] > 0
    ]
    free = sum(int(draft.staff_people[from_idx, home, role, shift, moves]) for home, shift, moves in cells)
    if free < move.people:
        return f"only {free} qualified {move.role} until that hour are on duty here"
    left, arrives = move.people, draft.now + move.travel_minutes
    for home, shift, moves in cells:
        people = min(left, int(draft.staff_people[from_idx, home, role, shift, moves]))
        draft.staff_people[from_idx, home, role, shift, moves] -= people
        if people:
            draft.staff_trips.append((to_idx, home, works_as, shift, min(moves + 1, NUM_MOVES - 1), people, arrives))
        left -= people
    return arrives


def finish_station_change(draft: WorldDraft, change: StationChange, _rng: np.random.Generator) -> str:
    """Stations open or close; who is being served there is served to the end."""
    at = draft.city.site_to_idx[change.site_id], STAGE_TO_IDX[change.stage]
    possible = int(draft.params.stations_possible[at])
    if change.open_stations > possible:
        return f"there are only {possible} stations for {change.stage} here"
    draft.stations_open[at] = change.open_stations
    return ""


def begin_dose_transfer(draft: WorldDraft, transfer: DoseTransfer) -> float | str:
    """Vials leave their fridge in a van, which first comes here when it stands at a neighbour."""
    city = draft.city
    from_idx, to_idx = city.site_to_idx[transfer.from_site_id], city.site_to_idx[transfer.to_site_id]
    van_idx = city.van_to_idx.get(transfer.van_id)
    to_slot = _fridge_slot(draft, transfer.to_site_id, transfer.to_fridge_id)
    if van_idx is None or draft.vans.site_idx[van_idx] < 0 or draft.vans.busy_until[van_idx] > draft.now:
        return f"van {transfer.van_id} is not free"
    stands_at = int(draft.vans.site_idx[van_idx])
    to_here = 0.0 if stands_at == from_idx else city.travel_by_pair.get((stands_at, from_idx))
    if to_here is None or to_slot is None:
        return f"van {transfer.van_id} is too far away" if to_here is None else "the other site has no such fridge"
    place, reason = _whole_vials(
        draft, transfer.from_site_id, transfer.from_fridge_id, transfer.lot_number, transfer.doses
    )
    if place < 0:
        return reason
    if not _has_room(draft, to_idx, to_slot, from_idx, place, transfer.doses):
        return f"{transfer.to_fridge_id} of the other site has no room"
    arrives = draft.now + to_here + transfer.travel_minutes
    _load(draft, from_idx, place, to_idx, to_slot, transfer.doses, arrives)
    draft.vans.site_idx[van_idx] = -1
    draft.vans.busy_until[van_idx] = arrives
    draft.vans.heading_to_idx[van_idx] = to_idx
    return arrives


def finish_fridge_move(draft: WorldDraft, move: FridgeMove, _rng: np.random.Generator) -> str:
    """Vials go from one fridge of the site into another."""
    to_slot = _fridge_slot(draft, move.site_id, move.to_fridge_id)
    if to_slot is None:
        return f"there is no fridge {move.to_fridge_id} here"
    place, reason = _whole_vials(draft, move.site_id, move.from_fridge_id, move.lot_number, move.doses)
    if place < 0:
        return reason
    site_idx, first = draft.city.site_to_idx[move.site_id], len(draft.dose_trips)
    if not _has_room(draft, site_idx, to_slot, site_idx, place, move.doses):
        return f"{move.to_fridge_id} has no room"
    _load(draft, site_idx, place, site_idx, to_slot, move.doses, draft.now)
    moving = draft.dose_trips[first:]
    draft.lots, without_shelf = stored(draft.lots, table_of(DOSE_TRIP, moving))
    draft.dose_trips[first:] = moving if len(without_shelf) else []
    return ""


def finish_pre_cool(draft: WorldDraft, order: PreCool, _rng: np.random.Generator) -> str:
    """The fridge aims at the target for a while, then at its set-point again."""
    slot = _fridge_slot(draft, order.site_id, order.fridge_id)
    if slot is None:
        return f"there is no fridge {order.fridge_id} here"
    at = draft.city.site_to_idx[order.site_id], slot
    draft.fridges.pre_cool_celsius[at] = order.target_celsius
    draft.fridges.pre_cool_until[at] = draft.now + draft.params.assumed.pre_cool_minutes
    return ""


def finish_mark_unusable(draft: WorldDraft, order: MarkUnusable, _rng: np.random.Generator) -> str:
    """All doses of the lot in that fridge are thrown away."""
    site_idx = draft.city.site_to_idx[order.site_id]
    places = _places(draft, order.site_id, order.fridge_id, order.lot_number)
    if not len(places):
        return f"there is no lot {order.lot_number} in {order.fridge_id}"
    doses = draft.lots.unopened_doses[site_idx, places] + draft.lots.open_doses[site_idx, places]
    draft.totals.doses_discarded[site_idx] += doses.sum()
    draft.lots.unopened_doses[site_idx, places] = 0
    draft.lots.open_doses[site_idx, places] = 0
    return ""


def finish_set_point(draft: WorldDraft, order: SetPoint, _rng: np.random.Generator) -> str:
    """The thermostat is set."""
    slot = _fridge_slot(draft, order.site_id, order.fridge_id)
    if slot is None:
        return f"there is no fridge {order.fridge_id} here"
    draft.fridges.set_point_celsius[draft.city.site_to_idx[order.site_id], slot] = order.set_point_celsius
    return ""


def finish_release_slots(draft: WorldDraft, order: ReleaseSlots, _rng: np.random.Generator) -> str:
    """More appointments are offered in that quarter hour; people book them over time."""
    site_idx, slots = draft.city.site_to_idx[order.site_id], _slots_of_bin(draft, order.bin_idx)
    if not len(slots):
        return "that quarter hour is past the end of the day"
    shares = np.diff(np.linspace(0, order.people, len(slots) + 1).astype(np.int64))
    draft.free_slots[site_idx, slots] += shares
    return ""


def finish_hold_slots(draft: WorldDraft, order: HoldSlots, _rng: np.random.Generator) -> str:
    """Appointments that nobody has taken are taken back, as far as there are any."""
    site_idx, slots = draft.city.site_to_idx[order.site_id], _slots_of_bin(draft, order.bin_idx)
    free = draft.free_slots[site_idx, slots]
    if not free.any():
        return "every appointment of that quarter hour is taken"
    before = np.cumsum(free) - free
    draft.free_slots[site_idx, slots] -= np.clip(order.people - before, 0, free)
    return ""


def finish_tell_arrival_time(draft: WorldDraft, order: TellArrivalTime, rng: np.random.Generator) -> str:
    """Of the booked people who would come in the next half hour, most come later by what they are told."""
    site_idx = draft.city.site_to_idx[order.site_id]
    first = int(draft.now - draft.world.day.midnight) + 1
    window = draft.coming_people[site_idx, first : first + TELL_AHEAD_MINUTES]
    before = np.cumsum(window) - window
    told = np.clip(order.people - before, 0, window)
    later = rng.binomial(told, draft.params.assumed.told_follows_share)
    last = draft.coming_people.shape[-1] - 1
    minutes = np.minimum(first + np.arange(len(window)) + round(order.delay_minutes), last)
    draft.coming_people[site_idx, first : first + len(window)] -= later.astype(np.int32)
    np.add.at(draft.coming_people[site_idx], minutes, later)
    return ""


def finish_send_walk_ins(draft: WorldDraft, order: SendWalkIns, _rng: np.random.Generator) -> str:
    """For half an hour, walk-ins are asked to go to the neighbour."""
    from_idx, to_idx = draft.city.site_to_idx[order.from_site_id], draft.city.site_to_idx[order.to_site_id]
    until = draft.now + WALK_INS_FOR_MINUTES
    draft.diversions.append((from_idx, to_idx, order.people, until, order.travel_minutes))
    return ""


CARRYING: dict[DecisionKind, Carrying] = {
    DecisionKind.STAFF_MOVE: Carrying(begin_staff_move, _has_arrived),
    DecisionKind.STATION_CHANGE: Carrying(_takes(STATION_MINUTES), finish_station_change),
    DecisionKind.DOSE_TRANSFER: Carrying(begin_dose_transfer, _has_arrived),
    DecisionKind.FRIDGE_MOVE: Carrying(_takes(FRIDGE_MOVE_MINUTES), finish_fridge_move),
    DecisionKind.PRE_COOL: Carrying(_takes(0), finish_pre_cool),
    DecisionKind.MARK_UNUSABLE: Carrying(_takes(0), finish_mark_unusable),
    DecisionKind.SET_POINT: Carrying(_takes(0), finish_set_point),
    DecisionKind.RELEASE_SLOTS: Carrying(_takes(0), finish_release_slots),
    DecisionKind.HOLD_SLOTS: Carrying(_takes(0), finish_hold_slots),
    DecisionKind.TELL_ARRIVAL_TIME: Carrying(_takes(0), finish_tell_arrival_time),
    DecisionKind.SEND_WALK_INS: Carrying(_takes(0), finish_send_walk_ins),
}
"""Every kind of decision; a test proves that none is missing."""


def _fridge_slot(draft: WorldDraft, site_id: str, fridge_id: str) -> int | None:
    fridges = draft.city.sites[draft.city.site_to_idx[site_id]].fridges
    return next((slot for slot, fridge in enumerate(fridges) if fridge.fridge_id == fridge_id), None)


def _places(draft: WorldDraft, site_id: str, fridge_id: str, lot_number: str) -> np.ndarray:
    """Lot places of a site that hold this lot in this fridge."""
    site_idx, slot, lots = draft.city.site_to_idx[site_id], _fridge_slot(draft, site_id, fridge_id), draft.lots
    held = np.flatnonzero((lots.fridge_slot[site_idx] == slot) & ~lots.is_free[site_idx])
    return np.array([k for k in held if draft.world.lot_numbers[lots.code[site_idx, k]] == lot_number], dtype=np.int64)


def _whole_vials(draft: WorldDraft, site_id: str, fridge_id: str, lot_number: str, doses: int) -> tuple[int, str]:
    """The place that can give so many doses in whole vials, or -1 and why none can."""
    places, site_idx = _places(draft, site_id, fridge_id, lot_number), draft.city.site_to_idx[site_id]
    if not len(places):
        return -1, f"there is no lot {lot_number} in {fridge_id}"
    place = int(places[0])
    held = int(draft.lots.unopened_doses[site_idx, place])
    per_vial = int(draft.params.doses_per_vial[draft.lots.product_idx[site_idx, place]])
    if held < doses:
        return -1, f"only {held} unopened doses of lot {lot_number} are left"
    if doses % per_vial:
        return -1, f"{doses} doses are not whole vials of {per_vial}"
    if not is_usable(draft.lots, draft.now, draft.params)[site_idx, place]:
        return -1, f"lot {lot_number} may not be given any more"
    return place, ""


def _has_room(draft: WorldDraft, to_idx: int, to_slot: int, from_idx: int, place: int, doses: int) -> bool:
    product = draft.lots.product_idx[from_idx, place]
    litres = doses / draft.params.doses_per_vial[product] * draft.params.litres_per_vial[product]
    used = used_litres(draft.lots, draft.fridges, draft.params)[to_idx, to_slot]
    return bool(used + litres <= draft.fridges.volume_litres[to_idx, to_slot] + 1e-9)


def _load(draft: WorldDraft, site_idx: int, place: int, to_idx: int, to_slot: int, doses: int, arrives: float) -> None:
    lots = draft.lots
    draft.dose_trips.append(
        (
            to_idx,
            to_slot,
            lots.code[site_idx, place],
            lots.product_idx[site_idx, place],
            doses,
            lots.expires[site_idx, place],
            lots.excursion_minutes[site_idx, place],
            arrives,
        )
    )
    lots.unopened_doses[site_idx, place] -= doses


def _slots_of_bin(draft: WorldDraft, bin_idx: int) -> np.ndarray:
    """The five-minute slots of the quarter hour that lies `bin_idx` quarter hours ahead."""
    day = draft.world.day
    first = round((draft.now - day.midnight) // PERIOD_MINUTES) + bin_idx * SLOTS_PER_BIN
    return np.arange(first, min(first + SLOTS_PER_BIN, draft.free_slots.shape[-1]))
