"""An anomaly: readings of a site or a fridge that cannot well be true. It is shown, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from doseflow.domain.feature_classes import FeatureClass


class AnomalyKind(StrEnum):
    """What is wrong with the readings."""

    STUCK_READING = "stuck_reading"
    """A count repeats longer than counts do."""
    QUEUE_JUMP = "queue_jump"
    """More people stand there than can have come in one period."""
    DOSES_WITHOUT_PEOPLE = "doses_without_people"
    """More doses given in one period than people were there."""
    PEOPLE_FROM_NOWHERE = "people_from_nowhere"
    """Over some periods, more people wait or were served than have come."""
    PEOPLE_VANISH = "people_vanish"
    """Over some periods, people have come who neither wait, nor were served, nor can have left."""
    STOCK_RISE = "stock_rise"
    """Doses of lots that were there rise, and no delivery is known."""
    STOCK_MISMATCH = "stock_mismatch"
    """Over some periods, doses on hand fall by less than the doses given."""
    OUT_OF_STEP = "out_of_step"
    """Next to nobody comes, while neighbours and past weeks say otherwise."""
    LOGGER_STUCK = "logger_stuck"
    """A fridge temperature is the same to the last digit for longer than it ever is."""
    LOGGER_SILENT = "logger_silent"
    """A fridge that was told is told no more, while its site reports."""
    TEMPERATURE_JUMP = "temperature_jump"
    """A fridge temperature moved further in one period than warming or cooling can."""
    COUNTER_BACK = "counter_back"
    """Excursion minutes went back, or on faster than the clock, with the same lots in the fridge."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """
    One cause, from its first sign to its last.

    Parameters
    ----------
    anomaly_id
        The same from cycle to cycle, while it lasts.
    fridge_id
        None where it is the site's.
    since_at
        When the readings that speak for it began; aware.
    seen_at
        When it was first flagged; aware.
    last_at
        When a reading last spoke for it; aware.
    ended_at
        None while it lasts.
    evidence
        The figures of the sentence, each with its unit in its name.
    text_en, text_zh
        The sentence for the operator.
    """

    anomaly_id: str
    site_id: str
    fridge_id: str | None
    kind: AnomalyKind
    feature_class: FeatureClass
    since_at: datetime
    seen_at: datetime
    last_at: datetime
    ended_at: datetime | None
    evidence: dict[str, float]
    text_en: str
    text_zh: str
