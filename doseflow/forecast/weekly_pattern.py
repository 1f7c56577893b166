"""What the same periods of past weeks say: their level, and how much a week may differ from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray


@dataclass(frozen=True, slots=True)
class WeeklyPattern:
    """
    Weighted mean of the known weeks.

    `mean_people` is (S, T), NaN where no week is known; `mean_variance_share` the variance of that mean over the
    variance of one week, (S, T); `rate_variance` the squared coefficient of variation of the rate between weeks, (S,).
    """

    mean_people: FloatArray
    mean_variance_share: FloatArray
    rate_variance: FloatArray


def weekly_pattern(past_people: FloatArray, week_decay: float, assumed_rate_variance: float) -> WeeklyPattern:
    """
    Fold past weeks, (S, W, T) with the latest first, into one pattern.

    Week w weighs `week_decay` ** w among the known ones, so that a gap in the latest week is filled by the older ones.
    """
    # Week by week, (S, T) at a time: NumPy is slow at sums over a short middle axis.
    shape = past_people[:, 0].shape
    sums = _WeekSums(*(np.zeros(shape) for _ in range(6)))
    for week_idx in range(past_people.shape[1]):
        sums.add(past_people[:, week_idx], week_decay**week_idx)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.weighted_people / sums.weight
        mean_variance_share = sums.squared_weight / sums.weight**2
    return WeeklyPattern(mean, mean_variance_share, sums.rate_variance(assumed_rate_variance))


@dataclass(slots=True)
class _WeekSums:
    """Sums over the known weeks, each (S, T)."""

    num_known: FloatArray
    weight: FloatArray
    squared_weight: FloatArray
    weighted_people: FloatArray
    people: FloatArray
    squared_people: FloatArray

    def add(self, week_people: FloatArray, weight: float) -> None:
        known = np.isfinite(week_people)
        people = np.where(known, week_people, 0.0)
        self.num_known += known
        self.weight += weight * known
        self.squared_weight += weight**2 * known
        self.weighted_people += weight * people
        self.people += people
        self.squared_people += people * people

    def rate_variance(self, assumed: float) -> FloatArray:
        """
        Moment estimate of alpha in variance = mean + alpha * mean**2, by site, drawn half-way to the city's own value.

        A site has some 72 degrees of freedom at best (4 weeks of 24 periods), too few to stand alone.
        """
        num_known = np.maximum(self.num_known, 1)
        across = self.people**2 / num_known
        several = self.num_known > 1
        poisson_part = (num_known - 1) * self.people / num_known
        excess = ((self.squared_people - across - poisson_part) * several).sum(axis=1)
        # Products of different weeks, not squares of the mean, which would hold the variance that is sought.
        scale = ((across - self.squared_people / num_known) * several).sum(axis=1)
        pull = float(scale.mean())
        if pull <= 0:
            return np.full(len(scale), assumed)
        of_city = max(0.0, float(excess.sum() / scale.sum()))
        shrunk: FloatArray = np.clip((excess + pull * of_city) / (scale + pull), 0.0, 1.0)
        return shrunk
