"""GET /api/v1/anomalies: readings that cannot well be true, open ones and those that have ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from doseflow.domain.anomaly import Anomaly, AnomalyKind
from doseflow.web.error_responses import MALFORMED_REQUEST, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

router = APIRouter(prefix="/api/v1", tags=["sites"])


@dataclass(frozen=True, slots=True)
class AnomalyRow:
    """
    An anomaly; `ended_at` is null while it lasts, `fridge_id` where it is the site's.

    `since_at` is when the readings that speak for it began, `seen_at` when it was flagged, `last_at` when one last
    spoke for it. `evidence` holds the figures of the sentence, each with its unit in its name.
    """

    anomaly_id: str
    site_id: str
    fridge_id: str | None
    kind: AnomalyKind
    feature_class: str
    since_at: datetime
    seen_at: datetime
    last_at: datetime
    ended_at: datetime | None
    evidence: dict[str, float]
    text_en: str
    text_zh: str


@dataclass(frozen=True, slots=True)
class AnomaliesAnswer:
    """Open anomalies, the latest found first, and those that ended since the process began."""

    now: datetime
    open: list[AnomalyRow]
    ended: list[AnomalyRow]


@router.get("/anomalies", responses={200: {"model": AnomaliesAnswer}, **documented(MALFORMED_REQUEST)})
def get_anomalies(
    living: AskLiving,
    site_id: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=0, le=500, description="Most ended ones.")] = 100,
) -> JsonAnswer:
    """
    Readings that the watch flags; it changes none.

    What the watch has learned lives in memory: after a restart it begins anew, and finds again what still lasts.
    """
    watch = living.live.watch
    ended = anomaly_rows(watch.ended, site_id)[:limit]
    return JsonAnswer(AnomaliesAnswer(living.live.clock.now(), anomaly_rows(watch.open, site_id), ended))


def anomaly_rows(anomalies: Iterable[Anomaly], site_id: str | None = None) -> list[AnomalyRow]:
    """A row for each anomaly, of one site or of all."""
    return [_row(one) for one in anomalies if site_id in {None, one.site_id}]


def _row(anomaly: Anomaly) -> AnomalyRow:
    return AnomalyRow(
        anomaly_id=anomaly.anomaly_id,
        site_id=anomaly.site_id,
        fridge_id=anomaly.fridge_id,
        kind=anomaly.kind,
        feature_class=anomaly.feature_class.name.lower(),
        since_at=anomaly.since_at,
        seen_at=anomaly.seen_at,
        last_at=anomaly.last_at,
        ended_at=anomaly.ended_at,
        evidence=anomaly.evidence,
        text_en=anomaly.text_en,
        text_zh=anomaly.text_zh,
    )
