"""GET /api/v1/drift: whether what came is still what the models were made for, and what that recommends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter

from doseflow.live.drift.evidence import DriftView
from doseflow.web.actions import needs
from doseflow.web.error_responses import documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

router = APIRouter(prefix="/api/v1", tags=["health"])


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One kind of drift; from a `share_of_alarm` of 1 on the alarm is raised, and `since_at` says when it was."""

    kind: str
    share_of_alarm: float
    speaks: bool
    since_at: datetime | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ClassRow:
    """Distance of the last whole day's readings of one class from those of the reference days, 0..1."""

    feature_class: str
    distance_share: float
    usual_share: float
    limit_share: float
    speaks: bool


@dataclass(frozen=True, slots=True)
class DriftAnswer:
    """Whether training anew is recommended, in a sentence, with all evidence; and how much of a reference there is."""

    now: datetime
    training_recommended: bool
    recommendation: str
    evidence: list[EvidenceRow]
    classes: list[ClassRow]
    reference_days: int
    reference_days_needed: int


@router.get("/drift", responses={200: {"model": DriftAnswer}, **documented()})
@needs("drift.read")
def get_drift(living: AskLiving) -> JsonAnswer:
    """
    What the drift watch has seen since the process began.

    It learns from what it sees first: hours until a forecast or a wait can be told to be off, a week of days until
    readings can.
    """
    return JsonAnswer(drift_answer(living.live.models.drift(), living.live.clock.now()))


def drift_answer(view: DriftView, now: datetime) -> DriftAnswer:
    """The answer of a view."""
    evidence = [EvidenceRow(each.kind, each.share, each.speaks, each.since_at, each.sentence) for each in view.evidence]
    classes = [
        ClassRow(one.feature_class.name.lower(), one.distance_share, one.usual_share, one.limit_share, one.speaks)
        for one in view.classes
    ]
    return DriftAnswer(
        now=now,
        training_recommended=view.is_training_recommended,
        recommendation=view.recommendation,
        evidence=evidence,
        classes=classes,
        reference_days=view.reference_days,
        reference_days_needed=view.reference_days_needed,
    )
