"""How right doseflow was: forecasts and waits against what came, the cold chain, and drift."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import Counter, Gauge

from doseflow.telemetry.city_registry import CityRegistry


@dataclass(frozen=True)
class QualityMetrics:
    """Set after each cycle by the watch over the models; see the table for what each one means."""

    risk_fridges: Gauge
    risk_doses: Gauge
    risk_minutes: Counter
    pinball_people: Gauge
    weighted_loss_share: Gauge
    coverage_share: Gauge
    forecasts_scored: Counter
    wait_predicted_minutes: Gauge
    wait_observed_minutes: Gauge
    wait_error_minutes: Gauge
    waits_compared: Counter
    drift_evidence_share: Gauge
    drift_distance_share: Gauge
    retraining_recommended: Gauge


def make_quality_metrics(registry: CityRegistry) -> QualityMetrics:
    """All of them at zero or absent."""
    counter, gauge = registry.counter, registry.gauge
    return QualityMetrics(
        risk_fridges=gauge("doseflow_cold_chain_risk_fridges"),
        risk_doses=gauge("doseflow_cold_chain_risk_doses"),
        risk_minutes=counter("doseflow_cold_chain_risk_minutes_total"),
        pinball_people=gauge("doseflow_forecast_pinball_people", "lead_minutes"),
        weighted_loss_share=gauge("doseflow_forecast_weighted_loss_share", "lead_minutes"),
        coverage_share=gauge("doseflow_forecast_coverage_share", "lead_minutes"),
        forecasts_scored=counter("doseflow_forecast_scored_total", "lead_minutes"),
        # Labelled, so that nothing is told before anything was compared.
        wait_predicted_minutes=gauge("doseflow_wait_predicted_minutes", "lead_minutes"),
        wait_observed_minutes=gauge("doseflow_wait_observed_minutes", "lead_minutes"),
        wait_error_minutes=gauge("doseflow_wait_error_minutes", "lead_minutes", "statistic"),
        waits_compared=counter("doseflow_waits_compared_total"),
        drift_evidence_share=gauge("doseflow_drift_evidence_share", "kind"),
        drift_distance_share=gauge("doseflow_drift_distance_share", "feature_class"),
        retraining_recommended=gauge("doseflow_retraining_recommended"),
    )
