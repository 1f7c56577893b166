"""What was flagged against what was broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from doseflow.domain.anomaly import Anomaly
from doseflow.domain.city import City
from doseflow.evaluate.anomalies.faults import Fault, FaultKind

GRACE = timedelta(minutes=30)
"""A flag counts for a fault until so long after its end: its going away may be what shows."""


@dataclass(frozen=True)
class FaultScore:
    """Whether one fault was found, and after how many minutes."""

    kind: FaultKind
    delay_minutes: float | None


@dataclass(frozen=True)
class DayScore:
    """One reading of a day: its faults, all flags, and those that no fault explains or a second one of a fault."""

    faults: tuple[FaultScore, ...]
    num_flags: int
    false_flags: tuple[str, ...]


def score_day(faults: Sequence[Fault], anomalies: Sequence[Anomaly], city: City) -> DayScore:
    """Match flags to faults by place and time; of several flags of one fault only the first is right."""
    left = sorted(anomalies, key=lambda one: one.seen_at)
    num_flags = len(left)
    scores = []
    for fault in faults:
        hits = [one for one in left if _explains(fault, one, city)]
        if hits:
            left.remove(hits[0])
        delay = (hits[0].seen_at - fault.starts_at).total_seconds() / 60 if hits else None
        scores.append(FaultScore(fault.kind, delay))
    return DayScore(tuple(scores), num_flags, tuple(str(one.kind) for one in left))


def _explains(fault: Fault, anomaly: Anomaly, city: City) -> bool:
    if anomaly.site_id != city.sites[fault.site_idx].site_id:
        return False
    if not fault.starts_at <= anomaly.seen_at <= fault.ends_at + GRACE:
        return False
    return fault.kind is FaultKind.REPORT_FROZEN or anomaly.fridge_id == fault.fridge_id
