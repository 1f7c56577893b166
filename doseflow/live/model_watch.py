"""ModelWatch: the running comparison of what was foretold with what came, beside the cycle and never in its way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import structlog

from doseflow.domain.cycle import Cycle
from doseflow.live.cold_chain_risk import cold_chain_risk
from doseflow.live.drift.drift_watch import DriftWatch
from doseflow.live.drift.evidence import DriftKind, DriftView
from doseflow.live.forecast_score import LEADS_MINUTES, ForecastScore, LeadScore
from doseflow.live.wait_score import WAIT_LEAD_MINUTES, ComparedWaits, WaitScore
from doseflow.telemetry.quality_metrics import QualityMetrics

LONGEST_GAP_MINUTES = 15.0
"""After a longer silence nobody knows for how long a fridge was outside its band."""
NET_TO_ERRORS: Mapping[str, tuple[DriftKind, ...]] = {
    "forecaster": (DriftKind.FORECAST_ERROR, DriftKind.WAIT_ERROR),
    "policy": (DriftKind.WAIT_ERROR,),
}
"""What a net has a hand in: the waits are told under the forecast, where the policy puts people."""
log = structlog.get_logger(__name__)


class ModelWatch:
    """
    Looks at each completed cycle and tells the metrics. Used by one thread at a time.

    What it keeps lives in memory: after a restart it needs two hours until every lead is scored again.
    """

    def __init__(self, metrics: QualityMetrics) -> None:
        self._metrics = metrics
        self._forecasts = ForecastScore()
        self._waits = WaitScore()
        self._drift = DriftWatch()
        self._risk_seen_at: datetime | None = None
        self._champions: Mapping[str, str] = {}
        self.num_failures = 0

    def drift(self) -> DriftView:
        """Whether what came is still what the models were made for."""
        return self._drift.view()

    def look(self, cycle: Cycle, champions: Mapping[str, str] | None = None) -> None:
        """
        Look at a cycle; what fails here is recorded, and the city goes on.

        `champions` are the models in use, by net: with another one, what the one before did is no evidence any more.
        """
        try:
            self._look_at_champions(champions or {})
            self._look_at_cold_chain(cycle)
            scores = self._look_at_forecasts(cycle)
            waits = self._look_at_waits(cycle)
            self._drift.look(cycle, scores, waits)
            self._tell_drift()
        except Exception:  # the boundary of the watch: it must not stop a cycle
            self.num_failures += 1
            log.exception("model_watch_failed", cycle_id=cycle.cycle_id)

    def _look_at_champions(self, champions: Mapping[str, str]) -> None:
        for net, model in champions.items():
            if self._champions.get(net, model) != model:
                for kind in NET_TO_ERRORS.get(net, ()):
                    self._drift.begin_anew(kind)
        self._champions = dict(champions)

    def _look_at_cold_chain(self, cycle: Cycle) -> None:
        as_of, risk = cycle.state.as_of, cold_chain_risk(cycle.state)
        if self._risk_seen_at is not None:
            passed_minutes = (as_of - self._risk_seen_at).total_seconds() / 60
            self._metrics.risk_minutes.inc(risk.num_fridges * min(max(0.0, passed_minutes), LONGEST_GAP_MINUTES))
        self._risk_seen_at = as_of
        self._metrics.risk_fridges.set(risk.num_fridges)
        self._metrics.risk_doses.set(risk.doses)

    def _look_at_forecasts(self, cycle: Cycle) -> Mapping[int, LeadScore]:
        scores = self._forecasts.look(cycle.state, cycle.forecast)
        for lead in LEADS_MINUTES:
            score, window = scores.get(lead), self._forecasts.window(lead)
            if score is None or not window.num_scored:
                continue
            self._metrics.forecasts_scored.labels(lead).inc(score.num_scored)
            self._metrics.pinball_people.labels(lead).set(window.pinball_people)
            self._metrics.coverage_share.labels(lead).set(window.coverage_share)
            self._metrics.weighted_loss_share.labels(lead).set(window.weighted_loss_share)
        return scores

    def _look_at_waits(self, cycle: Cycle) -> ComparedWaits | None:
        compared = self._waits.look(cycle)
        if compared is not None and compared.num_compared:
            self._tell_waits(compared)
        return compared

    def _tell_waits(self, compared: ComparedWaits) -> None:
        count, metrics = compared.num_compared, self._metrics
        metrics.waits_compared.inc(count)
        metrics.wait_predicted_minutes.labels(WAIT_LEAD_MINUTES).set(compared.predicted_minutes / count)
        metrics.wait_observed_minutes.labels(WAIT_LEAD_MINUTES).set(compared.observed_minutes / count)
        metrics.wait_error_minutes.labels(WAIT_LEAD_MINUTES, "mean").set(compared.mean_error_minutes)
        metrics.wait_error_minutes.labels(WAIT_LEAD_MINUTES, "mean_size").set(compared.absolute_error_minutes / count)

    def _tell_drift(self) -> None:
        view = self._drift.view()
        for each in view.evidence:
            self._metrics.drift_evidence_share.labels(each.kind).set(each.share)
        for one in view.classes:
            self._metrics.drift_distance_share.labels(one.feature_class.name.lower()).set(one.distance_share)
        self._metrics.retraining_recommended.set(view.is_training_recommended)
