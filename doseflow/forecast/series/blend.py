"""The blend of several forecasts of the same steps: weights by what each missed lately."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS

STEPS = 200
PACE = 2.0
MOST_SLOPE = 5.0
"""Cut of a member's gradient over the least one's, so that one that went astray does not end the search."""
MOST_CELLS = 40_000
"""Cells of past forecasts that weights are learnt from."""
_LEVELS = np.array(QUANTILE_LEVELS)


@dataclass(frozen=True, slots=True)
class Blend:
    """
    How members are blended.

    Parameters
    ----------
    weights
        Of the members, (M,), not negative, summing to 1.
    """

    weights: FloatArray

    def of(self, members: FloatArray) -> FloatArray:
        """
        The blend of quantiles (M, ..., Q): quantiles are averaged, level by level (Vincent 1912; Lichtendahl et al.
        2013, doi:10.1287/mnsc.1120.1667).
        """
        mean: FloatArray = np.tensordot(self.weights, members, axes=1)
        return mean


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
    return Blend(weights / weights.sum())
