"""
The audit trail of releases: a line of JSON an event, only ever added to.

Each line carries the digest of the line before, and the file of the aliases that of the last line and how many there
were, so that a line that was changed or taken out is seen, the last one too. There is no key in it: whoever can write
the whole folder can write another history.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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


@dataclass(frozen=True, slots=True)
class HistoryHead:
    """How many lines the history had, and the SHA-256 of the last one."""

    num_lines: int
    digest: str


def next_line(path: Path, event: ReleaseEvent) -> tuple[bytes, HistoryHead]:
    """The line of an event, and the head of the history once it is added; whoever calls holds the store's lock."""
    lines = _whole_lines(path)
    before = _digest(lines[-1]) if lines else FIRST
    line = orjson.dumps(asdict(event) | {"line_before": before}, option=orjson.OPT_UTC_Z)
    return line, HistoryHead(len(lines) + 1, _digest(line))


@contextmanager
def appended(path: Path, line: bytes) -> Iterator[None]:
    """
    Add a line, on disk within; where what is done within fails, it is taken out again.

    What a crash has left of a line that was never finished goes first. Whoever calls holds the store's lock.
    """
    with path.open("ab") as file:
        num_bytes = sum(len(one) + 1 for one in _whole_lines(path))
        try:
            file.truncate(num_bytes)
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
            yield
        except BaseException:
            with suppress(OSError):
                file.truncate(num_bytes)
            raise


def require_head(path: Path, head: HistoryHead) -> None:
    """
    Check that a history still begins as it once ended.

    Raises
    ------
    ModelWrong
        It is shorter, or the line that was the last one is another.
    """
    lines = _whole_lines(path)
    if len(lines) < head.num_lines:
        raise ModelWrong(
            f"{path.name}: must have at least {head.num_lines} lines, got {len(lines)}; some were taken out"
        )
    if head.num_lines and _digest(lines[head.num_lines - 1]) != head.digest:
        raise ModelWrong(f"{path.name}: line {head.num_lines} was changed or taken out")


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


def _whole_lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _one_line(text: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
