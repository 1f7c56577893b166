"""
A cumulative sum that needs to know neither mean nor spread beforehand.

Each value is set against those before it: as long as all are independent and of one normal distribution, the t
statistic of the n-th against the n - 1 before has n - 2 degrees of freedom, and its normal score is standard normal,
independent of the others. Their cumulative sum has the run lengths of a textbook.

D. M. Hawkins, Self-starting CUSUM charts for location and scale, The Statistician 36(4), 1987, doi:10.2307/2348827.
D. Siegmund, Sequential Analysis, Springer, 1985, section II.6 (run lengths).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri, stdtr

MOST_SCORE = 4.0
"""No single value counts for more: one wild day is no drift."""


@dataclass(frozen=True, slots=True)
class CusumParams:
    """
    Parameters of the sum.

    Parameters
    ----------
    slack
        Half of the shift that it is to find soonest, in standard deviations.
    alarm
        Sum that raises the alarm. One side alone comes there by chance about once in
        (exp(2 k b) - 2 k b - 1) / (2 k^2) values, with b = alarm + 1.166: for 0.5 and 5 in 938.
    least_values
        Values that are only learned from.
    """

    slack: float = 0.5
    alarm: float = 5.0
    least_values: int = 7

    def __post_init__(self) -> None:
        if not 0 < self.slack <= 5:
            raise ValueError(f"slack: must lie above 0 and at most at 5, got {self.slack}")
        if not 1 <= self.alarm <= 1000:
            raise ValueError(f"alarm: must lie in 1..1000, got {self.alarm}")
        if self.least_values < 4:
            raise ValueError(f"least_values: must be at least 4, got {self.least_values}")

    @property
    def values_to_false_alarm(self) -> float:
        """Mean number of standard normal values until one side raises a false alarm, by Siegmund's approximation."""
        reach = 2 * self.slack * (self.alarm + 1.166)
        return (math.exp(reach) - reach - 1) / (2 * self.slack**2)


class SelfStartingCusum:
    """
    Sums upwards and downwards; the alarm stays once it is raised.

    Parameters
    ----------
    two_sided
        Whether a fall is drift too, or only a rise.
    """

    def __init__(self, params: CusumParams | None = None, *, two_sided: bool = False) -> None:
        self.params = params or CusumParams()
        self._two_sided = two_sided
        self._mean = self._squares = 0.0
        self._up = self._down = 0.0
        self._most = 0.0
        self.num_values = 0

    @property
    def evidence_share(self) -> float:
        """The sum over the one that raises the alarm: 1 or more once it was raised."""
        return self._most if self._most >= 1 else max(self._up, self._down) / self.params.alarm

    @property
    def is_raised(self) -> bool:
        """Whether the alarm was raised."""
        return self._most >= 1

    @property
    def mean(self) -> float:
        """Mean of all values, NaN before the first."""
        return self._mean if self.num_values else math.nan

    def take(self, value: float) -> None:
        """Set a value against those before it, and learn from it; one that is not finite is left out."""
        if not math.isfinite(value):
            return
        if self.num_values >= self.params.least_values:
            score = self._score(value)
            self._up = max(0.0, self._up + score - self.params.slack)
            self._down = max(0.0, self._down - score - self.params.slack) if self._two_sided else 0.0
            self._most = max(self._most, max(self._up, self._down) / self.params.alarm)
        self._learn(value)

    def _score(self, value: float) -> float:
        count = self.num_values
        spread = math.sqrt(self._squares / (count - 1) * (1 + 1 / count))
        if spread == 0:
            return 0.0 if value == self._mean else math.copysign(MOST_SCORE, value - self._mean)
        score = float(ndtri(stdtr(count - 1, (value - self._mean) / spread)))
        return min(MOST_SCORE, max(-MOST_SCORE, score))

    def _learn(self, value: float) -> None:
        self.num_values += 1
        step = value - self._mean
        self._mean += step / self.num_values
        self._squares += step * (value - self._mean)
