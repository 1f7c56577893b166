"""Levers: what a planner may do at all, one by one; a city may forbid some, and an ablation says what each is worth."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import TypeVar

from doseflow.domain.decisions import Decision, DecisionKind

One = TypeVar("One", bound=Decision)


class Lever(StrEnum):
    """A family of decisions, those on arrivals told apart."""

    MOVES = "moves"
    """Staff goes from site to site."""
    STATIONS = "stations"
    """Stations open and close."""
    DOSES = "doses"
    """Doses travel between sites."""
    COLD_CHAIN = "cold_chain"
    """Lots change fridges, fridges are cooled ahead or set right, spoilt lots are marked."""
    WALK_INS = "walk_ins"
    """Walk-ins are sent on."""
    PRICES = "prices"
    """They are sent on by what an arrival costs; without it by the wait that they must expect, as the rules do."""
    SLOTS = "slots"
    """Slots are held and released, and people are told another time."""


KIND_TO_LEVER: dict[DecisionKind, Lever] = {
    DecisionKind.STAFF_MOVE: Lever.MOVES,
    DecisionKind.STATION_CHANGE: Lever.STATIONS,
    DecisionKind.DOSE_TRANSFER: Lever.DOSES,
    DecisionKind.FRIDGE_MOVE: Lever.COLD_CHAIN,
    DecisionKind.PRE_COOL: Lever.COLD_CHAIN,
    DecisionKind.MARK_UNUSABLE: Lever.COLD_CHAIN,
    DecisionKind.SET_POINT: Lever.COLD_CHAIN,
    DecisionKind.RELEASE_SLOTS: Lever.SLOTS,
    DecisionKind.HOLD_SLOTS: Lever.SLOTS,
    DecisionKind.TELL_ARRIVAL_TIME: Lever.SLOTS,
    DecisionKind.SEND_WALK_INS: Lever.WALK_INS,
}


def left_of(decisions: Iterable[One], without: Collection[Lever]) -> tuple[One, ...]:
    """Decisions of the levers that may be pulled."""
    return tuple(one for one in decisions if KIND_TO_LEVER[one.kind] not in without)
