"""CityRegistry: makes a city's metrics by their names in the table, on a registry of their own."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from doseflow.telemetry.metric_table import NAME_TO_MEANING


class CityRegistry:
    """The registry is the city's own, so that two cities in one process (as in tests) never share a count."""

    def __init__(self) -> None:
        self.collectors = CollectorRegistry()

    def counter(self, name: str, *labels: str) -> Counter:
        """A counter of the table."""
        return Counter(name, NAME_TO_MEANING[name][1], labels, registry=self.collectors)

    def gauge(self, name: str, *labels: str) -> Gauge:
        """A gauge of the table."""
        return Gauge(name, NAME_TO_MEANING[name][1], labels, registry=self.collectors)

    def histogram(self, name: str, *labels: str, buckets: Sequence[float]) -> Histogram:
        """A histogram of the table; `buckets` are upper bounds in the unit of its name."""
        return Histogram(name, NAME_TO_MEANING[name][1], labels, registry=self.collectors, buckets=buckets)
