"""
The one table of every metric that doseflow tells: its name, its unit and what it means.

Names follow Prometheus's practice (a prefix, the unit at the end, `_total` for what only grows); minutes and shares
stay what people at a site read, and are not turned into seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

YES_OR_NO = "0 or 1"
"""Unit of a gauge that says whether something holds."""

NAME_TO_MEANING: Mapping[str, tuple[str, str]] = {
    "doseflow_cycle_seconds": ("seconds", "Time of one whole cycle, from pending reports to stored orders."),
    "doseflow_cycle_stage_seconds": ("seconds", "Time of one stage of a cycle, by stage."),
    "doseflow_cycle_age_minutes": ("minutes", "Time since the latest cycle, or since the start, by the city's clock."),
    "doseflow_cycles_total": ("1", "Cycles completed, by planner and by the way the proposal was made allowed."),
    "doseflow_cycles_failed_total": ("1", "Cycles that ended in an error."),
    "doseflow_cycles_infeasible_total": ("1", "Cycles in which no plan was allowed."),
    "doseflow_forecasts_total": ("1", "Forecasts made, by forecaster."),
    "doseflow_forecast_fallbacks_total": ("1", "Forecasts that another forecaster than the chosen one had to make."),
    "doseflow_planner_fallbacks_total": ("1", "Cycles that another planner than the chosen one had to plan."),
    "doseflow_fallback_active": (YES_OR_NO, "Whether another than the chosen one answered the latest cycle, by part."),
    "doseflow_reports_accepted_total": ("1", "Reports accepted."),
    "doseflow_reports_refused_total": ("1", "Reports refused, by problem."),
    "doseflow_source_rows_total": (
        "1",
        "Records and rows of outside sources, by kind of source and what became of them.",
    ),
    "doseflow_orders_created_total": ("1", "Orders made, by kind."),
    "doseflow_orders_withdrawn_total": ("1", "Orders withdrawn by a later plan."),
    "doseflow_receipts_total": ("1", "Receipts recorded, by the state that the order went to."),
    "doseflow_open_orders": ("orders", "Orders not in a final state, by state."),
    "doseflow_outbox_dead_letters": (
        "letters",
        "Orders and withdrawals that could not be told and are tried no more, by gateway.",
    ),
    "doseflow_outbox_waiting_entries": ("entries", "Orders and withdrawals that wait to be told, by gateway."),
    "doseflow_outbox_oldest_minutes": ("minutes", "Time that the oldest of them has waited, 0 for none, by gateway."),
    "doseflow_gateway_rests": (YES_OR_NO, "Whether a gateway fails and is left alone for a while, by gateway."),
    "doseflow_pending_reports": ("reports", "Accepted reports that the next cycle will take."),
    "doseflow_report_age_minutes": ("minutes", "Age of the latest report of a site: the median and the oldest."),
    "doseflow_silent_sites": ("sites", "Sites that have never reported."),
    "doseflow_open_anomalies": ("anomalies", "Readings that cannot well be true, by kind."),
    "doseflow_watch_failures_total": ("1", "Cycles that a watch beside the flow could not look at, by watch."),
    "doseflow_event_listeners": ("listeners", "Event streams that are open."),
    "doseflow_cold_chain_risk_fridges": ("fridges", "Fridges with doses in them that are outside their band."),
    "doseflow_cold_chain_risk_doses": ("doses", "Doses in fridges that are outside their band."),
    "doseflow_cold_chain_risk_minutes_total": ("minutes", "Minutes outside their band, added over fridges with doses."),
    "doseflow_forecast_pinball_people": ("people", "Pinball loss of past forecasts of one period at a site, by lead."),
    "doseflow_forecast_weighted_loss_share": ("share", "Twice the pinball loss over the arrivals that came, by lead."),
    "doseflow_forecast_coverage_share": ("share", "Arrivals that lay within the 80 % interval told, by lead."),
    "doseflow_forecast_scored_total": ("1", "Forecasts of one period at a site that were scored, by lead."),
    "doseflow_wait_predicted_minutes": ("minutes", "Wait told half an hour before, mean of the sites compared."),
    "doseflow_wait_observed_minutes": ("minutes", "Wait that those sites report now, their mean."),
    "doseflow_wait_error_minutes": ("minutes", "Observed less predicted wait: its mean, and the mean of its size."),
    "doseflow_waits_compared_total": ("1", "Predicted waits that were compared with a site's report."),
    "doseflow_drift_evidence_share": ("share", "Evidence of drift over the amount that raises the alarm, by kind."),
    "doseflow_drift_distance_share": (
        "share",
        "Distance of the last whole day's readings from the reference, by class.",
    ),
    "doseflow_retraining_recommended": (YES_OR_NO, "Whether the evidence of drift is enough to train anew."),
    "doseflow_engine_seconds": ("seconds", "Time of one answer of a net's engine, by engine."),
    "doseflow_engine_queue_requests": ("requests", "Questions that wait for an engine, by engine."),
    "doseflow_engine_batches_total": ("1", "Runs that answered one or more gathered questions, by engine."),
    "doseflow_engine_batched_requests_total": ("1", "Questions answered in them, by engine."),
    "doseflow_engine_failures_total": ("1", "Questions that an engine did not answer well, by engine and kind."),
    "doseflow_breaker_state": (YES_OR_NO, "Whether an engine's circuit breaker is in a state, by engine and state."),
    "doseflow_breaker_opened_total": ("1", "Times that a circuit breaker opened, by engine."),
    "doseflow_canary_share": ("share", "Traffic that the challenger answers, by net."),
    "doseflow_canary_phase": (YES_OR_NO, "Whether a release is in a phase, by net and phase."),
    "doseflow_canary_answers_total": ("1", "Answers of a release's two arms, by net, arm and outcome."),
    "doseflow_canary_seconds": ("seconds", "Time of one answer of a release's two arms, by net and arm."),
    "doseflow_canary_rollbacks_total": ("1", "Releases taken back, by net and by whom: a gate by itself, or people."),
    "doseflow_release_history_damaged_lines": ("lines", "Places where the history of releases was torn or changed."),
    "doseflow_model_in_use": (YES_OR_NO, "Whether a model is in use, by net, alias and the start of its digest."),
    "doseflow_accelerator_up": (YES_OR_NO, "Whether an accelerator can be read; without one the next five are absent."),
    "doseflow_accelerator_temperature_celsius": ("celsius", "Temperature of an accelerator."),
    "doseflow_accelerator_memory_used_bytes": ("bytes", "Memory of an accelerator in use, by any process."),
    "doseflow_accelerator_memory_total_bytes": ("bytes", "Memory of an accelerator."),
    "doseflow_accelerator_utilisation_share": ("share", "Time in which an accelerator had work, of its last sample."),
    "doseflow_accelerator_power_watts": ("watts", "Power that an accelerator draws."),
}
"""Name to unit and meaning; whoever adds a metric adds its line here and runs the test that names it."""
