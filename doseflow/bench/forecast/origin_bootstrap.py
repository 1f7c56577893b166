"""
Scores as ratios of sums over origins, and their uncertainty by resampling runs of origins.

Origins that follow each other share the day they are on and partly the steps they forecast, so that they are drawn in
circular blocks. Every model and every score takes the same draws: what models share of a week's luck falls out of
their ratios. Axes: O origins, B resamples.

References
----------
D. N. Politis and J. P. Romano, A circular block-resampling procedure for stationary data, in Exploring the Limits of
Bootstrap, 1992 (circular blocks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray

RESAMPLES = 2_000
FEWEST_ORIGINS = 4
"""With fewer origins nothing can be said about their spread."""


@dataclass(frozen=True)
class OriginSums:
    """A score is `numerator.sum() / denominator.sum()`, both (O,)."""

    numerator: FloatArray
    denominator: FloatArray

    @property
    def score(self) -> float:
        """The score; NaN where nothing was scored."""
        total = self.denominator.sum()
        return float(self.numerator.sum() / total) if total > 0 else float("nan")

    def draws(self, counts: FloatArray) -> FloatArray:
        """The score of every resample, (B,), of how often each holds each origin, (B, O)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled: FloatArray = (counts @ self.numerator) / (counts @ self.denominator)
        return resampled


def block_length(origins: IntArray, horizon: int) -> int:
    """Origins in a block: as many as share steps with the first of it, at most a third of all."""
    if len(origins) < FEWEST_ORIGINS:
        return 1
    gap = max(float(np.median(np.diff(origins))), 1.0)
    return int(np.clip(np.ceil(horizon / gap), 1, max(len(origins) // 3, 1)))


def block_counts(num_origins: int, block: int, seed: int, resamples: int = RESAMPLES) -> FloatArray:
    """How often each resample holds each origin, (B, O); each row sums to about O, in whole blocks."""
    rng = np.random.default_rng(seed)
    num_blocks = -(-num_origins // block)
    starts = rng.integers(num_origins, size=(resamples, num_blocks))
    drawn = (starts[:, :, None] + np.arange(block)) % num_origins
    counts = np.zeros((resamples, num_origins))
    np.add.at(counts, (np.arange(resamples)[:, None, None], drawn), 1.0)
    return counts


def interval95(draws: FloatArray, num_origins: int) -> tuple[float, float] | None:
    """Percentile interval of resamples (B,); None where origins are too few or a resample is no number."""
    if num_origins < FEWEST_ORIGINS or not np.isfinite(draws).all():
        return None
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)
