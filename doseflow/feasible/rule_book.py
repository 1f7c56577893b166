"""The rule book: every rule of a plan, in the order in which they are judged and built into the model."""

from __future__ import annotations

from doseflow.feasible.rule import Rule
from doseflow.feasible.rules.arrivals import ARRIVAL_RULES
from doseflow.feasible.rules.cold_chain import COLD_CHAIN_RULES
from doseflow.feasible.rules.command import COMMAND_RULES
from doseflow.feasible.rules.doses import DOSE_RULES
from doseflow.feasible.rules.sense import SENSE_RULES
from doseflow.feasible.rules.staff import STAFF_RULES
from doseflow.feasible.rules.stations import STATION_RULES

RULE_BOOK: tuple[Rule, ...] = (
    *SENSE_RULES,
    *COMMAND_RULES,
    *STAFF_RULES,
    *STATION_RULES,
    *DOSE_RULES,
    *COLD_CHAIN_RULES,
    *ARRIVAL_RULES,
)
HARD_RULES = tuple(rule for rule in RULE_BOOK if rule.hard)
SOFT_RULES = tuple(rule for rule in RULE_BOOK if not rule.hard)
RULE_BY_NAME = {rule.name: rule for rule in RULE_BOOK}


def as_markdown() -> str:
    """The book as the table in docs/reference/rules.md."""
    lines = ["| rule | kind | what it demands | why | source |", "|---|---|---|---|---|"]
    lines += [
        f"| `{rule.name}` | {'hard' if rule.hard else 'soft'} | {rule.sentence} | {rule.reason} | {rule.source} |"
        for rule in RULE_BOOK
    ]
    return "\n".join(lines) + "\n"
