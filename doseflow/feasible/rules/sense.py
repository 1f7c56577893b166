"""Rules of plain sense: a decision names things that exist, asks for an amount that means something, and asks once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from doseflow.feasible.ledger import ASKED_ONCE, KNOWN_THINGS, SOUND_QUANTITY, Ledger
from doseflow.feasible.rule import ASSUMED, Finding, Rule


def _refused(rule: str, ledger: Ledger) -> Iterator[Finding]:
    for refusal in ledger.refusals:
        if refusal.rule == rule:
            yield Finding(refusal.site_id, refusal.sentence, 1.0, (refusal.position,))


SENSE_RULES = (
    Rule(
        name=KNOWN_THINGS,
        hard=True,
        sentence="Every site, role, stage, staff group, lot, fridge and van that a decision names is where it says.",
        sentence_zh="所提到的接种点、人员、批号、冰箱和车辆须真实存在",
        reason="An order about something that does not exist cannot be carried out, and hides a mistake.",
        source=ASSUMED,
        check=partial(_refused, KNOWN_THINGS),
        each_alone=True,
    ),
    Rule(
        name=SOUND_QUANTITY,
        hard=True,
        sentence="People, stations and doses are whole numbers, not negative; temperatures and delays are numbers.",
        sentence_zh="人数、台数、剂数须为非负整数，温度和时间须为数字",
        reason="A planner may go wrong, and half a person or NaN doses must never reach a site.",
        source=ASSUMED,
        check=partial(_refused, SOUND_QUANTITY),
        each_alone=True,
    ),
    Rule(
        name=ASKED_ONCE,
        hard=True,
        sentence="The same thing is asked for once; of two decisions with the same key the first counts.",
        sentence_zh="同一事项只下达一次",
        reason="Orders are told apart by what they ask, so a second one would be taken for the first.",
        source=ASSUMED,
        check=partial(_refused, ASKED_ONCE),
        each_alone=True,
    ),
)
