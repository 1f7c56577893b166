"""
Every metric of one city, made from the one table (`metric_table`).

What is counted as it happens is told through methods and fields here; gauges of how things stand are read when asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from doseflow.telemetry.accelerator import Accelerators
from doseflow.telemetry.city_registry import CityRegistry
from doseflow.telemetry.engine_metrics import EngineMetrics
from doseflow.telemetry.quality_metrics import QualityMetrics, make_quality_metrics
from doseflow.telemetry.running_totals import RunningTotals

CYCLE_BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
"""Close together round 100 ms, the limit of one cycle."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of one city, on a registry of their own."""

    registry: CollectorRegistry
    cycle_seconds: Histogram
    cycle_stage_seconds: Histogram
    cycle_age_minutes: Gauge
    cycles: Counter
    cycles_failed: Counter
    cycles_infeasible: Counter
    forecasts: Counter
    forecast_fallbacks: Counter
    planner_fallbacks: Counter
    fallback_active: Gauge
    reports_accepted: Counter
    reports_refused: Counter
    source_rows: Counter
    orders_created: Counter
    orders_withdrawn: Counter
    receipts: Counter
    open_orders: Gauge
    dead_letters: Gauge
    outbox_waiting: Gauge
    outbox_oldest_minutes: Gauge
    gateway_rests: Gauge
    pending_reports: Gauge
    report_age_minutes: Gauge
    silent_sites: Gauge
    open_anomalies: Gauge
    watch_failures: RunningTotals
    engines: EngineMetrics
    quality: QualityMetrics
    event_listeners: Gauge = field(repr=False)

    def observe_cycle_times(self, stage_milliseconds: Mapping[str, float]) -> None:
        """Count one cycle's stages and their sum."""
        for stage, milliseconds in stage_milliseconds.items():
            self.cycle_stage_seconds.labels(stage).observe(milliseconds / 1000)
        self.cycle_seconds.observe(sum(stage_milliseconds.values()) / 1000)


SOURCE_KINDS = ("upload", "cold_chain")
SOURCE_OUTCOMES = ("taken", "refused")


def make_metrics() -> Metrics:
    """All metrics at zero, on a fresh registry."""
    registry = CityRegistry()
    registry.collectors.register(Accelerators())
    counter, gauge, histogram = registry.counter, registry.gauge, registry.histogram
    source_rows = counter("doseflow_source_rows_total", "kind", "outcome")
    for kind, outcome in product(SOURCE_KINDS, SOURCE_OUTCOMES):
        # Told as 0 from the start: a series that begins with its first row hides that row from `increase`.
        source_rows.labels(kind, outcome)
    return Metrics(
        registry=registry.collectors,
        cycle_seconds=histogram("doseflow_cycle_seconds", buckets=CYCLE_BUCKETS_SECONDS),
        cycle_stage_seconds=histogram("doseflow_cycle_stage_seconds", "stage", buckets=CYCLE_BUCKETS_SECONDS),
        cycle_age_minutes=gauge("doseflow_cycle_age_minutes"),
        cycles=counter("doseflow_cycles_total", "planner", "repair_path"),
        cycles_failed=counter("doseflow_cycles_failed_total"),
        cycles_infeasible=counter("doseflow_cycles_infeasible_total"),
        forecasts=counter("doseflow_forecasts_total", "forecaster"),
        forecast_fallbacks=counter("doseflow_forecast_fallbacks_total"),
        planner_fallbacks=counter("doseflow_planner_fallbacks_total"),
        fallback_active=gauge("doseflow_fallback_active", "part"),
        reports_accepted=counter("doseflow_reports_accepted_total"),
        reports_refused=counter("doseflow_reports_refused_total", "problem"),
        source_rows=source_rows,
        orders_created=counter("doseflow_orders_created_total", "kind"),
        orders_withdrawn=counter("doseflow_orders_withdrawn_total"),
        receipts=counter("doseflow_receipts_total", "state"),
        open_orders=gauge("doseflow_open_orders", "state"),
        dead_letters=gauge("doseflow_outbox_dead_letters", "gateway"),
        outbox_waiting=gauge("doseflow_outbox_waiting_entries", "gateway"),
        outbox_oldest_minutes=gauge("doseflow_outbox_oldest_minutes", "gateway"),
        gateway_rests=gauge("doseflow_gateway_rests", "gateway"),
        pending_reports=gauge("doseflow_pending_reports"),
        report_age_minutes=gauge("doseflow_report_age_minutes", "statistic"),
        silent_sites=gauge("doseflow_silent_sites"),
        open_anomalies=gauge("doseflow_open_anomalies", "kind"),
        watch_failures=RunningTotals(counter("doseflow_watch_failures_total", "watch")),
        engines=EngineMetrics(registry),
        quality=make_quality_metrics(registry),
        event_listeners=gauge("doseflow_event_listeners"),
    )
