"""
ArrivalNet: who will come to every site in the coming periods, and how many doses the day still takes.

A sequence encoder reads the last two hours of each site, graph attention lets sites read each other, and a decoder that
is shared by all periods weighs the plain expectations it is given, corrects them, and says how sure it is. What it adds
to those expectations is learned; with untrained weights it is near their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from doseflow.networks.count_head import CountQuantiles
from doseflow.networks.neighbour_attention import FORBIDDEN, NeighbourAttention
from doseflow.networks.sequence_encoders import ENCODERS, encoder_of, latest_of

WIDEST_CORRECTION_LOG = 1.5
"""The mean is at most exp(1.5), about 4.5, times what the plain expectations say, or that much under it."""

LEAST_DISPERSION = 1.0
"""
Variance over mean is at least that of chance arrivals. With 0.3, since people with appointments come more evenly, the
loss on validation days was the same.
"""


@dataclass(frozen=True)
class ArrivalNetShape:
    """Sizes of a net; the channel counts are those of its inputs."""

    recent_channels: int
    ahead_channels: int
    site_features: int
    candidates: int
    quantile_levels: tuple[float, ...]
    encoder: str = "convolution"
    width: int = 64
    heads: int = 4
    attention_layers: int = 2

    def __post_init__(self) -> None:
        if self.encoder not in ENCODERS:
            raise ValueError(f"encoder: must be one of {', '.join(ENCODERS)}, got {self.encoder!r}")
        if self.width % self.heads:
            raise ValueError(f"width: must be a multiple of heads ({self.heads}), got {self.width}")
        if not 0 <= self.attention_layers <= 8:
            raise ValueError(f"attention_layers: must lie in 0..8, got {self.attention_layers}")


class ArrivalNet(nn.Module):
    """See the module; `forward` takes the arrays of `forecast/net_inputs.py`, in the order of their names there."""

    def __init__(self, shape: ArrivalNetShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.encoder = encoder_of(shape.encoder, shape.recent_channels, width)
        self.of_site = nn.Sequential(nn.Linear(shape.site_features, width), nn.GELU(), nn.Linear(width, width))
        self.join = nn.Linear(2 * width, width)
        self.attention = nn.ModuleList([NeighbourAttention(width, shape.heads) for _ in range(shape.attention_layers)])
        self.of_ahead = nn.Linear(shape.ahead_channels, width)
        self.to_ahead = nn.Linear(width, width)
        self.decoder = nn.Sequential(nn.GELU(), nn.Linear(width, width), nn.GELU())
        # Weights of the candidates, log correction, people out of nowhere, dispersion, its growth with the mean.
        self.said = nn.Linear(width, shape.candidates + 4)
        self.rest = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 3))
        self.quantiles = CountQuantiles(shape.quantile_levels)
        for name, parameter in (*self.said.named_parameters(), *self.rest[-1].named_parameters()):
            nn.init.normal_(parameter, std=0.01 if name == "weight" else 0.0)

    def forward(
        self,
        recent: Tensor,
        ahead: Tensor,
        candidates: Tensor,
        candidates_known: Tensor,
        site: Tensor,
        rest_doses: Tensor,
        site_mask: Tensor,
        neighbour_idx: Tensor,
        neighbour_travel: Tensor,
        neighbour_known: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Quantiles of arrivals, (B, S, T, Q), and of doses for the rest of the day, (B, S, Q)."""
        seen = self.join(torch.cat([latest_of(self.encoder, recent), self.of_site(site)], dim=-1))
        for layer in self.attention:
            seen = layer(seen, neighbour_idx, neighbour_travel, neighbour_known, site_mask)
        hidden = self.decoder(self.to_ahead(seen)[:, :, None] + self.of_ahead(ahead))
        said = self.said(hidden)
        num = self.shape.candidates
        weights = torch.softmax(said[..., :num] + (1 - candidates_known) * FORBIDDEN, dim=-1)
        plain = (weights * candidates_known * candidates).sum(dim=-1)
        correction, nowhere, over, growth = said[..., num:].unbind(dim=-1)
        is_open = ahead[..., OPEN_CHANNEL]
        mean = plain * torch.exp(WIDEST_CORRECTION_LOG * torch.tanh(correction))
        mean = (mean + nn.functional.softplus(nowhere - 4.0)) * is_open
        dispersion = LEAST_DISPERSION + nn.functional.softplus(over - 2.0)
        dispersion = dispersion + nn.functional.softplus(growth - 3.0) * mean
        return self.quantiles(mean, dispersion), self._rest_quantiles(seen, rest_doses)

    def _rest_quantiles(self, seen: Tensor, rest_doses: Tensor) -> Tensor:
        correction, over, growth = self.rest(seen).unbind(dim=-1)
        mean = rest_doses * torch.exp(WIDEST_CORRECTION_LOG * torch.tanh(correction))
        dispersion = LEAST_DISPERSION + nn.functional.softplus(over) + nn.functional.softplus(growth - 3.0) * mean
        rest: Tensor = self.quantiles(mean, dispersion)
        return rest


OPEN_CHANNEL = 5
"""Position of `is_open` among the channels of `ahead`."""


def num_parameters(net: nn.Module) -> int:
    """Trained numbers in a net."""
    return sum(parameter.numel() for parameter in net.parameters())


def input_names() -> Sequence[str]:
    """Names of the arrays that `forward` takes, in order."""
    return (
        "recent",
        "ahead",
        "candidates",
        "candidates_known",
        "site",
        "rest_doses",
        "site_mask",
        "neighbour_idx",
        "neighbour_travel",
        "neighbour_known",
    )
