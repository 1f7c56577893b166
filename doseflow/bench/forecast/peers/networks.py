"""
Two small networks in torch, trained on what is before the part played: an LSTM over each site's own past, and STID.

STID is embeddings of site, time of day and day of week beside the latest values, and a residual perceptron: Z. Shao,
Z. Zhang, F. Wang, W. Wei and Y. Xu, Spatial-Temporal Identity, CIKM 2022, doi:10.1145/3511808.3557702. Here it has a
head of quantiles and the pinball loss in place of one of means and absolute error. The LSTM (S. Hochreiter and
J. Schmidhuber, Neural Computation 9(8), 1997, doi:10.1162/neco.1997.9.8.1735) shares its weights between sites but for
a site's embedding, and sees nothing of any other site. Axes: B examples, L past steps, H width, N steps ahead, Q.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from doseflow.bench.forecast.peers.network_training import NetworkPeer, NetworkShape

WIDTH, EMBEDDING = 64, 24


class QuantileHead(nn.Module):
    """Quantiles that cannot cross: the middle one, and steps of at least 0 away from it, (B, H) to (B, N, Q)."""

    def __init__(self, width: int, horizon: int, num_levels: int) -> None:
        super().__init__()
        self.shape = (horizon, num_levels)
        self.linear = nn.Linear(width, horizon * num_levels)

    def forward(self, hidden: Tensor) -> Tensor:
        """Quantiles in the unit of the inputs."""
        raw = self.linear(hidden).unflatten(-1, self.shape)
        middle = self.shape[1] // 2
        steps = nn.functional.softplus(raw)
        below = raw[..., middle, None] - steps[..., :middle].flip(-1).cumsum(-1).flip(-1)
        above = raw[..., middle, None] + steps[..., middle + 1 :].cumsum(-1)
        return torch.cat([below, raw[..., middle, None], above], dim=-1)


class Stid(nn.Module):
    """Spatial-temporal identity: three embeddings beside the past, three residual layers."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.site = nn.Embedding(shape.num_series, EMBEDDING)
        self.time_of_day = nn.Embedding(shape.steps_per_day, EMBEDDING)
        self.day_of_week = nn.Embedding(7, EMBEDDING)
        self.past = nn.Linear(shape.past_steps, WIDTH)
        width = WIDTH + 3 * EMBEDDING
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width))
            for _ in range(3)
        )
        self.head = QuantileHead(width, shape.horizon, shape.num_levels)

    def forward(self, past: Tensor, site: Tensor, time_of_day: Tensor, day_of_week: Tensor) -> Tensor:
        """Quantiles (B, N, Q) of a past (B, L), a site and the calendar (B, L) of the past."""
        hidden = torch.cat(
            [
                self.past(past),
                self.site(site),
                self.time_of_day(time_of_day[:, -1]),
                self.day_of_week(day_of_week[:, -1]),
            ],
            dim=-1,
        )
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        quantiles: Tensor = self.head(hidden)
        return quantiles


class SiteLstm(nn.Module):
    """One layer over the past of one site, with the calendar at every step."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.site = nn.Embedding(shape.num_series, EMBEDDING)
        self.time_of_day = nn.Embedding(shape.steps_per_day, 8)
        self.day_of_week = nn.Embedding(7, 4)
        self.lstm = nn.LSTM(13, WIDTH, batch_first=True)
        self.between = nn.Sequential(nn.Linear(WIDTH + EMBEDDING + 12, 2 * WIDTH), nn.ReLU())
        self.head = QuantileHead(2 * WIDTH, shape.horizon, shape.num_levels)

    def forward(self, past: Tensor, site: Tensor, time_of_day: Tensor, day_of_week: Tensor) -> Tensor:
        """Quantiles (B, N, Q) of a past (B, L), a site and the calendar (B, L) of the past."""
        calendar = torch.cat([self.time_of_day(time_of_day), self.day_of_week(day_of_week)], dim=-1)
        states, _ = self.lstm(torch.cat([past[..., None], calendar], dim=-1))
        hidden = torch.cat([states[:, -1], self.site(site), calendar[:, -1]], dim=-1)
        quantiles: Tensor = self.head(self.between(hidden))
        return quantiles


def stid(seed: int) -> NetworkPeer:
    """STID, small."""
    return NetworkPeer("stid", Stid, seed)


def lstm(seed: int) -> NetworkPeer:
    """An LSTM that sees each site alone."""
    return NetworkPeer("lstm", SiteLstm, seed)
