"""
The audit trail of releases: a line of JSON an event, only ever added to.

Each line carries the digest of the line before, so that a line that was changed or taken out is seen.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from doseflow.errors import ModelWrong
from doseflow.serve.aliases import Aliases

FIRST = "0" * 64


@dataclass(frozen=True)
class ReleaseEvent:
    """What happened to the aliases of a net, who did it, why, and what had been measured."""

    at: datetime
    net: str
    event: str
    by: str
    why: str
    aliases: Aliases
    evidence: Mapping[str, Any] = field(default_factory=dict)


def append_event(path: Path, event: ReleaseEvent) -> None:
    """Add a line, on disk when this returns; whoever calls holds the store's lock."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    before = hashlib.sha256(lines[-1]).hexdigest() if lines else FIRST
    line = orjson.dumps(asdict(event) | {"line_before": before}, option=orjson.OPT_UTC_Z)
    with path.open("ab") as file:
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_events(path: Path) -> list[dict[str, Any]]:
    """
    Every event, the oldest first.

    Raises
    ------
    ModelWrong
        A line is not the one that was written.
    """
    events: list[dict[str, Any]] = []
    before = FIRST
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], start=1):
        try:
            event = orjson.loads(line)
            told = event.pop("line_before")
        except (orjson.JSONDecodeError, KeyError, AttributeError) as error:
            raise ModelWrong(f"{path.name}: line {number} is no event") from error
        if told != before:
            raise ModelWrong(f"{path.name}: the line before line {number} was changed or taken out")
        before = hashlib.sha256(line).hexdigest()
        events.append(event)
    return events
