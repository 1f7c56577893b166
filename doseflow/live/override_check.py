"""Whether another quantity of an order is allowed: the referee's answer on the latest plan with it."""

from __future__ import annotations

from dataclasses import replace

from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import Decision, PreCool, SetPoint
from doseflow.feasible.entries import unsound_quantity
from doseflow.feasible.referee import referee
from doseflow.feasible.resize import resized


def with_quantity(decision: Decision, quantity: float) -> Decision:
    """The decision in another quantity; one that is no whole number is left for the referee to refuse."""
    if isinstance(decision, SetPoint):
        return replace(decision, set_point_celsius=quantity)
    if isinstance(decision, PreCool):
        return replace(decision, target_celsius=quantity)
    return resized(decision, int(quantity) if float(quantity).is_integer() else quantity)  # type: ignore[arg-type]


def objection_to(cycle: Cycle, decision: Decision) -> str:
    """
    The hard rule that the latest plan would break with this decision in the place of its like, in words; empty if none.

    An earlier override of the same decision does not stand in its way.
    """
    unsound = unsound_quantity(decision)
    if unsound is not None:
        return f"sound_quantity: {unsound}"
    others = [one.decision for one in cycle.plan.decisions if one.decision.key != decision.key]
    before = cycle.state.commitments
    commitments = replace(
        before,
        pinned=tuple(one for one in before.pinned if one.key != decision.key),
        overridden=tuple(one for one in before.overridden if one.key != decision.key),
    )
    state = replace(cycle.state, commitments=commitments)
    found = [one for one in referee(state, cycle.forecast, [*others, decision]) if one.hard]
    known = {one.sentence for one in referee(state, cycle.forecast, others) if one.hard}
    new = [one for one in found if len(others) in one.decision_idx or one.sentence not in known]
    return f"{new[0].rule}: {new[0].sentence}" if new else ""
