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
HISTORY_FILE = "history.jsonl"
_WORDS = ("at", "net", "event", "by", "why", "line_before")
"""What every event has, in words."""


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
    """
    Add a line, on disk when this returns; whoever calls holds the store's lock.

    A line that was torn, by a crash or a full disk, is left as it is and stays the only one lost.
    """
    written = path.read_bytes() if path.exists() else b""
    lines = written.splitlines()
    before = hashlib.sha256(lines[-1]).hexdigest() if lines else FIRST
    line = orjson.dumps(asdict(event) | {"line_before": before}, option=orjson.OPT_UTC_Z)
    is_torn = bool(written) and not written.endswith(b"\n")
    with path.open("ab") as file:
        file.write(b"\n" * is_torn + line + b"\n")
        file.flush()
        os.fsync(file.fileno())


@dataclass(frozen=True)
class ReleaseTrail:
    """The events that can be read, the oldest first, and a sentence on each place where the file was damaged."""

    events: list[dict[str, Any]]
    damage: list[str]

    def of_net(self, net: str) -> list[dict[str, Any]]:
        """The events of one net."""
        return [event for event in self.events if event["net"] == net]


def read_trail(path: Path) -> ReleaseTrail:
    """Every event that can be read; what cannot be is named as damage and costs nothing else."""
    trail = ReleaseTrail([], [])
    before = FIRST
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], start=1):
        event = _event(line)
        if event is None:
            trail.damage.append(f"{path.name}: line {number} is no event")
        else:
            if event.pop("line_before") != before:
                trail.damage.append(f"{path.name}: the line before line {number} was changed or taken out")
            trail.events.append(event)
        before = hashlib.sha256(line).hexdigest()
    return trail


def trail_of(folder: Path) -> ReleaseTrail:
    """The trail of the model store in a folder."""
    return read_trail(folder / HISTORY_FILE)


def read_events(path: Path) -> list[dict[str, Any]]:
    """
    Every event, the oldest first.

    Raises
    ------
    ModelWrong
        A line is not the one that was written.
    """
    trail = read_trail(path)
    if trail.damage:
        raise ModelWrong(trail.damage[0])
    return trail.events


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    is_whole = isinstance(event, dict) and all(isinstance(event.get(name), str) for name in _WORDS)
    return event if is_whole else None
