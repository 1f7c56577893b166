"""Quantiles of a count from its mean and dispersion: rising in the level and never negative, whatever the net says."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import torch
from torch import Tensor, nn

NEAR_ZERO = 1e-6


class CountQuantiles(nn.Module):
    """
    Second-order Cornish-Fisher quantiles of a negative binomial count; see `forecast/count_quantiles.py`.

    The same formula in numpy and here, held together by a test. It knows the noise of counting, so the net has to learn
    only what is on top of it, and one net serves small and large sites.
    """

    def __init__(self, levels: Sequence[float]) -> None:
        super().__init__()
        self.normal_quantiles = [NormalDist().inv_cdf(level) for level in levels]

    def forward(self, mean: Tensor, dispersion: Tensor) -> Tensor:
        """
        Quantiles, (..., Q), from a mean of at least 0 and its variance over mean, both (...).

        Where the mean is 0 all of them are.
        """
        spread = torch.sqrt(dispersion * mean + NEAR_ZERO)
        skewness = 2 * dispersion - 1
        # The correction for skewness fades where hardly anybody is expected, so that nobody stays nobody.
        is_somebody = mean / (mean + NEAR_ZERO)
        quantiles: list[Tensor] = []
        lower = torch.zeros_like(mean)
        for normal in self.normal_quantiles:
            value = mean + normal * spread + (normal**2 - 1) / 6 * skewness
            lower = torch.maximum(value * is_somebody, lower)
            quantiles.append(lower)
        return torch.stack(quantiles, dim=-1)
