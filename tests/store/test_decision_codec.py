from __future__ import annotations

import math
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_samples import WHY, one_of_each_kind

from doseflow.domain.decisions import Decision, DecisionKind, PreCool, Why
from doseflow.domain.roles import Role, Stage
from doseflow.store.decision_codec import (
    KIND_TO_CLASS,
    decision_from_dict,
    decision_from_json,
    decision_to_json,
    identity,
)

TEXT = st.text(max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TYPE_TO_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(-(2**53), 2**53),
    "float": NUMBERS,
    "Role": st.sampled_from(Role),
    "Stage": st.sampled_from(Stage),
    "Why": st.builds(Why, TEXT, st.dictionaries(TEXT, NUMBERS | TEXT | st.integers(-(2**53), 2**53), max_size=4)),
    "datetime": st.datetimes(
        datetime(1970, 1, 2),
        datetime(2100, 1, 1),
        timezones=st.sampled_from((UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-3, minutes=-30)))),
    ),
}


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    kind = draw(st.sampled_from(DecisionKind))
    cls = KIND_TO_CLASS[kind]
    return cls(**{one.name: draw(TYPE_TO_VALUES[str(one.type)]) for one in fields(cls) if one.name != "kind"})


@settings(max_examples=150)
@given(decisions())
def test_any_decision_comes_back_without_a_difference(decision: Decision) -> None:
    back = decision_from_json(decision_to_json(decision))
    assert back == decision
    assert type(back) is type(decision)
    assert back.key == decision.key
    assert identity(back) == identity(decision)
    assert {name: type(fact) for name, fact in back.why.facts.items()} == {
        name: type(fact) for name, fact in decision.why.facts.items()
    }


def test_every_kind_has_its_class() -> None:
    assert set(KIND_TO_CLASS) == set(DecisionKind)
    assert [type(one) for one in one_of_each_kind()] == list(KIND_TO_CLASS.values())
    assert all(one.kind is kind for kind, one in zip(KIND_TO_CLASS, one_of_each_kind(), strict=True))


@pytest.mark.parametrize("decision", one_of_each_kind(), ids=lambda one: one.kind)
def test_the_json_of_a_decision_reads_like_the_decision(decision: Decision) -> None:
    values = orjson.loads(decision_to_json(decision))
    assert list(values) == [one.name for one in fields(decision)]
    assert values["kind"] == decision.kind.value
    assert decision_from_dict(values | {"reason_en": "something else of the plan"}) == decision


def test_numbers_that_numpy_made_are_kept_as_numbers() -> None:
    made = PreCool("s", "f", np.float64(2.5), Why("x", {"doses": np.int64(3)}))
    assert decision_from_json(decision_to_json(made)) == PreCool("s", "f", 2.5, Why("x", {"doses": 3}))


def test_a_figure_that_is_not_known_stays_unknown() -> None:
    decision = replace(one_of_each_kind()[0], travel_minutes=math.nan, why=Why("x", {"wait_minutes": math.nan}))
    back = decision_from_json(decision_to_json(decision))
    assert math.isnan(back.travel_minutes)
    assert math.isnan(back.why.facts["wait_minutes"])
    assert replace(back, travel_minutes=1.0, why=WHY) == replace(decision, travel_minutes=1.0, why=WHY)
