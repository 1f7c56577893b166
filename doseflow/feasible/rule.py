"""A rule: its name, whether it may be broken, what it demands, why it exists, who says so, and how to check it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from doseflow.domain.plan import Violation
from doseflow.feasible.ledger import Ledger

ASSUMED = "assumed"
OPERATING_LIMIT = "operating limit of the city"


class Finding(NamedTuple):
    """One breach: where, in words with quantity and bound, by how much in the rule's unit, by which decisions."""

    site_id: str
    sentence: str
    amount: float
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """
    A rule of the book.

    Parameters
    ----------
    hard
        A hard rule is never broken by a plan; a breach of a soft one is listed with the plan.
    sentence, sentence_zh
        What the rule demands.
    unit
        Unit of a finding's amount; empty where the rule knows only yes and no.
    each_alone
        Whether the rule judges each decision by itself and whatever its quantity: one that it objects to is dropped.
    """

    name: str
    hard: bool
    sentence: str
    sentence_zh: str
    reason: str
    source: str
    check: Callable[[Ledger], Iterator[Finding]]
    unit: str = ""
    each_alone: bool = False

    def findings(self, ledger: Ledger) -> tuple[Finding, ...]:
        """Every breach of this rule; a ledger is judged once."""
        found = ledger.judged.get(self.name)
        if found is None:
            found = ledger.judged[self.name] = tuple(self.check(ledger))
        return found

    def objections(self, ledger: Ledger) -> list[int]:
        """Positions that a rule of each decision alone objects to, judging only what was not judged before."""
        return [position for part in ledger.parts for one in self.findings(part) for position in one.positions]

    def violations(self, ledger: Ledger) -> list[Violation]:
        """Every breach of this rule, in words."""
        return [
            Violation(self.name, finding.site_id, finding.sentence, finding.amount, self.hard, finding.positions)
            for finding in self.findings(ledger)
        ]
