"""
Which decisions a repair must look at: those that break a rule, and those that share something with them.

Two decisions share what a rule may add up: a site's people and stations, its doses, a van, a fridge, a booking bin, its
walk-ins. Whoever shares nothing with trouble, directly or through others, stays as it is in the nearest plan too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from doseflow.domain.plan import Violation
from doseflow.feasible.ledger import Ledger

Shared = tuple[object, ...]


def troubled_positions(ledger: Ledger, found: Sequence[Violation]) -> list[int]:
    """
    Positions that the repair of these hard violations may change, in order.

    Suspended sites are trouble by themselves, since their stations must close whether or not a decision is at fault.
    """
    shared = {position: tuple(things) for position, things in _shared_things(ledger)}
    holders: dict[Shared, list[int]] = {}
    for position, things in shared.items():
        for thing in things:
            holders.setdefault(thing, []).append(position)
    suspended = [("people", site_idx) for site_idx in ledger.lookup.suspended]
    named = {position for violation in found for position in violation.decision_idx}
    return sorted(_reached(named, suspended, shared, holders))


def _reached(
    named: set[int], things: Iterable[Shared], shared: dict[int, tuple[Shared, ...]], holders: dict[Shared, list[int]]
) -> set[int]:
    reached, seen = set(named), set(things)
    fresh = [*seen, *(thing for position in named for thing in shared.get(position, ()))]
    seen.update(fresh)
    while fresh:
        for position in holders.get(fresh.pop(), ()):
            if position not in reached:
                reached.add(position)
                new = [thing for thing in shared[position] if thing not in seen]
                seen.update(new)
                fresh += new
    return reached


def _shared_things(ledger: Ledger) -> Iterator[tuple[int, Sequence[Shared]]]:
    """Positions of decisions that share something, and what they share; all others stand alone."""
    for move in ledger.moves:
        yield move.position, [("people", move.from_idx)]
    for change in ledger.station_changes:
        yield change.position, [("people", change.site_idx)]
    for carried in ledger.transfers:
        fridges = [("fridge", carried.from_fridge_row), ("fridge", carried.to_fridge_row)]
        yield carried.position, [("doses", carried.from_idx), ("van", carried.van_idx), *fridges]
    for moved in ledger.fridge_moves:
        fridges = [("fridge", moved.from_fridge_row), ("fridge", moved.to_fridge_row)]
        yield moved.position, [("doses", moved.from_idx), *fridges]
    for setting in (*ledger.set_points, *ledger.pre_cools):
        yield setting.position, [("fridge", setting.fridge_row)]
    for slots in ledger.slot_changes:
        yield slots.position, [("slots", slots.site_idx, slots.decision.bin_idx)]
    for send in ledger.sendings:
        yield send.position, [("walk-ins", send.from_idx)]
