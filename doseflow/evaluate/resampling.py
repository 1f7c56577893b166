"""
Means over days with their uncertainty: a paired bootstrap over seeds, each scenario resampled for itself.

All planners of a scenario play the same seeds, and every resample takes the same seeds of all of them; what planners
share of a day's luck falls out of their differences and ratios (common random numbers). Axes: P planners, N seeds, M
measures, B resamples.

References
----------
B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13 (percentile intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray

RESAMPLES = 5_000
RESAMPLING_SEED = 20_250_101
FEWEST_SEEDS = 2
"""With fewer days nothing can be said about their spread."""
FEWEST_SURE_SEEDS = 10
"""With fewer days of a scenario a percentile interval is too narrow: of 2 days it holds the mean one time in two."""


@dataclass(frozen=True)
class Resampled:
    """A mean and its resamples: `point` (P, M) and `draws` (B, P, M); `draws` is empty where days are too few."""

    point: FloatArray
    draws: FloatArray

    def mean_with(self, others: Sequence[Resampled]) -> Resampled:
        """Mean of this and others with equal weights; drawn apart, since they are days of different scenarios."""
        together = [self, *others]
        fewest = min(len(one.draws) for one in together)
        return Resampled(
            np.mean([one.point for one in together], axis=0), np.mean([one.draws[:fewest] for one in together], axis=0)
        )


def resampled_mean(values: FloatArray, stream: int, resamples: int = RESAMPLES) -> Resampled:
    """
    Mean over seeds, of values (P, N, M); `stream` keeps the draws of different scenarios apart.

    The resamples of every planner take the same seeds.
    """
    num_planners, num_seeds, num_measures = values.shape
    point = values.mean(axis=1)
    if num_seeds < FEWEST_SEEDS:
        return Resampled(point, np.empty((0, num_planners, num_measures)))
    rng = np.random.default_rng([RESAMPLING_SEED, stream])
    counts = rng.multinomial(num_seeds, np.full(num_seeds, 1 / num_seeds), size=resamples)
    draws = np.tensordot(counts / num_seeds, values, axes=([1], [1]))
    return Resampled(point, draws)


def interval95(draws: FloatArray) -> tuple[float, float] | None:
    """Percentile interval of resamples, (B,); None where there are none or one is no number."""
    if not len(draws) or not np.isfinite(draws).all():
        return None
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)
