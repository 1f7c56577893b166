"""
How far a day's readings lie from those of a reference week, by the distance of Kolmogorov and Smirnov.

Readings of one day hang together, so that the test of the textbook, which takes them for independent, would speak
every day. Here the reference judges itself first: each of its days is set against the others, and a new day must lie
further off than these distances allow (one-sided prediction limit of Student's t).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from doseflow.domain.city import FloatArray
from doseflow.domain.feature_classes import FeatureClass

DayReadings = Mapping[FeatureClass, FloatArray]


@dataclass(frozen=True, slots=True)
class DistanceParams:
    """
    Parameters of the comparison.

    Parameters
    ----------
    reference_days
        Days of the reference: a week, so that every weekday is in it.
    false_alarms_per_day
        What all 17 classes together may give on a day like those of the reference.
    least_shift_share
        A class must lie so much further off than the reference days do among themselves: less is of no use to know.
    least_readings
        With fewer readings on any of the days a class is not judged.
    """

    reference_days: int = 7
    false_alarms_per_day: float = 0.01
    least_shift_share: float = 0.1
    least_readings: int = 20

    def __post_init__(self) -> None:
        if not 3 <= self.reference_days <= 60:
            raise ValueError(f"reference_days: must lie in 3..60, got {self.reference_days}")
        if not 0 < self.false_alarms_per_day < 1:
            raise ValueError(f"false_alarms_per_day: must lie between 0 and 1, got {self.false_alarms_per_day}")


@dataclass(frozen=True, slots=True)
class ClassDistance:
    """Distance of a day in one class, 0..1; what the reference days have among themselves; and the limit."""

    feature_class: FeatureClass
    distance_share: float
    usual_share: float
    limit_share: float

    @property
    def speaks(self) -> bool:
        """Whether the day is another than those of the reference."""
        return self.distance_share >= self.limit_share


def distances_of_day(
    reference: Sequence[DayReadings], day: DayReadings, params: DistanceParams
) -> tuple[ClassDistance, ...]:
    """Distance of each class that can be judged; the furthest beyond its limit first."""
    found = [
        _distance(feature_class, [each[feature_class] for each in reference], day[feature_class], params)
        for feature_class in FeatureClass
        if all(len(each[feature_class]) >= params.least_readings for each in (*reference, day))
    ]
    return tuple(sorted(found, key=lambda each: each.limit_share - each.distance_share))


def _distance(
    feature_class: FeatureClass, reference: Sequence[FloatArray], day: FloatArray, params: DistanceParams
) -> ClassDistance:
    among = [
        ks_distance(one, np.concatenate([other for at, other in enumerate(reference) if at != number]))
        for number, one in enumerate(reference)
    ]
    count, usual = len(among), float(np.mean(among))
    quantile = float(stdtrit(count - 1, 1 - params.false_alarms_per_day / len(FeatureClass)))
    spread = float(np.std(among, ddof=1)) * np.sqrt(1 + 1 / count)
    limit = usual + max(quantile * spread, params.least_shift_share)
    return ClassDistance(feature_class, ks_distance(day, np.concatenate(list(reference))), usual, limit)


def ks_distance(one: FloatArray, other: FloatArray) -> float:
    """Largest distance of the two empirical distribution functions, 0..1; neither may be empty."""
    one, other = np.sort(one), np.sort(other)
    at = np.concatenate([one, other])
    below_one = np.searchsorted(one, at, side="right") / len(one)
    below_other = np.searchsorted(other, at, side="right") / len(other)
    return float(np.abs(below_one - below_other).max())
