"""Which orders wait for a person before they go out, for how long, and what happens when nobody answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from doseflow.domain.decisions import KIND_TO_FAMILY, Decision, DecisionKind, Family, acting_site_id, expecting_site_id

MAX_MINUTES = 24 * 60.0
COMMANDED_CODES = frozenset({"suspended", "recalled"})
"""Reasons of decisions that carry out what a person has commanded already: nobody is asked twice."""


class Approval(StrEnum):
    """Whether an order waits for a person, and what becomes of it when nobody answers in time."""

    AUTOMATIC = "automatic"
    """Goes out at once."""
    GOES_OUT = "goes_out"
    """Waits for some minutes, then goes out."""
    LAPSES = "lapses"
    """Waits for some minutes, then lapses."""
    ALWAYS_ASK = "always_ask"
    """Waits until a person answers or the plan no longer wants it."""


TIMED = frozenset({Approval.GOES_OUT, Approval.LAPSES})


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """
    Orders that it speaks of, and how they are approved.

    What is left out speaks of everything; of two sites it is enough that one is named. `minutes` are needed by the
    modes `goes_out` and `lapses`.
    """

    mode: Approval
    kinds: tuple[DecisionKind, ...] = ()
    families: tuple[Family, ...] = ()
    site_ids: tuple[str, ...] = ()
    min_quantity: float = 0.0
    """Smallest quantity, in the decision's own unit (people, doses, stations, celsius)."""
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.mode in TIMED and not (self.minutes is not None and 0 < self.minutes <= MAX_MINUTES):
            raise ValueError(f"minutes: must lie in 0..{MAX_MINUTES:g} for the mode {self.mode}, got {self.minutes}")
        if self.mode not in TIMED and self.minutes is not None:
            raise ValueError(f"minutes: must be left out for the mode {self.mode}, got {self.minutes}")
        if not self.min_quantity >= 0:
            raise ValueError(f"min_quantity: must be at least 0, got {self.min_quantity}")

    def speaks_of(self, decision: Decision) -> bool:
        """Whether the rule is about such a decision."""
        named_sites = {acting_site_id(decision), expecting_site_id(decision)}
        return (
            (not self.kinds or decision.kind in self.kinds)
            and (not self.families or KIND_TO_FAMILY[decision.kind] in self.families)
            and (not self.site_ids or not named_sites.isdisjoint(self.site_ids))
            and decision.quantity >= self.min_quantity
        )

    def decide_by(self, now: datetime) -> datetime | None:
        """When the fall-back comes, None where it never does."""
        return None if self.minutes is None else now + timedelta(minutes=self.minutes)


AUTOMATIC_RULE = ApprovalRule(Approval.AUTOMATIC)


@dataclass(frozen=True, slots=True)
class ApprovalParams:
    """
    How orders are approved: the first rule that speaks of a decision counts; without one it goes out at once.

    What a person has approved goes out `undo_seconds` later, and can be undone until then.
    """

    rules: tuple[ApprovalRule, ...] = field(default=())
    undo_seconds: float = 10.0

    def __post_init__(self) -> None:
        if not 0 <= self.undo_seconds <= 300:
            raise ValueError(f"undo_seconds: must lie in 0..300, got {self.undo_seconds}")

    def rule_for(self, decision: Decision) -> ApprovalRule:
        """The rule that a decision falls under."""
        if decision.why.code in COMMANDED_CODES:
            return AUTOMATIC_RULE
        return next((rule for rule in self.rules if rule.speaks_of(decision)), AUTOMATIC_RULE)
