"""
An arrival net rewritten for engines: the same function in fewer and cheaper operations.

Linear maps that follow each other are one; heads are summed by a small matrix instead of being laid out anew; quantiles
are one array. Rounding alone differs, which the export holds to its tolerance. Training keeps the plain form.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from doseflow.networks.arrival_net import LEAST_DISPERSION, OPEN_CHANNEL, WIDEST_CORRECTION_LOG, ArrivalNet
from doseflow.networks.count_head import NEAR_ZERO, CountQuantiles
from doseflow.networks.neighbour_attention import FORBIDDEN, NeighbourAttention, number_of_city
from doseflow.networks.sequence_encoders import TAPS, ConvolutionEncoder, latest_of

PERIODS = 24
"""Length of the past for which the convolutions are rewritten."""


def joined(first: nn.Linear, second: nn.Linear) -> nn.Linear:
    """Two linear maps in a row as one."""
    return linear(second.weight @ first.weight, second.weight @ first.bias + second.bias)


def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A linear map of these weights, (out, in), and biases, (out,)."""
    made = nn.Linear(weight.shape[1], weight.shape[0])
    made.weight, made.bias = nn.Parameter(weight.detach().clone()), nn.Parameter(bias.detach().clone())
    return made


class LeanConvolutions(nn.Module):
    """
    The convolutions over 24 periods, (B, S, 24, C) to (B, S, D).

    Two periods side by side are a view, so a layer reads them and the one before without cutting windows out. The first
    linear map goes into the first layer: the rows before the first period are 0 and have no bias, hence a bias for each
    window.
    """

    first_bias: Tensor

    def __init__(self, encoder: ConvolutionEncoder) -> None:
        super().__init__()
        layers = [cast("nn.Linear", layer) for layer in encoder.layers]
        enter, first = encoder.enter, layers[0]
        taps = first.weight.chunk(TAPS, dim=1)
        self.enter = enter
        self.first = nn.Linear(TAPS * enter.in_features, first.out_features, bias=False)
        self.first.weight = nn.Parameter(torch.cat([tap @ enter.weight for tap in taps], dim=1).detach())
        bias = (first.bias + sum(tap @ enter.bias for tap in taps)).repeat(PERIODS // 2, 1)
        bias[0] -= taps[0] @ enter.bias
        self.register_buffer("first_bias", bias.detach())
        self.middle, self.last = nn.ModuleList(layers[1:-1]), layers[-1]

    def forward(self, recent: Tensor) -> Tensor:
        """See the class."""
        pairs, odd = _pairs(recent, PERIODS)
        rows = self.enter(odd) + nn.functional.gelu(self.first(_windows(pairs, odd)) + self.first_bias)
        length = PERIODS // 2
        for layer in self.middle:
            pairs, odd = _pairs(rows, length)
            rows, length = odd + nn.functional.gelu(layer(_windows(pairs, odd))), length // 2
        # Three rows are left, of which the last window reads all.
        latest: Tensor = rows[:, :, -1] + nn.functional.gelu(self.last(rows.flatten(2)))
        return latest

    @staticmethod
    def fits(encoder: nn.Module, periods: int) -> bool:
        """Whether an encoder can be rewritten so."""
        return isinstance(encoder, ConvolutionEncoder) and periods == PERIODS == TAPS * 2 ** (len(encoder.layers) - 1)


def _pairs(rows: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Two periods side by side, (B, S, L / 2, 2 C), and the later one of each, (B, S, L / 2, C)."""
    channels = int(rows.shape[-1])
    pairs = rows.reshape(rows.shape[0], rows.shape[1], length // 2, 2 * channels)
    return pairs, pairs[..., channels:]


def _windows(pairs: Tensor, odd: Tensor) -> Tensor:
    """Each pair behind the period before it, (B, S, L / 2, 3 C)."""
    before = nn.functional.pad(odd[:, :, :-1], (0, 0, 1, 0))
    return torch.cat([before, pairs], dim=-1)


class LeanAttention(nn.Module):
    """A layer of attention whose heads stay side by side: a matrix of ones and zeros sums and spreads them."""

    to_heads: Tensor
    fixed: Tensor

    def __init__(self, layer: NeighbourAttention) -> None:
        super().__init__()
        scale = 1 / math.sqrt(layer.head_width)
        self.norm, self.key, self.value, self.out = layer.norm, layer.key, layer.value, layer.out
        self.query = linear(layer.query.weight * scale, layer.query.bias * scale)
        self.bias_of_travel, self.feed_forward = layer.bias_of_travel, layer.feed_forward
        heads = torch.eye(layer.heads).repeat_interleave(layer.head_width, dim=0)
        self.register_buffer("to_heads", heads)
        self.register_buffer("fixed", torch.stack([layer.bias_of_self, layer.bias_of_city]).detach())

    def forward(
        self, sites: Tensor, idx: Tensor, travel: Tensor, forbidden: Tensor, weight: Tensor, num_sites: Tensor
    ) -> Tensor:
        """
        New embeddings of the sites, (B, S, D).

        Parameters
        ----------
        idx
            Places of the city and of each neighbour in one long row that has of each city itself and then its sites,
            (B, S, 1 + N).
        travel, forbidden
            (B, S, N, 1), and what is added where there is no neighbour, (B, S, N, 1).
        weight, num_sites
            1 where there is a site, (B, S, 1), and their number, (B, 1, 1).
        """
        normed = self.norm(sites)
        of_city = (normed * weight).sum(dim=1, keepdim=True) / num_sites
        key = self._seen(self.key(normed), self.key(of_city), idx)
        value = self._seen(self.value(normed), self.value(of_city), idx)
        near = self.bias_of_travel(travel) + forbidden
        num_near = int(near.shape[2])
        # Padded, not joined: a join would first lay out what is fixed once for every site.
        fixed = nn.functional.pad(self.fixed, (0, 0, 0, num_near))
        bias = nn.functional.pad(near, (0, 0, 2, 0)) + fixed
        score = (self.query(normed)[:, :, None] * key) @ self.to_heads + bias
        attention = torch.softmax(score, dim=2) @ self.to_heads.T
        sites = sites + self.out((attention * value).sum(dim=2))
        mixed: Tensor = sites + self.feed_forward(sites)
        return mixed

    @staticmethod
    def _seen(rows: Tensor, of_city: Tensor, idx: Tensor) -> Tensor:
        """What each site looks at, (B, S, N + 2, D): itself, the city, its neighbours."""
        city_and_sites = torch.cat([of_city, rows], dim=1).flatten(0, 1)
        return torch.cat([rows[:, :, None], city_and_sites[idx]], dim=2)


class LeanCountQuantiles(nn.Module):
    """`CountQuantiles` of a mean and a dispersion, both (..., 1), to (..., Q)."""

    normal: Tensor
    skewed: Tensor

    def __init__(self, plain: CountQuantiles) -> None:
        super().__init__()
        normal = torch.tensor(plain.normal_quantiles)
        self.register_buffer("normal", normal)
        self.register_buffer("skewed", (normal**2 - 1) / 6)

    def forward(self, mean: Tensor, dispersion: Tensor) -> Tensor:
        """See the class."""
        spread = torch.sqrt(dispersion * mean + NEAR_ZERO)
        skewness = 2 * dispersion - 1
        value = mean + self.normal * spread + self.skewed * skewness
        each = list(torch.split(torch.relu(value * (mean / (mean + NEAR_ZERO))), 1, dim=-1))
        for place in range(1, len(each)):
            each[place] = torch.maximum(each[place - 1], each[place])
        return torch.cat(each, dim=-1)


class LeanArrivalNet(nn.Module):
    """See the module; takes and gives what `ArrivalNet` does."""

    def __init__(self, net: ArrivalNet) -> None:
        super().__init__()
        self.shape = net.shape
        width = net.shape.width
        is_lean = LeanConvolutions.fits(net.encoder, PERIODS)
        self.encoder = LeanConvolutions(cast("ConvolutionEncoder", net.encoder)) if is_lean else net.encoder
        join = net.join.weight
        self.of_site = cast("nn.Linear", net.of_site[0])
        self.of_latest = linear(join[:, :width], net.join.bias)
        self.of_site_joined = joined(cast("nn.Linear", net.of_site[2]), linear(join[:, width:], 0 * net.join.bias))
        self.attention = nn.ModuleList([LeanAttention(cast("NeighbourAttention", one)) for one in net.attention])
        self.of_ahead = nn.Linear(net.shape.ahead_channels, width, bias=False)
        self.of_ahead.weight = net.of_ahead.weight
        self.to_ahead = linear(net.to_ahead.weight, net.to_ahead.bias + net.of_ahead.bias)
        self.decoder = net.decoder
        num = net.shape.candidates
        self.said = linear(net.said.weight, net.said.bias - torch.tensor([0.0] * num + [0.0, 4.0, 2.0, 3.0]))
        last = cast("nn.Linear", net.rest[2])
        self.rest = nn.Sequential(net.rest[0], net.rest[1], linear(last.weight, last.bias - torch.tensor([0, 0, 3.0])))
        self.quantiles = LeanCountQuantiles(net.quantiles)

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
        is_lean = isinstance(self.encoder, LeanConvolutions)
        latest = self.encoder(recent) if is_lean else latest_of(self.encoder, recent)
        seen = self.of_latest(latest) + self.of_site_joined(nn.functional.gelu(self.of_site(site)))
        weight = site_mask[..., None]
        num_sites = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
        forbidden = (1 - neighbour_known[..., None]) * FORBIDDEN
        # Joined, not padded: CUDA providers pad no whole numbers.
        idx = torch.cat([neighbour_idx[..., :1] * 0, neighbour_idx + 1], dim=-1)
        idx = idx + (neighbour_idx.shape[1] + 1) * number_of_city(site_mask)
        for layer in self.attention:
            seen = layer(seen, idx, neighbour_travel[..., None], forbidden, weight, num_sites)
        said = self.said(self.decoder(self.to_ahead(seen)[:, :, None] + self.of_ahead(ahead)))
        num = self.shape.candidates
        scores, correction, raised = torch.split(said, [num, 1, 3], dim=-1)
        weights = torch.softmax(scores + (1 - candidates_known) * FORBIDDEN, dim=-1)
        plain = (weights * (candidates_known * candidates)).sum(dim=-1, keepdim=True)
        nowhere, over, growth = torch.split(nn.functional.softplus(raised), 1, dim=-1)
        mean = plain * torch.exp(WIDEST_CORRECTION_LOG * torch.tanh(correction))
        mean = (mean + nowhere) * ahead[..., OPEN_CHANNEL : OPEN_CHANNEL + 1]
        dispersion = LEAST_DISPERSION + over + growth * mean
        return self.quantiles(mean, dispersion), self._rest_quantiles(seen, rest_doses[..., None])

    def _rest_quantiles(self, seen: Tensor, rest_doses: Tensor) -> Tensor:
        correction, raised = torch.split(self.rest(seen), [1, 2], dim=-1)
        over, growth = torch.split(nn.functional.softplus(raised), 1, dim=-1)
        mean = rest_doses * torch.exp(WIDEST_CORRECTION_LOG * torch.tanh(correction))
        rest: Tensor = self.quantiles(mean, LEAST_DISPERSION + over + growth * mean)
        return rest
