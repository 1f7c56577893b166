"""
Which mandatory things cannot hold together.

A plan is impossible only because of what command demands. The deletion filter takes pins, and then rules, away one at a
time and leaves out each without which the rest still clashes: what is left clashes, and nothing in it is idle.
"""

from __future__ import annotations

from collections.abc import Sequence

from doseflow.domain.decisions import Decision
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Infeasible
from doseflow.feasible.highs import NoSolution
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.referee import hard_violations
from doseflow.feasible.repair import nearest_decisions
from doseflow.feasible.rule_book import HARD_RULES, RULE_BY_NAME
from doseflow.feasible.rules.command import quarantines
from doseflow.feasible.words import phrase

FILTER_SECONDS = 10.0
"""Time limit of one look at a handful of pins; it is never reached in practice, and a clash has no hurry."""
NEVER_IDLE = frozenset({"pinned", "whole_vials"})
"""Rules not worth leaving out: without pins nothing clashes, and vials are built into the model."""


def mandatory_decisions(lookup: StateLookup, forecast: ArrivalForecast) -> tuple[Decision, ...] | Infeasible:
    """The least that command's wishes demand, with what rules demand beside them; or the rules that clash."""
    pins = lookup.state.commitments.pinned
    if not pins and not lookup.suspended and not quarantines(lookup):
        return ()
    decisions = nearest_decisions(Ledger(lookup, forecast, ()), (), pins, FILTER_SECONDS)
    return find_clash(lookup, forecast) if isinstance(decisions, NoSolution) else decisions


def find_clash(lookup: StateLookup, forecast: ArrivalForecast) -> Infeasible:
    """A small set of pins and rules that cannot hold together, in words."""
    pins = _filter_pins(lookup, forecast)
    rules = _filter_rules(lookup, forecast, pins)
    sentences = [f"pinned by command: {phrase(pin, lookup.city)[0]}" for pin in pins]
    broken = [one for one in hard_violations(Ledger(lookup, forecast, pins)) if one.rule in rules]
    spoken = {violation.rule for violation in broken}
    sentences += [f"{violation.rule}: {violation.sentence}" for violation in broken]
    sentences += [f"{rule}: {RULE_BY_NAME[rule].sentence}" for rule in rules if rule not in spoken]
    return Infeasible(("pinned", *rules), tuple(dict.fromkeys(sentences)))


def _filter_pins(lookup: StateLookup, forecast: ArrivalForecast) -> list[Decision]:
    kept = list(lookup.state.commitments.pinned)
    for pin in list(kept):
        fewer = [one for one in kept if one is not pin]
        if _clashes(lookup, forecast, fewer, frozenset()):
            kept = fewer
    return kept


def _filter_rules(lookup: StateLookup, forecast: ArrivalForecast, pins: Sequence[Decision]) -> tuple[str, ...]:
    by_pins_alone = Ledger(lookup, forecast, pins)
    if by_pins_alone.refusals:
        return tuple(dict.fromkeys(refusal.rule for refusal in by_pins_alone.refusals))
    names = frozenset(rule.name for rule in HARD_RULES) - NEVER_IDLE
    idle = names - {violation.rule for violation in hard_violations(by_pins_alone)}
    if not _clashes(lookup, forecast, pins, idle):
        idle = frozenset()
    # From the end of the book, so that of two rules that say nearly the same the plainer one is left.
    for rule in reversed(HARD_RULES):
        if rule.name in names - idle and _clashes(lookup, forecast, pins, idle | {rule.name}):
            idle |= {rule.name}
    return tuple(rule.name for rule in HARD_RULES if rule.name in names - idle)


def _clashes(lookup: StateLookup, forecast: ArrivalForecast, pins: Sequence[Decision], without: frozenset[str]) -> bool:
    outcome = nearest_decisions(Ledger(lookup, forecast, ()), (), pins, FILTER_SECONDS, without=without)
    return outcome is NoSolution.IMPOSSIBLE
