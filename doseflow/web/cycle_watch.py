"""Watches the feed: counts every cycle and receipt into the metrics, and remembers the latest cycles."""

from __future__ import annotations

from collections import deque

from doseflow.domain.cycle import Cycle
from doseflow.live.event_feed import Event
from doseflow.live.live_city import LiveCity
from doseflow.telemetry.metrics import Metrics
from doseflow.web.cycle_view import CycleAnswer, cycle_answer

KEPT_CYCLES = 120


class CycleWatch:
    """The latest cycles, newest first; each cycle is counted once."""

    def __init__(self, live: LiveCity, metrics: Metrics) -> None:
        self._live = live
        self._metrics = metrics
        self._failures_counted = 0
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
        self._recent.appendleft(cycle_answer(cycle))
        metrics = self._metrics
        metrics.observe_cycle_times(cycle.stage_milliseconds)
        metrics.cycles.labels(cycle.plan.planner, cycle.plan.repair_path).inc()
        metrics.forecasts.labels(cycle.forecast.forecaster).inc()
        if cycle.forecast.why_this_forecaster:
            metrics.forecast_fallbacks.inc()
        if cycle.plan.why_this_planner:
            metrics.planner_fallbacks.inc()
        self._count_failures()
        metrics.orders_withdrawn.inc(len(cycle.withdrawn_order_ids))
        if cycle.infeasible is not None:
            metrics.cycles_infeasible.inc()
        for order in cycle.new_orders:
            metrics.orders_created.labels(order.decision.kind).inc()

    def _count_failures(self) -> None:
        failures = self._live.watch.num_failures
        self._metrics.watch_failures.inc(failures - self._failures_counted)
        self._failures_counted = failures
