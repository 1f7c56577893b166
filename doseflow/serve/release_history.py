"""
The audit trail of releases: a line of JSON an event, only ever added to.

Each line carries the digest of the line before, and the file of the aliases that of the last line and how many there
were, so that a line that was changed or taken out is seen, the last one too. There is no key in it: whoever can write
the whole folder can write another history.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from doseflow.errors import ModelWrong
from doseflow.serve.alias_file import HistoryHead, read_alias_file
from doseflow.serve.aliases import Aliases

FIRST = "0" * 64
HISTORY_FILE = "history.jsonl"
_WORDS = ("at", "net", "event", "by", "why", "line_before")
"""What every event has, in words."""


@dataclass(frozen=True)
class ReleaseEvent:
    """
    What happened to the aliases of a net, who did it, why, and what had been measured.

    `at` is by the machine's clock, `city_at` by the city's, which differs where a day is simulated; None where no city
    was there. Line breaks and control characters of `by` and `why` become spaces.
    """

    at: datetime
    net: str
    event: str
    by: str
    why: str
    aliases: Aliases
    evidence: Mapping[str, Any] = field(default_factory=dict)
    city_at: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("by", "why"):
            object.__setattr__(self, name, _one_line(getattr(self, name)))


def next_line(path: Path, event: ReleaseEvent) -> tuple[bytes, HistoryHead]:
    """The line of an event, and the head of the history once it is added; whoever calls holds the store's lock."""
    lines = _written(path).splitlines()
    before = _digest(lines[-1]) if lines else FIRST
    line = orjson.dumps(asdict(event) | {"line_before": before}, option=orjson.OPT_UTC_Z)
    return line, HistoryHead(len(lines) + 1, _digest(line))


@contextmanager
def appended(path: Path, line: bytes) -> Iterator[None]:
    """
    Add a line, on disk within; where what is done within fails, it is taken out again.

    A line that was torn, by a crash or a full disk, is left as it is and stays the only one lost. Whoever calls holds
    the store's lock.
    """
    written = _written(path)
    is_torn = bool(written) and not written.endswith(b"\n")
    with path.open("ab") as file:
        try:
            file.write(b"\n" * is_torn + line + b"\n")
            file.flush()
            os.fsync(file.fileno())
            yield
        except BaseException:
            with suppress(OSError):
                file.truncate(len(written))
            raise


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
    return _trail(path.name, _written(path).splitlines())


def trail_of(folder: Path) -> ReleaseTrail:
    """The trail of the model store in a folder, held to where it ended by the files of the aliases."""
    path = folder / HISTORY_FILE
    # The heads come first: the history may grow between the two, but does not shrink.
    heads = _heads(folder)
    lines = _written(path).splitlines()
    trail = _trail(path.name, lines)
    trail.damage.extend(dict.fromkeys(said for head in heads if (said := _not_the_end(path.name, lines, head))))
    for net, num_events in Counter(event["net"] for event in trail.events).items():
        # A single event may be that of a process that died before it could write the aliases.
        if num_events > 1 and not _alias_path(folder, net).exists():
            trail.damage.append(f"aliases/{net}.json: is missing, though {path.name} tells of it")
    return trail


def _trail(name: str, lines: list[bytes]) -> ReleaseTrail:
    trail = ReleaseTrail([], [])
    before = FIRST
    for number, line in enumerate(lines, start=1):
        event = _event(line)
        if event is None:
            trail.damage.append(f"{name}: line {number} is no event")
        else:
            if event.pop("line_before") != before:
                trail.damage.append(f"{name}: the line before line {number} was changed or taken out")
            trail.events.append(event)
        before = _digest(line)
    return trail


def _not_the_end(name: str, lines: list[bytes], head: HistoryHead) -> str:
    """What is wrong with the line that was the last one once; empty where nothing is."""
    if len(lines) < head.num_lines:
        return f"{name}: must have at least {head.num_lines} lines, got {len(lines)}; some were taken out"
    if head.num_lines > 0 and _digest(lines[head.num_lines - 1]) != head.digest:
        return f"{name}: line {head.num_lines} was changed or taken out"
    return ""


def _heads(folder: Path) -> list[HistoryHead]:
    """Where the history ended by each net's aliases; whether these are whole is not asked here."""
    heads = []
    for path in sorted((folder / "aliases").glob("[!.]*.json")):
        with suppress(ModelWrong):
            head = read_alias_file(path).head
            if head is not None:
                heads.append(head)
    return heads


def _alias_path(folder: Path, net: str) -> Path:
    return folder / "aliases" / f"{net}.json"


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    is_whole = isinstance(event, dict) and all(isinstance(event.get(name), str) for name in _WORDS)
    return event if is_whole else None


def _written(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _one_line(text: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
