"""What a completed cycle adds to the metrics."""

from __future__ import annotations

from doseflow.domain.cycle import Cycle
from doseflow.telemetry.metrics import Metrics


def count_cycle(metrics: Metrics, cycle: Cycle) -> None:
    """Count one cycle: its times, who planned and forecast, and its orders."""
    metrics.observe_cycle_times(cycle.stage_milliseconds)
    metrics.cycles.labels(cycle.plan.planner, cycle.plan.repair_path).inc()
    metrics.forecasts.labels(cycle.forecast.forecaster).inc()
    if cycle.forecast.why_this_forecaster:
        metrics.forecast_fallbacks.inc()
    if cycle.plan.why_this_planner:
        metrics.planner_fallbacks.inc()
    metrics.fallback_active.labels("forecaster").set(bool(cycle.forecast.why_this_forecaster))
    metrics.fallback_active.labels("planner").set(bool(cycle.plan.why_this_planner))
    metrics.orders_withdrawn.inc(len(cycle.withdrawn_order_ids))
    if cycle.infeasible is not None:
        metrics.cycles_infeasible.inc()
    for order in cycle.new_orders:
        metrics.orders_created.labels(order.decision.kind).inc()
