"""
What the repair may change: the proposed decisions, the pinned ones, and the few that a rule may demand beside them.

A proposed quantity is only ever cut, with two exceptions: stations close where their people leave or where the site is
suspended, and a lot that expires earlier is sent along so that a later one may go. Everything else stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from doseflow.domain.decisions import Decision, DoseTransfer, FridgeMove, PreCool, SetPoint, StationChange, Why
from doseflow.domain.roles import NUM_ROLES, STAGES
from doseflow.feasible.distance import asked_quantity
from doseflow.feasible.entries import TransferEntry
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.rules.command import is_target, pinned_amount, promised_already, quarantines


@dataclass(slots=True)
class Choice:
    """
    One decision whose quantity the repair chooses, in steps of `step` of its own unit (the doses of a vial, else 1).

    `asked` is what the proposal asks for, in the decision's unit; `present` what holds if it is not ordered.
    """

    decision: Decision
    asked: int
    step: int
    lower: int
    upper: int
    present: int
    is_proposed: bool


@dataclass(frozen=True, slots=True)
class Universe:
    """Everything the repair may order: `choices` and the ledger's decisions stand at the same positions."""

    ledger: Ledger
    choices: tuple[Choice, ...]
    pins: tuple[Decision, ...]


def make_universe(proposal: Ledger, pins: Sequence[Decision]) -> Universe:
    """
    Gather what may vary around a proposal.

    Parameters
    ----------
    proposal
        The proposed decisions, entered.
    pins
        Decisions that must be in the plan.
    """
    lookup, forecast = proposal.lookup, proposal.forecast
    first = Ledger(lookup, forecast, _with_pins(proposal, pins)) if pins else proposal
    added = _demanded(first)
    ledger = _with_closings(first).extended(added)
    raisable = {row for entry in ledger.transfers for row in ledger.earlier_lots(entry)}
    present = {entry.position: entry.open_now or 0 for entry in ledger.station_changes}
    choices = [
        _choice(ledger, position, proposal.position_of_same(ledger, position), present.get(position, 0), proposal)
        for position in range(len(ledger.decisions))
    ]
    _allow_raising(ledger, choices, raisable)
    _allow_pins(ledger, choices, pins)
    _allow_quarantines(ledger, choices)
    return Universe(ledger, tuple(choices), tuple(pins))


def _with_pins(proposal: Ledger, pins: Sequence[Decision]) -> list[Decision]:
    """The proposal with each pin at the place of its like, or at the end."""
    decisions = list(proposal.decisions)
    for pin in {pin.key: pin for pin in reversed(pins)}.values():
        position = proposal.by_key.get(pin.key)
        if position is None:
            decisions.append(pin)
        else:
            decisions[position] = pin
    return decisions


def _with_closings(ledger: Ledger) -> Ledger:
    """The ledger with every station change at a suspended site turned into its closing."""
    there = [entry for entry in ledger.station_changes if entry.site_idx in ledger.lookup.suspended]
    if not there:
        return ledger
    decisions = list(ledger.decisions)
    for entry in there:
        decisions[entry.position] = _closing(ledger, entry.site_idx, entry.stage_idx, entry.open_now or 0)
    return Ledger(ledger.lookup, ledger.forecast, decisions)


def _demanded(ledger: Ledger) -> list[Decision]:
    """What rules may demand beside the decisions: closings, lots that must leave first, what a recall takes away."""
    lookup = ledger.lookup
    stages = [*ledger.moves_out, *((site, stage) for site in sorted(lookup.suspended) for stage in range(NUM_ROLES))]
    closings = [
        _closing(ledger, site_idx, stage_idx, now)
        for site_idx, stage_idx in dict.fromkeys(stages)
        if (site_idx, stage_idx) not in ledger.stations and (now := lookup.open_now(site_idx, stage_idx))
    ]
    lots = (_sent_along(ledger, entry, row) for entry in ledger.transfers for row in ledger.earlier_lots(entry))
    fresh = {lot.key: lot for lot in lots if lot is not None and lot.key not in ledger.by_key}
    marks = [mark for mark in quarantines(lookup) if mark.key not in ledger.by_key]
    return [*closings, *fresh.values(), *marks]


