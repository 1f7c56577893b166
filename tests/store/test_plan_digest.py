from __future__ import annotations

from dataclasses import replace

import pytest
from store_samples import make_plan, one_of_each_kind

from doseflow.domain.decisions import Why
from doseflow.store.plan_digest import plan_digest

DECISIONS = one_of_each_kind()


def test_the_digest_knows_neither_reasons_nor_the_order_of_the_decisions() -> None:
    plan = make_plan(DECISIONS)
    other_words = make_plan(tuple(replace(one, why=Why("other", {"x": 1.0})) for one in reversed(DECISIONS)))
    other_words = replace(
        other_words,
        planner="another",
        distance=9.0,
        decisions=tuple(replace(one, reason_en="x", proposed_quantity=None) for one in other_words.decisions),
    )
    assert plan_digest(plan) == plan_digest(other_words)


@pytest.mark.parametrize("position", range(len(DECISIONS)), ids=[one.kind for one in DECISIONS])
def test_the_digest_knows_every_decision_and_its_quantity(position: int) -> None:
    digests = {plan_digest(make_plan(DECISIONS))}
    without = DECISIONS[:position] + DECISIONS[position + 1 :]
    digests.add(plan_digest(make_plan(without)))
    other = one_of_each_kind(3)[position]
    digests.add(plan_digest(make_plan((*without, other))))
    digests.add(plan_digest(make_plan((*DECISIONS, other))))
    assert len(digests) == (4 if other != DECISIONS[position] else 3)


def test_a_plan_without_decisions_has_a_digest_too() -> None:
    assert len(plan_digest(make_plan(()))) == 64
