"""JSON answers written by orjson straight from dataclasses: NaN, which is UNKNOWN inside, leaves as null."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Response

PROBLEM_MEDIA_TYPE = "application/problem+json"
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def json_bytes(content: Any) -> bytes:
    """Content as UTF-8 JSON; moments in UTC end with Z."""
    return orjson.dumps(content, option=_OPTIONS)


class JsonAnswer(Response):
    """A response whose body is already known to be JSON-ready."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body; bytes are taken as JSON that is written already."""
        return content if isinstance(content, bytes) else json_bytes(content)


class ProblemAnswer(JsonAnswer):
    """A problem document (RFC 9457)."""

    media_type = PROBLEM_MEDIA_TYPE
