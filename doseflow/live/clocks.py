"""Clocks: the wall, and a simulated day that moves only when told."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class WallClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC)

    def monotonic_seconds(self) -> float:
        """Seconds of real time that only ever grow."""
        return time.perf_counter()


class SimulatedClock:
    """A day that moves when `set` is called; real durations are still measured by the machine."""

    def __init__(self, start_at: datetime) -> None:
        self._now = start_at.astimezone(UTC)

    def now(self) -> datetime:
        """The simulated moment, in UTC."""
        return self._now

    def set(self, moment: datetime) -> None:
        """Move to a moment; time never runs backwards."""
        if moment < self._now:
            raise ValueError(f"moment: must not be before {self._now.isoformat()}, got {moment.isoformat()}")
        self._now = moment.astimezone(UTC)

    def monotonic_seconds(self) -> float:
        """Seconds of real time that only ever grow."""
        return time.perf_counter()
