"""An anomaly as the API and the screen see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from doseflow.domain.anomaly import Anomaly, AnomalyKind


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
