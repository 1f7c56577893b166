"""How long the last reading of each class stands, and what stands in for it: one rule for each of the 17 classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from doseflow.domain.feature_classes import FeatureClass
from doseflow.units import MINUTES_PER_HOUR

HOUR, DAY = MINUTES_PER_HOUR, 24 * MINUTES_PER_HOUR


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """
    What is done about a class that is not reported.

    `carried_minutes` is the age up to which the last reading stands; past it the values are UNKNOWN, unless `stands_in`
    says what is put in their place.
    """

    feature_class: FeatureClass
    carried_minutes: float
    stands_in: str


READING_RULES: tuple[ReadingRule, ...] = (
    ReadingRule(FeatureClass.ARRIVALS, 30, "nothing"),
    ReadingRule(
        FeatureClass.WAITING_BY_STAGE,
        HOUR,
        "last reading + arrivals - doses given since, where every period since is reported; a gap makes it unknown",
    ),
    ReadingRule(
        FeatureClass.OBSERVED_WAIT,
        30,
        "people before the needle / doses given a minute (Little's law), where both are newer and doses were given",
    ),
    ReadingRule(FeatureClass.BOOKED_AHEAD, 2 * HOUR, "nothing; an older reading moves up a bin every 15 minutes"),
    ReadingRule(FeatureClass.NO_SHOW_AND_PUNCTUALITY, 30 * DAY, "nothing"),
    ReadingRule(FeatureClass.WALK_IN_SHARE, 30 * DAY, "nothing"),
    ReadingRule(FeatureClass.DOSES_GIVEN, 30, "nothing"),
    ReadingRule(
        FeatureClass.DOSES_GIVEN_PAST_WEEKS, 30, "nothing; arrivals of past weeks come from the arrival history"
    ),
    ReadingRule(FeatureClass.STAFF_ON_DUTY, DAY, "the groups whose shift has not ended; unknown once all have"),
    ReadingRule(FeatureClass.FATIGUE, HOUR, "nothing"),
    ReadingRule(FeatureClass.STATIONS, 12 * HOUR, "possible stations from the city file; open ones: nothing"),
    ReadingRule(
        FeatureClass.SEATS, 30, "taken seats: people in observation, where newer; possible seats from the city file"
    ),
    ReadingRule(
        FeatureClass.DOSES_ON_HAND,
        math.inf,
        "last reading - doses given since, opened vials first, then by first expiry",
    ),
    ReadingRule(FeatureClass.LOT_EXPIRY, math.inf, "the expiry last told for the same lot at the same site"),
    ReadingRule(
        FeatureClass.FRIDGES,
        HOUR,
        "excursion minutes stay; set-point from the city file; temperature and power: nothing",
    ),
    ReadingRule(FeatureClass.COLD_VOLUME, DAY, "possible volume from the city file; used volume: nothing"),
    ReadingRule(
        FeatureClass.PLACE_AND_CALENDAR,
        math.inf,
        "vans and incidents stay until told otherwise; weather: nothing after 3 hours; the rest from the city",
    ),
)

CARRIED_MINUTES = np.array([rule.carried_minutes for rule in READING_RULES])
"""Age up to which the last reading of each class stands, (17,)."""
WEATHER_CARRIED_MINUTES = 3.0 * HOUR
