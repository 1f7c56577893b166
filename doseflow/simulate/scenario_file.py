"""Scenarios from TOML files: anybody's by path, the packaged ones by name or suite."""

from __future__ import annotations

import math
import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from doseflow.errors import ScenarioWrong
from doseflow.intake.refusal_sentences import first_problem, got
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.toml_refusal import toml_refusal

PACKAGED = files("doseflow.simulate") / "scenarios"
SUITES = ("training", "heldout", "czech", "sizes")
MAX_FILE_BYTES = 1_000_000

_SCENARIO = TypeAdapter(Scenario)
_KIND_IN_PATH = re.compile(r"^(incidents\.\d+)\.[a-z_]+\.(?=\w)")
_NAME_FORM = "must be small letters, digits and _ that begin with a letter or digit"
_TAGS = ("union_tag_invalid", "union_tag_not_found")


def scenario_from_file(path: str | Path) -> Scenario:
    """
    Read a scenario.

    Raises
    ------
    ScenarioWrong
        The text names the file, the field and the bound.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ScenarioWrong(f"scenario: the file {path} must have at most {MAX_FILE_BYTES} bytes, got {size}")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise ScenarioWrong(f"scenario: the file {str(path)!r} cannot be read: {error}") from error
    try:
        return scenario_from_toml(content)
    except ScenarioWrong as error:
        raise ScenarioWrong(f"{path}: {error}") from error


def scenario_from_toml(content: bytes) -> Scenario:
    """
    Read a scenario from the bytes of its file.

    Raises
    ------
    ScenarioWrong
        The text names the field and the bound.
    """
    try:
        text = content.decode("utf-8-sig")
        table = tomllib.loads(text)
        _refuse_not_finite(table, "")
        # Strict reading of JSON takes a time from its text and a number only from a number.
        document = orjson.dumps(table)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioWrong(toml_refusal(error, text)) from error
    except (UnicodeDecodeError, orjson.JSONEncodeError, RecursionError) as error:
        raise ScenarioWrong(f"scenario: must be TOML in UTF-8: {error}") from error
    try:
        return _SCENARIO.validate_json(document)
    except ValidationError as error:
        raise ScenarioWrong(": ".join(_problem(error))) from error


def packaged_scenarios(suite: str | None = None) -> tuple[Scenario, ...]:
    """
    The scenarios of a suite, or of all, by name.

    Raises
    ------
    ScenarioWrong
        There is no such suite.
    """
    if suite is not None and suite not in SUITES:
        raise ScenarioWrong(f"suite: must be one of {', '.join(SUITES)}, got {suite!r}")
    return tuple(one for one in _packaged() if suite is None or one.suite == suite)


def packaged_scenario(name: str) -> Scenario:
    """
    A packaged scenario by its name.

    Raises
    ------
    ScenarioWrong
        There is no such scenario.
    """
    by_name = {one.name: one for one in _packaged()}
    if name not in by_name:
        raise ScenarioWrong(
            f"scenario: must be one of {', '.join(by_name)}, got {name!r}; scenario_from_file reads a file"
        )
    return by_name[name]


def scenario_schema() -> dict[str, Any]:
    """The JSON schema of a scenario file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_SCENARIO.json_schema()}


def _refuse_not_finite(value: Any, at: str) -> None:
    """TOML knows nan and inf, which JSON would turn into a value that is not given."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioWrong(f"{at}: must be a finite number, got {value}")
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        _refuse_not_finite(part, f"{at}.{name}" if at else str(name))


@lru_cache(maxsize=1)
def _packaged() -> tuple[Scenario, ...]:
    names = sorted(entry.name for entry in PACKAGED.iterdir() if entry.name.endswith(".toml"))
    return tuple(scenario_from_toml((PACKAGED / name).read_bytes()) for name in names)


def _problem(error: ValidationError) -> tuple[str, str]:
    problems = error.errors(include_url=False)
    first = problems[0]
    if first["type"] not in _TAGS:
        field, reason = first_problem(error, "scenario")
        if first["type"] == "string_pattern_mismatch":
            others = reason[reason.rindex(" (") :] if len(problems) > 1 else ""
            reason = f"{_NAME_FORM}, got {got(first['input'])}{others}"
        # The path has the incident's kind in it, which the file has not.
        return _KIND_IN_PATH.sub(r"\1.", field), reason
    at = ".".join(str(step) for step in (*first["loc"], "kind"))
    tags = str(first["ctx"].get("expected_tags", "")).replace("'", "")
    if first["type"] == "union_tag_not_found":
        return at, "must be given"
    return at, f"must be one of {tags}, got {got(first['ctx']['tag'])}"
