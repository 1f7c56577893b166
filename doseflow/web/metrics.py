"""GET /metrics, for Prometheus. Gauges of how things stand are read when asked; the rest is counted as it happens."""

from __future__ import annotations

from collections import Counter

import numpy as np
from fastapi import APIRouter, Response
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from doseflow.domain.orders import FINAL_STATES, OrderState
from doseflow.web.actions import needs
from doseflow.web.error_responses import STORE_UNAVAILABLE, documented
from doseflow.web.health import cycle_age_minutes
from doseflow.web.living import AskLiving, Living
from doseflow.web.report_age import report_age_minutes

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **documented(STORE_UNAVAILABLE)},
)
@needs("metrics.read")
def metrics(living: AskLiving) -> Response:
    """Metrics in Prometheus's text format."""
    _read_gauges(living)
    return Response(generate_latest(living.metrics.registry), media_type=CONTENT_TYPE_LATEST)


def _read_gauges(living: Living) -> None:
    live, metrics = living.live, living.metrics
    for tell in live.tellers:
        tell(metrics)
    counts = Counter(order.state for order in live.open_orders())
    for state in OrderState:
        if state not in FINAL_STATES:
            metrics.open_orders.labels(state).set(counts[state])
    for kind, num_open in live.watch.count_by_kind().items():
        metrics.open_anomalies.labels(kind).set(num_open)
    for watch, num_failures in (("readings", live.watch.num_failures), ("models", live.models.num_failures)):
        metrics.watch_failures.tell(num_failures, watch)
    metrics.pending_reports.set(live.num_pending_reports)
    metrics.cycle_age_minutes.set(cycle_age_minutes(live))
    if live.latest is None:
        metrics.silent_sites.set(live.city.num_sites)
        return
    ages = report_age_minutes(live.latest.state, live.clock.now())
    known = ages[~np.isnan(ages)]
    metrics.silent_sites.set(len(ages) - len(known))
    if len(known):
        metrics.report_age_minutes.labels("median").set(float(np.median(known)))
        metrics.report_age_minutes.labels("oldest").set(float(known.max()))
