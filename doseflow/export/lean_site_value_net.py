"""A site value net rewritten for engines: its activation in the form that engines know as one operation."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from doseflow.networks.site_value_net import SiteValueNet

_SLOPE, _CUBIC = math.sqrt(2 / math.pi), 0.044715


class LeanSiteValueNet(nn.Module):
    """See the module; takes and gives what `SiteValueNet` does."""

    def __init__(self, net: SiteValueNet) -> None:
        super().__init__()
        self.enter, self.layers, self.said = net.enter, net.layers, net.said

    def forward(self, features: Tensor) -> Tensor:
        """What each change adds, in units of the site's scale, (N, V), from (N, F)."""
        hidden = _gelu(self.enter(features))
        for layer in self.layers:
            hidden = hidden + _gelu(layer(hidden))
        values: Tensor = self.said(hidden)
        return values


def _gelu(x: Tensor) -> Tensor:
    """GELU by the hyperbolic tangent (Hendrycks and Gimpel 2016, arXiv:1606.08415), without a power."""
    return (x * 0.5) * (1 + torch.tanh(x * _SLOPE * (x * _CUBIC * x + 1)))
