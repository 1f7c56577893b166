"""The evidence of drift in words, and what it recommends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from doseflow.live.drift.day_distance import ClassDistance


class DriftKind(StrEnum):
    """What may have drifted."""

    FORECAST_ERROR = "forecast_error"
    WAIT_ERROR = "wait_error"
    FEATURES = "features"


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    One kind: `share` is the evidence over what raises the alarm, NaN where it cannot be judged; `since_at` when it was
    raised, None where not.
    """

    kind: DriftKind
    share: float
    since_at: datetime | None
    sentence: str

    @property
    def speaks(self) -> bool:
        """Whether the alarm was raised."""
        return self.share >= 1

    @property
    def is_judged(self) -> bool:
        """Whether anything can be said at all."""
        return not math.isnan(self.share)


@dataclass(frozen=True, slots=True)
class DriftView:
    """
    How things stand.

    Training anew is recommended where forecasts or waits are off. Readings that have drifted while both are still right
    cost nothing yet: they are told, and nothing is recommended.
    """

    evidence: tuple[Evidence, ...]
    classes: tuple[ClassDistance, ...]
    reference_days: int
    reference_days_needed: int

    @property
    def is_training_recommended(self) -> bool:
        """Whether the forecaster, or the simulator that the planner learned on, should be made anew."""
        return any(each.speaks for each in self.evidence if each.kind is not DriftKind.FEATURES)

    @property
    def is_judged(self) -> bool:
        """Whether every kind could be judged: where one could not, silence is no good news."""
        return all(each.is_judged for each in self.evidence)

    @property
    def recommendation(self) -> str:
        """What to do, in a sentence."""
        speaking = {each.kind for each in self.evidence if each.speaks}
        if DriftKind.FORECAST_ERROR in speaking:
            return "Train the forecaster anew on the latest weeks, and compare it with the one in use."
        if DriftKind.WAIT_ERROR in speaking:
            return "Fit the simulator to the latest weeks, then train the planner on it anew."
        unjudged = ", ".join(each.kind for each in self.evidence if not each.is_judged)
        if unjudged:
            return f"Cannot be judged: {unjudged}. Find out why nothing could be compared."
        if DriftKind.FEATURES in speaking:
            return (
                "Look at the classes that have drifted. Forecasts and waits are still right: nothing need be trained."
            )
        return "Nothing to do."


def features_evidence(classes: tuple[ClassDistance, ...], since_at: datetime | None) -> Evidence:
    """The evidence of the readings: that of the class furthest beyond its limit."""
    if not classes:
        return Evidence(DriftKind.FEATURES, 0.0, None, "No day has been compared with the reference yet.")
    share = max(each.distance_share / each.limit_share for each in classes)
    speaking = [each for each in classes if each.speaks]
    if not speaking:
        return Evidence(DriftKind.FEATURES, share, None, "Every class lies within its limit.")
    words = ", ".join(f"{each.feature_class.name.lower()} {each.distance_share:.2f}" for each in speaking)
    sentence = f"{len(speaking)} of {len(classes)} classes lie beyond their limits: {words}."
    return Evidence(DriftKind.FEATURES, share, since_at, sentence)
