"""Watches the feed: remembers the latest cycles and their forecasts, and counts receipts and cycles that failed."""

from __future__ import annotations

from collections import deque

from doseflow.domain.cycle import Cycle
from doseflow.live.event_feed import Event
from doseflow.live.live_city import LiveCity
from doseflow.telemetry.metrics import Metrics
from doseflow.web.cycle_view import CycleAnswer, cycle_answer
from doseflow.web.told_forecasts import ToldForecasts

KEPT_CYCLES = 120


class CycleWatch:
    """The latest cycles, newest first; each is kept once."""

    def __init__(self, live: LiveCity, metrics: Metrics, told: ToldForecasts) -> None:
        self._live = live
        self._told = told
        self._metrics = metrics
        self._recent: deque[CycleAnswer] = deque(maxlen=KEPT_CYCLES)

    @property
    def recent(self) -> list[CycleAnswer]:
        """The latest cycles, newest first."""
        return list(self._recent)

    async def run(self) -> None:
        """Take events until the feed closes; a cycle that ran before is taken first."""
        if self._live.latest is not None:
            self._take_cycle(self._live.latest)
        async for event in self._live.feed.subscribe():
            self._take(event)

    def _take(self, event: Event) -> None:
        if event.name == "cycle_completed" and (cycle := self._live.latest) is not None:
            self._take_cycle(cycle)
        elif event.name == "cycle_failed":
            self._metrics.cycles_failed.inc()
        elif event.name == "receipt_recorded":
            self._metrics.receipts.labels(event.payload["state"]).inc()

    def _take_cycle(self, cycle: Cycle) -> None:
        if self._recent and self._recent[0].cycle_id == cycle.cycle_id:
            return  # two cycles followed so fast that the first event already showed the second
        self._told.take(cycle)
        self._recent.appendleft(cycle_answer(cycle))
