"""
Evolution strategy for a handful of numbers whose worth only chance-ridden trials tell.

Candidates come in mirrored pairs round the mean, every one of a generation is tried on the same days, and the mean goes
to the weighted middle of the better half: only their order counts, so that no single bad day rules (N. Hansen and A.
Ostermeier, Completely derandomized self-adaptation in evolution strategies, Evolutionary Computation 9(2), 2001,
doi:10.1162/106365601750190398, without the adaptation of shape, which so few trials cannot feed; T. Salimans and
others, Evolution strategies as a scalable alternative to reinforcement learning, arXiv 1703.03864, for mirrored pairs).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray


@dataclass(frozen=True)
class Evolution:
    """
    Where a search stands.

    Parameters
    ----------
    mean
        (D,), in units in which a step of `spread` is neither small nor large.
    spread
        Standard deviation of each number of a candidate.
    generation
        Generations that have been told.
    """

    mean: FloatArray
    spread: float
    generation: int = 0

    def candidates(self, num_pairs: int, seed: int) -> FloatArray:
        """Mirrored pairs round the mean, (2 n, D); the same seed and generation give the same ones."""
        rng = np.random.default_rng([seed, self.generation])
        steps = rng.standard_normal((num_pairs, len(self.mean)))
        return np.concatenate([self.mean + self.spread * steps, self.mean - self.spread * steps])

    def told(self, candidates: FloatArray, costs: FloatArray, spread_factor: float = 0.85) -> Evolution:
        """The next generation, given what each candidate cost, (2 n,): less is better."""
        best = np.argsort(costs, kind="stable")[: len(costs) // 2]
        weights = np.log(len(best) + 0.5) - np.log(np.arange(1, len(best) + 1))
        mean: FloatArray = weights @ candidates[best] / weights.sum()
        return Evolution(mean, self.spread * spread_factor, self.generation + 1)