def _closing(ledger: Ledger, site_idx: int, stage_idx: int, now: int) -> StationChange:
    code = "suspended" if site_idx in ledger.lookup.suspended else "unstaffed_station"
    return StationChange(ledger.lookup.site_id(site_idx), STAGES[stage_idx], now, 0, Why(code))


def _sent_along(ledger: Ledger, entry: TransferEntry, lot_row: int) -> DoseTransfer | None:
    """The transfer of a lot that expires earlier on the same trip into the same fridge."""
    lookup, lots, later = ledger.lookup, ledger.lookup.state.lots, entry.decision
    fridge_row = int(lots.fridge_row.item(lot_row))
    if fridge_row < 0:
        return None
    return DoseTransfer(
        from_site_id=later.from_site_id,
        to_site_id=later.to_site_id,
        product_id=later.product_id,
        lot_number=lots.lot_number[lot_row],
        from_fridge_id=lookup.state.fridges.fridge_id[fridge_row],
        to_fridge_id=later.to_fridge_id,
        van_id=later.van_id,
        doses=lookup.free_vial_doses(lot_row),
        travel_minutes=later.travel_minutes,
        why=Why("earlier_lot", {"later_lot_number": later.lot_number}),
    )


def _choice(ledger: Ledger, position: int, asked_at: int | None, present: int, proposal: Ledger) -> Choice:
    """The choice at a position, asked for at another of the proposal; what the ledger refused can only be dropped."""
    decision = ledger.decisions[position]
    if not ledger.counts(position):
        return Choice(decision, 0, 1, 0, 0, 0, is_proposed=False)
    wanted = present if asked_at is None else _wanted(decision, proposal.decisions[asked_at])
    step = _step(ledger, decision)
    return Choice(decision, wanted, step, 0, max(wanted, present) // step, present, is_proposed=asked_at is not None)


def _wanted(decision: Decision, wish: Decision) -> int:
    """What the proposal asks for of a decision: a setting to another temperature does not ask for this one."""
    if isinstance(decision, SetPoint | PreCool) and wish.quantity != decision.quantity:
        return 0
    return asked_quantity(wish)


def _step(ledger: Ledger, decision: Decision) -> int:
    if not isinstance(decision, DoseTransfer | FridgeMove):
        return 1
    return ledger.lookup.doses_per_vial(ledger.lookup.city.product_to_idx[decision.product_id])


def _allow_raising(ledger: Ledger, choices: Sequence[Choice], lot_rows: Iterable[int]) -> None:
    """Let every transfer of a lot that must leave first take all of it."""
    for row in lot_rows:
        for entry in ledger.transfers_by_lot.get(row, []):
            choice = choices[entry.position]
            choice.upper = max(choice.upper, ledger.lookup.free_vial_doses(row) // choice.step)


def _allow_pins(ledger: Ledger, choices: Sequence[Choice], pins: Iterable[Decision]) -> None:
    """Let every pinned decision reach what its pin demands."""
    for pin in pins:
        position = ledger.by_key.get(pin.key)
        if position is not None and not promised_already(ledger.lookup, pin):
            choice = choices[position]
            needed = asked_quantity(pin) if is_target(pin) else int(pinned_amount(ledger.lookup, pin))
            choice.upper = max(choice.upper, -(-needed // choice.step))


def _allow_quarantines(ledger: Ledger, choices: Sequence[Choice]) -> None:
    """Let every recalled lot be taken out of use whole."""
    for mark in quarantines(ledger.lookup):
        position = ledger.by_key.get(mark.key)
        if position is not None:
            choices[position].upper = max(choices[position].upper, mark.doses)
