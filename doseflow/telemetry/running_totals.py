"""RunningTotals: a counter that is told a total, where somebody else has done the counting."""

from __future__ import annotations

import threading

from prometheus_client import Counter


class RunningTotals:
    """Thread-safe. A total that falls, after what counts was made anew, adds nothing until it has grown again."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._told: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()

    def tell(self, total: float, *labels: str) -> None:
        """Bring the counter of these labels up to a total."""
        with self._lock:
            grown = total - self._told.get(labels, 0.0)
            self._told[labels] = total
            child = self._counter.labels(*labels) if labels else self._counter
            child.inc(max(0.0, grown))
