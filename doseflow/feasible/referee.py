"""The referee: judges any list of decisions by the rule book. It knows no solver, and no plan goes out without it."""

from __future__ import annotations

from collections.abc import Sequence

from doseflow.domain.decisions import Decision
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Violation
from doseflow.domain.state import CityState
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.rule_book import HARD_RULES, RULE_BOOK, SOFT_RULES


def referee(state: CityState, forecast: ArrivalForecast, decisions: Sequence[Decision]) -> tuple[Violation, ...]:
    """
    Every breach of every rule, in the order of the rule book, in words.

    The time it takes grows with the decisions and the sites they touch, not with the city.
    """
    ledger = Ledger(StateLookup(state), forecast, decisions)
    return tuple(violation for rule in RULE_BOOK for violation in rule.violations(ledger))


def hard_violations(ledger: Ledger) -> list[Violation]:
    """Breaches that no plan may have."""
    return [violation for rule in HARD_RULES for violation in rule.violations(ledger)]


def soft_violations(ledger: Ledger) -> list[Violation]:
    """Breaches that a plan may have, and then lists."""
    return [violation for rule in SOFT_RULES for violation in rule.violations(ledger)]
