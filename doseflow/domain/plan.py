"""Proposal (what a policy would like), Plan (what is allowed), Violation, and Infeasible (a value, no exception)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from doseflow.domain.decisions import Decision


@dataclass(frozen=True, slots=True)
class Proposal:
    """
    What a policy would like. It may break any rule.

    `why_this_planner` is empty unless another planner than the chosen one answered; `made_by` says which model was
    asked and why that one, empty where the planner has none.
    """

    planner: str
    decisions: tuple[Decision, ...]
    why_this_planner: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One rule broken by one plan at one place.

    `decision_idx` are the positions of the decisions involved; `amount` says by how much, in the rule's own unit.
    """

    rule: str
    site_id: str
    sentence: str
    amount: float
    hard: bool
    decision_idx: tuple[int, ...] = ()


class RepairPath(StrEnum):
    """How a proposal became a plan."""

    UNTOUCHED = "untouched"
    """The proposal was allowed as it stood."""
    SOLVER = "solver"
    """The solver found the nearest allowed plan."""
    TRIMMED = "trimmed"
    """The solver ran out of time; decisions were cut back until none broke a rule."""
    HELD = "held"
    """Nothing is ordered, because no plan is allowed."""


@dataclass(frozen=True, slots=True)
class PlannedDecision:
    """An allowed decision with its reason in words; `proposed_quantity` is what the policy asked for, or None."""

    decision: Decision
    reason_en: str
    reason_zh: str
    proposed_quantity: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What is allowed.

    `dropped` are the proposed decisions that were not allowed, with the rule that stopped each; `soft_violations` the
    breaches of soft rules that remain. `why_this_planner` is empty unless another planner than the chosen one answered;
    `made_by` always says who made the plan, with which model, and why.
    """

    planner: str
    as_of: datetime
    decisions: tuple[PlannedDecision, ...]
    repair_path: RepairPath
    distance: float
    """Weighted sum of the changes that the repair made to the proposal; 0 when untouched."""
    dropped: tuple[PlannedDecision, ...] = ()
    soft_violations: tuple[Violation, ...] = ()
    why_this_planner: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No plan is allowed: `clashing_rules` cannot hold together, `sentences` say it in words."""

    clashing_rules: tuple[str, ...]
    sentences: tuple[str, ...]
