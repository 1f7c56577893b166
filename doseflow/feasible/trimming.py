"""
A plan that is allowed, though not the nearest: decisions are cut back, the last named first, until none breaks a hard
rule.

Every pass cuts something, so it ends; the same proposal always gives the same plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from doseflow.domain.decisions import Decision, DoseTransfer, FridgeMove, PreCool, SetPoint, StationChange
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Violation
from doseflow.feasible.distance import asked_quantity, present_quantity
from doseflow.feasible.entries import unsound_quantity
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import WHOLE_TOLERANCE, StateLookup
from doseflow.feasible.referee import hard_violations
from doseflow.feasible.resize import resized
from doseflow.feasible.rule_book import RULE_BY_NAME

CUTTING_PASSES = 6
"""Passes that cut by just what is too much; in later ones a decision that is named is dropped whole."""

Floors = Mapping[tuple[str, ...], Decision]
"""Mandatory decisions by key: none is cut below its own."""


def trimmed_decisions(
    lookup: StateLookup, forecast: ArrivalForecast, proposed: Sequence[Decision], mandatory: Sequence[Decision]
) -> tuple[Decision, ...]:
    """
    Cut a proposal back until the referee has no hard objection.

    Parameters
    ----------
    mandatory
        Decisions that stay with at least their quantity; allowed by themselves.
    """
    floors = {decision.key: decision for decision in mandatory}
    decisions = _with_mandatory(proposed, floors)
    for passes in range(len(decisions) + CUTTING_PASSES):
        found = hard_violations(Ledger(lookup, forecast, decisions))
        if not found:
            return tuple(decisions)
        cut = _Cut(lookup, decisions, floors, drops_whole=passes >= CUTTING_PASSES)
        for violation in found:
            cut.answer(violation)
        if (shorter := cut.remaining()) == decisions:
            break
        decisions = shorter
    return tuple(mandatory)


def _with_mandatory(proposed: Sequence[Decision], floors: Floors) -> list[Decision]:
    """The proposal with mandatory decisions in the place of their like or at the end; the larger amount counts."""
    decisions, placed = [], set()
    for decision in proposed:
        floor = floors.get(decision.key)
        if floor is None:
            decisions.append(decision)
        elif decision.key not in placed:
            placed.add(decision.key)
            decisions.append(floor if _is_target(decision) or not decision.quantity > floor.quantity else decision)
    return [*decisions, *(decision for key, decision in floors.items() if key not in placed)]


def _is_target(decision: Decision) -> bool:
    return isinstance(decision, StationChange | SetPoint | PreCool)


class _Cut:
    """One pass: how much of each decision is left, as each violation takes what is too much from those it names."""

    def __init__(
        self, lookup: StateLookup, decisions: Sequence[Decision], floors: Floors, *, drops_whole: bool
    ) -> None:
        self._lookup = lookup
        self._decisions = decisions
        self._floors = floors
        self._drops_whole = drops_whole
        self._changes = [self._change(decision) for decision in decisions]
        self._left = list(self._changes)

    def answer(self, violation: Violation) -> None:
        """Cut what a violation names, the last first, by what earlier answers of this pass have not cut yet."""
        unit, named = RULE_BY_NAME[violation.rule].unit, violation.decision_idx
        weights = {idx: self._litres(idx) if unit == "litres" else 1.0 for idx in named}
        owed = violation.amount - sum(weights[idx] * (self._changes[idx] - self._left[idx]) for idx in named)
        for idx in reversed(named):
            if not unit or self._drops_whole:
                self._left[idx] = self._least(idx)
            elif owed > WHOLE_TOLERANCE:
                before = self._left[idx]
                self._left[idx] = self._whole(idx, before - math.ceil(owed / weights[idx] - WHOLE_TOLERANCE))
                owed -= weights[idx] * (before - self._left[idx])

    def remaining(self) -> list[Decision]:
        """What is left of the decisions."""
        kept = []
        for decision, change, left in zip(self._decisions, self._changes, self._left, strict=True):
            floor = self._floors.get(decision.key)
            if left == change and change > 0:
                kept.append(decision)
            elif floor is not None and left <= self._change(floor):
                kept.append(floor)
            elif left > 0:
                kept.append(resized(decision, self._towards_present(decision, left)))
        return kept

    def _change(self, decision: Decision) -> int:
        """By how much a decision changes what holds without it; a station change that changes nothing counts as one."""
        if unsound_quantity(decision) is not None:
            return 1
        return max(1, abs(asked_quantity(decision) - present_quantity(self._lookup, decision)))

    def _towards_present(self, decision: Decision, change: int) -> int:
        present = present_quantity(self._lookup, decision)
        return present + (change if asked_quantity(decision) > present else -change)

    def _least(self, idx: int) -> int:
        floor = self._floors.get(self._decisions[idx].key)
        return 0 if floor is None else min(self._left[idx], self._change(floor))

    def _whole(self, idx: int, change: int) -> int:
        """A smaller change that is whole vials where doses travel, and not below what is mandatory."""
        decision = self._decisions[idx]
        if isinstance(decision, DoseTransfer | FridgeMove):
            per_vial = self._lookup.doses_per_vial(self._lookup.city.product_to_idx[decision.product_id])
            change = change // per_vial * per_vial
        return max(change, self._least(idx))

    def _litres(self, idx: int) -> float:
        decision = self._decisions[idx]
        if not isinstance(decision, DoseTransfer | FridgeMove):
            return 1.0
        return self._lookup.litres_per_dose(self._lookup.city.product_to_idx[decision.product_id])
