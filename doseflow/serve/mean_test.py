"""
MeanTest: evidence that a mean lies above a bound, which may be looked at after every value and acted on at once.

The evidence is the capital of somebody who bets on each value against the claim "given all before, its mean is at most
the bound"; where the claim holds, no strategy makes the capital ever reach 1 / error_rate with more than that
probability (J. Ville, Étude critique de la notion de collectif, 1939). The stakes are a mixture over fixed ones (the
method of mixtures of S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Time-uniform, nonparametric, nonasymptotic
confidence sequences, Annals of Statistics 49(2), 2021, doi:10.1214/20-AOS1991), the bets those for bounded values of
I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86(1), 2024,
doi:10.1093/jrsssb/qkad009. Values need be neither independent nor alike.
"""

from __future__ import annotations

import numpy as np

_STAKES = np.geomspace(0.01, 0.95, 12)
"""Shares of the largest stake with which no value can cost everything."""


class MeanTest:
    """
    Tests the claim that the mean is at most `bound`.

    Parameters
    ----------
    bound
        Above `low`.
    low
        No value lies below it; one that does counts as `low`.
    error_rate
        Probability, 0..1, that a claim which holds is ever refuted.
    """

    def __init__(self, bound: float, *, low: float, error_rate: float) -> None:
        if not low < bound:
            raise ValueError(f"bound: must be more than low, {low}, got {bound}")
        if not 0 < error_rate < 1:
            raise ValueError(f"error_rate: must lie between 0 and 1, got {error_rate}")
        self._bound, self._low = bound, low
        self._log_needed = -np.log(error_rate)
        self._stakes = _STAKES / (bound - low)
        self._log_capitals = np.zeros(len(self._stakes))
        self.num_values = 0
        self.is_refuted = False
        self._sum = 0.0

    def take(self, value: float) -> None:
        """Take one value; what was refuted stays so."""
        value = max(value, self._low)
        self.num_values += 1
        self._sum += value
        self._log_capitals += np.log1p(self._stakes * (value - self._bound))
        self.is_refuted = self.is_refuted or self.log_evidence >= self._log_needed

    @property
    def log_evidence(self) -> float:
        """Logarithm of the capital; 0 before the first value."""
        largest = self._log_capitals.max()
        return float(largest + np.log(np.exp(self._log_capitals - largest).mean()))

    @property
    def mean(self) -> float:
        """Mean of the values, NaN before the first."""
        return self._sum / self.num_values if self.num_values else float("nan")
