"""The blend of several forecasts of the same steps: weights by what each missed lately, and the width that covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS

STEPS = 200
PACE = 0.2
MOST_SLOPE = 5.0
"""Cut of a member's gradient over the least one's, so that one that went astray does not end the search."""
MOST_CELLS = 40_000
"""Cells of past forecasts that weights are learnt from."""
WIDTHS = np.linspace(0.7, 1.6, 19)
WANTED_COVER = QUANTILE_LEVELS[-1] - QUANTILE_LEVELS[0]
COVER_PRICE = 3.0
"""What a coverage that is off by one costs, in parts of the loss."""
FREE_COVER = 0.02
_LEVELS = np.array(QUANTILE_LEVELS)


@dataclass(frozen=True, slots=True)
class Blend:
    """
    How members are blended.

    Parameters
    ----------
    weights
        Of the members, (M,), not negative, summing to 1.
    width
        Factor on the distance of every quantile from the median.
    """

    weights: FloatArray
    width: float

    def of(self, members: FloatArray) -> FloatArray:
        """
        The blend of quantiles (M, ..., Q): quantiles are averaged, level by level (Vincent 1912; Lichtendahl et al.
        2013, doi:10.1287/mnsc.1120.1667).
        """
        mean = np.tensordot(self.weights, members, axes=1)
        median = mean[..., MEDIAN_IDX : MEDIAN_IDX + 1]
        widened: FloatArray = median + self.width * (mean - median)
        return widened


def fit_blend(members: FloatArray, came: FloatArray, rng: np.random.Generator) -> Blend:
    """
    The blend that would have missed least.

    Exponentiated gradient from equal weights (Kivinen and Warmuth 1997, doi:10.1006/inco.1996.2612): it leaves equal
    weights only as far as the losses tell members apart.

    Parameters
    ----------
    members
        Past forecasts, (M, n, Q), without unknown values.
    came
        What came, (n,).
    """
    num_members, num_cells, _ = members.shape
    if num_cells > MOST_CELLS:
        chosen = rng.choice(num_cells, MOST_CELLS, replace=False)
        members, came = members[:, chosen], came[chosen]
    total = max(float(np.abs(came).sum()), 1e-9)
    weights = np.full(num_members, 1 / num_members)
    for _ in range(STEPS if num_members > 1 else 0):
        told = np.tensordot(weights, members, axes=1)
        slope = np.where(came[:, None] < told, 1 - _LEVELS, -_LEVELS)
        # The gradient of the weighted quantile loss along each member.
        gradient = 2 * np.einsum("nq,mnq->m", slope, members) / (len(_LEVELS) * total)
        weights = weights * np.exp(-PACE * np.minimum(gradient - gradient.min(), MOST_SLOPE))
        weights = np.maximum(weights / weights.sum(), 1e-6)
    weights = weights / weights.sum()
    return Blend(weights, _width(np.tensordot(weights, members, axes=1), came, total))


def _width(told: FloatArray, came: FloatArray, total: float) -> float:
    """The width of least loss among those that cover nearly what they say."""
    median = told[:, MEDIAN_IDX : MEDIAN_IDX + 1]
    costs = []
    for width in WIDTHS:
        quantiles = median + width * (told - median)
        miss = came[:, None] - quantiles
        loss = 2 * np.maximum(_LEVELS * miss, (_LEVELS - 1) * miss).mean(axis=1).sum() / total
        covered = ((quantiles[:, 0] <= came) & (came <= quantiles[:, -1])).mean()
        costs.append(loss * (1 + COVER_PRICE * max(0.0, abs(covered - WANTED_COVER) - FREE_COVER)))
    return float(WIDTHS[int(np.argmin(costs))])
