"""What a person reads when a value is refused: the path of the field, the bound, and what was got instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

MAX_SHOWN_CHARACTERS = 60
"""Characters shown of a value or of one step of a path; the rest is cut."""

_MOMENT = "must be a moment with its offset from UTC, such as 2026-05-04T10:00:00Z"

_CLAUSES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than_equal": lambda ctx: f"must be at least {ctx['ge']}",
    "greater_than": lambda ctx: f"must be above {ctx['gt']}",
    "less_than_equal": lambda ctx: f"must be at most {ctx['le']}",
    "less_than": lambda ctx: f"must be below {ctx['lt']}",
    "string_too_short": lambda ctx: f"must have at least {_counted(ctx['min_length'], 'character')}",
    "string_too_long": lambda ctx: f"must have at most {_counted(ctx['max_length'], 'character')}",
    "too_short": lambda ctx: f"must have at least {_counted(ctx['min_length'], 'item')}",
    "too_long": lambda ctx: f"must have at most {_counted(ctx['max_length'], 'item')}",
    "enum": lambda ctx: f"must be one of {ctx['expected']}",
    "literal_error": lambda ctx: f"must be one of {ctx['expected']}",
    "int_type": lambda _: "must be a whole number",
    "int_from_float": lambda _: "must be a whole number",
    "float_type": lambda _: "must be a number",
    "finite_number": lambda _: "must be a finite number",
    "bool_type": lambda _: "must be true or false",
    "string_type": lambda _: "must be a text",
    "dataclass_type": lambda _: "must be an object",
    "dict_type": lambda _: "must be an object",
    "tuple_type": lambda _: "must be a list",
    "list_type": lambda _: "must be a list",
    "datetime_type": lambda _: _MOMENT,
    "datetime_parsing": lambda _: _MOMENT,
    "datetime_from_date_parsing": lambda _: _MOMENT,
    "datetime_object_invalid": lambda _: _MOMENT,
    "timezone_aware": lambda _: _MOMENT,
    "time_type": lambda _: "must be a time of day such as 08:30",
    "time_parsing": lambda _: "must be a time of day such as 08:30",
}
_WITHOUT_VALUE: dict[str, str] = {
    "missing": "must be given",
    "unexpected_keyword_argument": "is not a field that is known here",
    "extra_forbidden": "is not a field that is known here",
    "string_unicode": "must be valid UTF-8",
}
_SIZE_ERRORS = frozenset({"too_short", "too_long"})


def first_problem(error: ValidationError, root: str) -> tuple[str, str]:
    """
    Field and reason of the first problem that a check found; the reason says how many more there are.

    Parameters
    ----------
    root
        Name of the whole, used where the problem lies in no single field of it.
    """
    problems = error.errors(include_url=False)
    first = problems[0]
    field, reason = dotted(first["loc"]) or root, _reason(first)
    if first["type"] == "value_error":
        inner, _, clause = str(first["ctx"]["error"]).partition(": ")
        field, reason = (dotted((*first["loc"], inner)), clause) if clause else (field, inner)
    if len(problems) > 1:
        reason += f" ({len(problems) - 1} more problem{'s' if len(problems) > 2 else ''})"
    return field, reason


def dotted(path: Sequence[int | str]) -> str:
    """A path as one reads it: `staff.1.role`."""
    return ".".join(shortened(str(step)) for step in path)


def got(value: Any) -> str:
    """A value as it came, shortened; JSON where it can be."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):
        text = repr(value)
    return shortened(text)


def shortened(text: str) -> str:
    """A text cut to `MAX_SHOWN_CHARACTERS`, without line breaks or control characters."""
    cut = text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 3]}..."
    return "".join(one if one.isprintable() else "?" for one in cut)


def _reason(problem: Mapping[str, Any]) -> str:
    kind = problem["type"]
    if kind in _WITHOUT_VALUE:
        return _WITHOUT_VALUE[kind]
    if kind == "json_invalid":
        return f"must be JSON: {problem['ctx']['error']}"
    if kind not in _CLAUSES:
        message = str(problem["msg"])
        return f"{message[:1].lower()}{message[1:]}, got {got(problem['input'])}"
    clause = _CLAUSES[kind](problem.get("ctx", {}))
    if kind in _SIZE_ERRORS:
        length = problem["ctx"]["actual_length"]
        return clause if length is None else f"{clause}, got {length}"
    return f"{clause}, got {got(problem['input'])}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
