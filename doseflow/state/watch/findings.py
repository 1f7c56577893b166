"""A finding: what one test says of one site or fridge in one cycle."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.feature_classes import FeatureClass


@dataclass(frozen=True, slots=True)
class Finding:
    """What spoke, since when (epoch minutes), and its figures; `fridge` is a place in the watch's fridges, or -1."""

    kind: AnomalyKind
    feature_class: FeatureClass
    site_idx: int
    since: float
    evidence: dict[str, float]
    fridge: int = -1
