"""Tells how the gateways stand when somebody asks for the metrics."""

from __future__ import annotations

from collections.abc import Sequence

from doseflow.dispatch.gateway_line import GatewayLine
from doseflow.ports import Clock, Outbox
from doseflow.telemetry.metrics import Metrics


class GatewayCounts:
    """Of each gateway what waits, since when, what is dead, and whether it is left alone just now."""

    def __init__(self, lines: Sequence[GatewayLine], outbox: Outbox, clock: Clock) -> None:
        self._lines = lines
        self._outbox = outbox
        self._clock = clock

    def tell(self, metrics: Metrics) -> None:
        """Set the gauges."""
        now = self._clock.now()
        for one in self._outbox.lines():
            age_minutes = 0.0 if one.oldest_at is None else (now - one.oldest_at).total_seconds() / 60
            metrics.outbox_waiting.labels(one.gateway).set(one.num_waiting)
            metrics.outbox_oldest_minutes.labels(one.gateway).set(max(0.0, age_minutes))
            metrics.dead_letters.labels(one.gateway).set(one.num_dead)
        for line in self._lines:
            metrics.gateway_rests.labels(line.name).set(line.rests)
