"""JSON as the store writes it."""

from __future__ import annotations

from typing import Any

import orjson


def json_bytes(value: Any) -> bytes:
    """
    JSON of dataclasses, moments and the rest that a plan is made of.

    A number that numpy made is written as what it is; NaN becomes null; sets are sorted.
    """
    return orjson.dumps(value, default=_sorted_set, option=orjson.OPT_SERIALIZE_NUMPY)


def _sorted_set(value: Any) -> list[Any]:
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
