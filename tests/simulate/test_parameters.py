"""The table of assumptions, in code and in the docs."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from doseflow.simulate.parameters import SOURCES, SimulationParams, mean_service_minutes
from doseflow.simulate.step_params import step_params

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cities.md"


def test_every_parameter_has_a_source_and_a_range_that_holds_its_value():
    assert set(SOURCES) == {item.name for item in fields(SimulationParams)}
    for name, bound in SOURCES.items():
        assert bound.source
        assert bound.low <= getattr(SimulationParams(), name) <= bound.high


def test_the_docs_list_every_parameter_with_its_value_its_range_and_its_source():
    rows = re.findall(
        r"^\| `\w+` \| [^|]+ \| [^|]+ to [^|]+ \|[^|]+\|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert rows == [
        f"| `{name}` | {getattr(SimulationParams(), name):g} | {bound.low:g} to {bound.high:g} | {bound.source} |"
        for name, bound in SOURCES.items()
    ]


def test_what_the_docs_say_to_sweep_is_accepted():
    page = DOCS.read_text(encoding="utf-8").split("**What is worth sweeping**")[1].split("**Which have")[0]
    rows = re.findall(r"^\| (`[^|]+) \| ([\d., to]+) \|", page, re.MULTILINE)
    assert len(rows) == 8
    for names, ranges in rows:
        for name, ends in zip(re.findall(r"`(\w+)`", names), ranges.split(", ") * 2, strict=False):
            low, high = map(float, ends.split(" to "))
            assert SOURCES[name].low <= low < high <= SOURCES[name].high


@pytest.mark.parametrize(("name", "value"), [("no_show_share", 1.5), ("step_minutes", 0), ("refusal_share", -0.1)])
def test_a_value_out_of_its_range_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"{name}: must lie in .* got {value}"):
        replace(SimulationParams(), **{name: value})


def test_service_takes_as_long_on_average_as_the_city_says(small_city):
    slow = replace(small_city, service_minutes=(8.86, 6.0, 8.0, 31.5))
    for city in (small_city, slow):
        params = step_params(city, replace(SimulationParams(), step_minutes=0.1))
        assert params.flow.mean_minutes == pytest.approx(city.service_minutes[:3])
        stay = 0.1 * (0.95 * params.flow.observation_steps + 0.05 * params.flow.long_observation_steps)
        assert stay == pytest.approx(city.service_minutes[3], rel=0.02)
    assert mean_service_minutes(SimulationParams()) == pytest.approx((4.43, 3, 4, 15.75))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"step_minutes": 0.4}, "step_minutes: must divide 5 minutes evenly, got 0.4"),
        (
            {"registration_fixed_minutes": 0.0, "registration_random_minutes": 0.0},
            "registration_fixed_minutes: must be",
        ),
        ({"balk_from_minutes": 500.0}, "balk_full_minutes: must be above balk_from_minutes .500., got 240"),
        (
            {"long_observation_minutes": 5.0},
            "long_observation_minutes: must be at least observation_minutes .15., got 5",
        ),
    ],
)
def test_values_that_do_not_go_together_are_refused_by_name(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(SimulationParams(), **changes)
