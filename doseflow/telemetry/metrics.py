"""
Every metric doseflow tells: its name, its unit and what it means, in one table.

The registry is the city's own, so that two cities in one process (as in tests) never share a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

CYCLE_BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
"""Close together round 100 ms, the limit of one cycle."""

NAME_TO_MEANING: Mapping[str, tuple[str, str]] = {
    "doseflow_cycle_seconds": ("seconds", "Time of one whole cycle, from pending reports to stored orders."),
    "doseflow_cycle_stage_seconds": ("seconds", "Time of one stage of a cycle, by stage."),
    "doseflow_cycles_total": ("1", "Cycles completed, by planner and by the way the proposal was made allowed."),
    "doseflow_cycles_failed_total": ("1", "Cycles that ended in an error."),
    "doseflow_cycles_infeasible_total": ("1", "Cycles in which no plan was allowed."),
    "doseflow_forecasts_total": ("1", "Forecasts made, by forecaster."),
    "doseflow_forecast_fallbacks_total": ("1", "Forecasts that another forecaster than the chosen one had to make."),
    "doseflow_planner_fallbacks_total": ("1", "Cycles that another planner than the chosen one had to plan."),
    "doseflow_reports_accepted_total": ("1", "Reports accepted."),
    "doseflow_reports_refused_total": ("1", "Reports refused, by problem."),
    "doseflow_orders_created_total": ("1", "Orders made, by kind."),
    "doseflow_orders_withdrawn_total": ("1", "Orders withdrawn by a later plan."),
    "doseflow_receipts_total": ("1", "Receipts recorded, by the state that the order went to."),
    "doseflow_open_orders": ("orders", "Orders not in a final state, by state."),
    "doseflow_pending_reports": ("reports", "Accepted reports that the next cycle will take."),
    "doseflow_report_age_minutes": ("minutes", "Age of the latest report of a site: the median and the oldest."),
    "doseflow_silent_sites": ("sites", "Sites that have never reported."),
    "doseflow_open_anomalies": ("anomalies", "Readings that cannot well be true, by kind."),
    "doseflow_watch_failures_total": ("1", "Cycles that the watch over the readings could not look at."),
    "doseflow_event_listeners": ("listeners", "Event streams that are open."),
}
"""Name to unit and meaning; whoever adds a metric adds its line here."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of one city, on a registry of their own."""

    registry: CollectorRegistry
    cycle_seconds: Histogram
    cycle_stage_seconds: Histogram
    cycles: Counter
    cycles_failed: Counter
    cycles_infeasible: Counter
    forecasts: Counter
    forecast_fallbacks: Counter
    planner_fallbacks: Counter
    reports_accepted: Counter
    reports_refused: Counter
    orders_created: Counter
    orders_withdrawn: Counter
    receipts: Counter
    open_orders: Gauge
    pending_reports: Gauge
    report_age_minutes: Gauge
    silent_sites: Gauge
    open_anomalies: Gauge
    watch_failures: Counter
    event_listeners: Gauge = field(repr=False)

    def observe_cycle_times(self, stage_milliseconds: Mapping[str, float]) -> None:
        """Count one cycle's stages and their sum."""
        for stage, milliseconds in stage_milliseconds.items():
            self.cycle_stage_seconds.labels(stage).observe(milliseconds / 1000)
        self.cycle_seconds.observe(sum(stage_milliseconds.values()) / 1000)


def make_metrics() -> Metrics:
    """All metrics at zero, on a fresh registry."""
    registry = CollectorRegistry()

    def counter(name: str, *labels: str) -> Counter:
        return Counter(name, NAME_TO_MEANING[name][1], labels, registry=registry)

    def gauge(name: str, *labels: str) -> Gauge:
        return Gauge(name, NAME_TO_MEANING[name][1], labels, registry=registry)

    def histogram(name: str, *labels: str) -> Histogram:
        return Histogram(name, NAME_TO_MEANING[name][1], labels, registry=registry, buckets=CYCLE_BUCKETS_SECONDS)

    return Metrics(
        registry=registry,
        cycle_seconds=histogram("doseflow_cycle_seconds"),
        cycle_stage_seconds=histogram("doseflow_cycle_stage_seconds", "stage"),
        cycles=counter("doseflow_cycles_total", "planner", "repair_path"),
        cycles_failed=counter("doseflow_cycles_failed_total"),
        cycles_infeasible=counter("doseflow_cycles_infeasible_total"),
        forecasts=counter("doseflow_forecasts_total", "forecaster"),
        forecast_fallbacks=counter("doseflow_forecast_fallbacks_total"),
        planner_fallbacks=counter("doseflow_planner_fallbacks_total"),
        reports_accepted=counter("doseflow_reports_accepted_total"),
        reports_refused=counter("doseflow_reports_refused_total", "problem"),
        orders_created=counter("doseflow_orders_created_total", "kind"),
        orders_withdrawn=counter("doseflow_orders_withdrawn_total"),
        receipts=counter("doseflow_receipts_total", "state"),
        open_orders=gauge("doseflow_open_orders", "state"),
        pending_reports=gauge("doseflow_pending_reports"),
        report_age_minutes=gauge("doseflow_report_age_minutes", "statistic"),
        silent_sites=gauge("doseflow_silent_sites"),
        open_anomalies=gauge("doseflow_open_anomalies", "kind"),
        watch_failures=counter("doseflow_watch_failures_total"),
        event_listeners=gauge("doseflow_event_listeners"),
    )
