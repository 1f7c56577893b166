"""How long each stage of a cycle took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from doseflow.telemetry.tracing import span


class MonotonicClock(Protocol):
    """The part of a clock that a stopwatch needs."""

    def monotonic_seconds(self) -> float:
        """Seconds that only ever grow."""


class Stopwatch:
    """Milliseconds by stage, in the order the stages began."""

    def __init__(self, clock: MonotonicClock) -> None:
        self._clock = clock
        self.stage_milliseconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage, which is a span of a trace too; measured twice, its times add up."""
        began_seconds = self._clock.monotonic_seconds()
        try:
            with span(name):
                yield
        finally:
            spent = (self._clock.monotonic_seconds() - began_seconds) * 1000
            self.stage_milliseconds[name] = self.stage_milliseconds.get(name, 0.0) + spent
