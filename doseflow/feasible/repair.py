"""Proposal -> nearest allowed decisions, by the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doseflow.domain.decisions import Decision, StationChange
from doseflow.domain.plan import Violation
from doseflow.feasible.highs import NoSolution
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.model import NearestModel
from doseflow.feasible.nearest import nearest_values
from doseflow.feasible.resize import resized
from doseflow.feasible.row_book import model_of
from doseflow.feasible.trouble import troubled_positions
from doseflow.feasible.universe import make_universe


def nearest_decisions(
    proposal: Ledger,
    found: Sequence[Violation],
    pins: Sequence[Decision],
    time_limit_seconds: float,
    *,
    without: frozenset[str] = frozenset(),
) -> tuple[Decision, ...] | NoSolution:
    """
    The decisions nearest to a proposal that break no hard rule and hold every pin.

    Parameters
    ----------
    found
        Every hard violation of the proposal.
    without
        Rules to leave out, for finding out which of them clash.
    """
    # A pin may touch anything, and what a recall demands may stand anywhere, so with either everything may change.
    all_may_change = pins or proposal.lookup.state.commitments.incidents.recalled_lots
    troubled = range(len(proposal.decisions)) if all_may_change else troubled_positions(proposal, found)
    positions = [position for position in troubled if proposal.counts(position)]
    part = Ledger(proposal.lookup, proposal.forecast, [proposal.decisions[position] for position in positions])
    model = model_of(make_universe(part, pins), without=without)
    values = nearest_values(model, time_limit_seconds)
    if isinstance(values, NoSolution):
        return values
    ordered = _ordered(model, part, values)
    planned = [one if proposal.counts(position) else None for position, one in enumerate(proposal.decisions)]
    for position, decision in zip(positions, ordered, strict=False):
        planned[position] = decision
    return tuple(one for one in (*planned, *ordered[len(positions) :]) if one is not None)


def _ordered(model: NearestModel, proposal: Ledger, values: Sequence[int]) -> list[Decision | None]:
    """The choices as they are ordered, None where not, in the words of the proposal where it asks for just the same."""
    ordered: list[Decision | None] = []
    for position, (choice, value) in enumerate(zip(model.choices, values, strict=True)):
        quantity = value * choice.step
        keeps_wish = choice.is_proposed and quantity == choice.asked and position not in model.objected
        if quantity == choice.present and not (isinstance(choice.decision, StationChange) and keeps_wish):
            ordered.append(None)
            continue
        own = proposal.position_of_same(model.ledger, position)
        decision = resized(choice.decision, quantity)
        ordered.append(decision if own is None else _in_own_words(decision, proposal.decisions[own]))
    return ordered


def _in_own_words(decision: Decision, own: Decision) -> Decision:
    """The proposal's own decision, where it differs from what is ordered by no more than its reason."""
    return own if own is decision or replace(decision, why=own.why) == own else decision
