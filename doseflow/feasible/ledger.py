"""
The ledger: a list of decisions written into entries and totals, which every rule reads.

What cannot be entered (an unknown site, a quantity of NaN, the same thing asked twice) stands in `refusals` and in no
total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

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
    acting_site_id,
)
from doseflow.domain.forecast import ArrivalForecast
from doseflow.feasible import entries as find
from doseflow.feasible.lookup import StateLookup

ASKED_ONCE = "asked_once"
KNOWN_THINGS = "known_things"
SOUND_QUANTITY = "sound_quantity"

Row = TypeVar("Row")


class Refusal(NamedTuple):
    """A decision that no total holds, and the rule that says why."""

    rule: str
    position: int
    site_id: str
    sentence: str


class Ledger:
    """
    Decisions as entries and totals.

    Parameters
    ----------
    decisions
        Judged in this order; of two with the same key the first counts and the second is refused.
    first
        Position of the first decision to enter.
    """

    def __init__(
        self, lookup: StateLookup, forecast: ArrivalForecast, decisions: Sequence[Decision], *, first: int = 0
    ) -> None:
        self.lookup = lookup
        self.forecast = forecast
        self.decisions = decisions
        self.refusals: list[Refusal] = []
        self.by_key: dict[tuple[str, ...], int] = {}
        self.keys: dict[int, tuple[str, ...]] = {}
        self._earlier_lots: dict[int, list[int]] = {}
        self.judged: dict[str, tuple[Any, ...]] = {}
        self.moves: list[find.MoveEntry] = []
        self.station_changes: list[find.StationEntry] = []
        self.transfers: list[find.TransferEntry] = []
        self.fridge_moves: list[find.FridgeMoveEntry] = []
        self.set_points: list[find.SettingEntry] = []
        self.pre_cools: list[find.SettingEntry] = []
        self.markings: list[find.MarkEntry] = []
        self.slot_changes: list[find.SlotEntry] = []
        self.tellings: list[find.TellEntry] = []
        self.sendings: list[find.SendEntry] = []
        self.parts: tuple[Ledger, ...] = (self,)
        for position in range(first, len(decisions)):
            self._enter(position, decisions[position])

    def extended(self, more: Sequence[Decision]) -> Ledger:
        """The same with decisions added whose keys it does not hold; its `parts` are this one and the rest."""
        decisions = [*self.decisions, *more]
        rest = Ledger(self.lookup, self.forecast, decisions, first=len(self.decisions))
        whole = Ledger(self.lookup, self.forecast, decisions, first=len(decisions))
        whole.parts = (self, rest)
        whole.by_key, whole.keys = self.by_key | rest.by_key, self.keys | rest.keys
        whole.refusals = self.refusals + rest.refusals
        for _, column in _ENTRY_OF.values():
            setattr(whole, column, getattr(self, column) + getattr(rest, column))
        return whole

    def _enter(self, position: int, decision: Decision) -> None:
        entry_of, column = _ENTRY_OF[type(decision)]
        unsound = find.unsound_quantity(decision)
        if unsound is not None:
            return self._refuse(SOUND_QUANTITY, position, unsound)
        entry = entry_of(self.lookup, position, decision)
        if isinstance(entry, str):
            return self._refuse(KNOWN_THINGS, position, entry)
        key = self.keys[position] = decision.key
        if self.by_key.setdefault(key, position) != position:
            return self._refuse(ASKED_ONCE, position, "the same thing is asked for earlier in the list")
        getattr(self, column).append(entry)
        return None

    def counts(self, position: int) -> bool:
        """Whether a decision stands in the totals: it was not refused."""
        return self.by_key.get(self.keys.get(position, ())) == position

    def _refuse(self, rule: str, position: int, sentence: str) -> None:
        self.refusals.append(Refusal(rule, position, acting_site_id(self.decisions[position]), sentence))

    @cached_property
    def lot_entries(self) -> list[find.LotEntry]:
        """Everything that takes doses out of a fridge into another one."""
        return [*self.transfers, *self.fridge_moves]

    @cached_property
    def moves_by_group(self) -> dict[tuple[int, ...], list[find.MoveEntry]]:
        """Moves by the rows of the group they take people from."""
        return grouped(self.moves, lambda entry: entry.rows)

    @cached_property
    def moves_out(self) -> dict[tuple[int, int], list[find.MoveEntry]]:
        """Moves by the site they leave and the role they take away there."""
        return grouped(self.moves, lambda entry: (entry.from_idx, entry.role_idx))

    @cached_property
    def stations(self) -> dict[tuple[int, int], find.StationEntry]:
        """Station changes by site and stage."""
        return {(entry.site_idx, entry.stage_idx): entry for entry in self.station_changes}

    @cached_property
    def doses_out_by_lot(self) -> dict[int, list[find.LotEntry]]:
        """What leaves each lot row, to another site or another fridge."""
        return grouped(self.lot_entries, lambda entry: entry.lot_row)

    @cached_property
    def transfers_by_lot(self) -> dict[int, list[find.TransferEntry]]:
        """Transfers by the lot row they leave."""
        return grouped(self.transfers, lambda entry: entry.lot_row)

    @cached_property
    def transfers_by_giver(self) -> dict[int, list[find.TransferEntry]]:
        """Transfers by the site they leave."""
        return grouped(self.transfers, lambda entry: entry.from_idx)

    @cached_property
    def transfers_by_van(self) -> dict[int, list[find.TransferEntry]]:
        """Transfers by the van that carries them."""
        return grouped(self.transfers, lambda entry: entry.van_idx)

    @cached_property
    def into_fridge(self) -> dict[int, list[find.LotEntry]]:
        """What comes into each fridge row."""
        return grouped(self.lot_entries, lambda entry: entry.to_fridge_row)

    @cached_property
    def out_of_fridge(self) -> dict[int, list[find.LotEntry]]:
        """What leaves each fridge row."""
        return grouped(self.lot_entries, lambda entry: entry.from_fridge_row)

    def position_of_same(self, other: Ledger, position: int) -> int | None:
        """Position here of what stands at a position of another ledger, by its key; None where it is not here."""
        return self.by_key.get(other.keys.get(position, ()))

    def open_after(self, site_idx: int, stage_idx: int) -> int | None:
        """Stations of a stage that are open after the decisions, None where unknown."""
        entry = self.stations.get((site_idx, stage_idx))
        return self.lookup.open_now(site_idx, stage_idx) if entry is None else entry.open_after

    def earlier_lots(self, entry: find.TransferEntry) -> list[int]:
        """
        Lot rows that must leave whole before this one may leave its site (first expired, first out).

        They are at the same site, of the same product, usable, expire earlier, hold a free whole vial, and would still
        have enough life at the end of this trip. What lies in a failing fridge may leave in any order.
        """
        if entry.position not in self._earlier_lots:
            self._earlier_lots[entry.position] = self._find_earlier_lots(entry)
        return self._earlier_lots[entry.position]

    def _find_earlier_lots(self, entry: find.TransferEntry) -> list[int]:
        lookup, lots = self.lookup, self.lookup.state.lots
        if lookup.is_failing(entry.from_fridge_row, entry.product_idx):
            return []
        least_life = self.trip_life_minutes(entry)
        life = lookup.life_minutes(entry.lot_row)
        return [
            row
            for row in lookup.lot_rows(entry.from_idx)
            if lots.product_idx.item(row) == entry.product_idx
            and least_life <= lookup.life_minutes(row) < life
            and lookup.free_vial_doses(row) > 0
            and lookup.is_usable(row)
        ]

    def trip_life_minutes(self, entry: find.TransferEntry) -> float:
        """Life a lot must have now in order to have enough left when this trip ends."""
        travel = self.lookup.city.travel_by_pair.get((entry.from_idx, entry.to_idx), 0.0)
        return travel + self.lookup.limits.min_lot_life_minutes


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Rows by a key, in their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


_ENTRY_OF: dict[type, tuple[Callable[[StateLookup, int, Any], Any], str]] = {
    StaffMove: (find.move_entry, "moves"),
    StationChange: (find.station_entry, "station_changes"),
    DoseTransfer: (find.transfer_entry, "transfers"),
    FridgeMove: (find.fridge_move_entry, "fridge_moves"),
    SetPoint: (find.setting_entry, "set_points"),
    PreCool: (find.setting_entry, "pre_cools"),
    MarkUnusable: (find.mark_entry, "markings"),
    ReleaseSlots: (find.slot_entry, "slot_changes"),
    HoldSlots: (find.slot_entry, "slot_changes"),
    TellArrivalTime: (find.tell_entry, "tellings"),
    SendWalkIns: (find.send_entry, "sendings"),
}
