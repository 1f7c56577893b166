"""Proposal -> nearest allowed decisions, by the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doseflow.domain.decisions import Decision, StationChange
from doseflow.feasible.highs import NoSolution
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.model import NearestModel
from doseflow.feasible.nearest import nearest_values
from doseflow.feasible.resize import resized
from doseflow.feasible.row_book import model_of
from doseflow.feasible.universe import make_universe


def nearest_decisions(
    proposal: Ledger, pins: Sequence[Decision], time_limit_seconds: float, *, without: frozenset[str] = frozenset()
) -> tuple[Decision, ...] | NoSolution:
    """
    The decisions nearest to a proposal that break no hard rule and hold every pin.

    Parameters
    ----------
    without
        Rules to leave out, for finding out which of them clash.
    """
    model = model_of(make_universe(proposal, pins), without=without)
    values = nearest_values(model, time_limit_seconds)
    return values if isinstance(values, NoSolution) else _ordered(model, proposal, values)


def _ordered(model: NearestModel, proposal: Ledger, values: Sequence[int]) -> tuple[Decision, ...]:
    """The choices that are ordered, in the words of the proposal where it asks for just the same."""
    ordered = []
    for position, (choice, value) in enumerate(zip(model.choices, values, strict=True)):
        quantity = value * choice.step
        keeps_wish = choice.is_proposed and quantity == choice.asked and position not in model.objected
        is_ordered = quantity != choice.present or (isinstance(choice.decision, StationChange) and keeps_wish)
        if is_ordered:
            own = proposal.position_of_same(model.ledger, position)
            decision = resized(choice.decision, quantity)
            ordered.append(decision if own is None else _in_own_words(decision, proposal.decisions[own]))
    return tuple(ordered)


def _in_own_words(decision: Decision, own: Decision) -> Decision:
    """The proposal's own decision, where it differs from what is ordered by no more than its reason."""
    return own if own is decision or replace(decision, why=own.why) == own else decision
