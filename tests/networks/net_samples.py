"""Nets with random weights and the arrays that they take, drawn at random."""

from __future__ import annotations

import torch
from torch import Tensor

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.networks.arrival_net import OPEN_CHANNEL, ArrivalNet, ArrivalNetShape

RECENT, AHEAD, SITE, CANDIDATES, PERIODS, NEIGHBOURS = 4, 7, 5, 3, 24, 3


def make_net(seed: int = 0, *, weight_scale: float | None = None, **given) -> ArrivalNet:
    """A small net as it is before training; with a scale, all of its weights are drawn from a normal of that scale."""
    torch.manual_seed(seed)
    shape = ArrivalNetShape(
        recent_channels=RECENT,
        ahead_channels=AHEAD,
        site_features=SITE,
        candidates=CANDIDATES,
        quantile_levels=QUANTILE_LEVELS,
        **({"width": 16} | given),
    )
    net = ArrivalNet(shape).eval()
    if weight_scale is not None:
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.normal_(std=weight_scale)
    return net


def make_inputs(seed: int = 0, replicas: int = 2, sites: int = 6, people: float = 5.0) -> dict[str, Tensor]:
    """Inputs of some replicas of a city: all sites are there, some candidates are unknown, some periods closed."""
    rng = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(shape, generator=rng)

    def chance(share: float, *shape: int) -> Tensor:
        return (uniform(*shape) < share).float()

    ahead = 2 * uniform(replicas, sites, PERIODS, AHEAD) - 1
    ahead[..., OPEN_CHANNEL] = chance(0.8, replicas, sites, PERIODS)
    return {
        "recent": 4 * uniform(replicas, sites, PERIODS, RECENT) - 2,
        "ahead": ahead,
        "candidates": people * uniform(replicas, sites, PERIODS, CANDIDATES),
        "candidates_known": chance(0.7, replicas, sites, PERIODS, CANDIDATES),
        "site": 4 * uniform(replicas, sites, SITE) - 2,
        "rest_doses": 20 * people * uniform(replicas, sites),
        "site_mask": torch.ones(replicas, sites),
        "neighbour_idx": torch.randint(sites, (sites, NEIGHBOURS), generator=rng),
        "neighbour_travel": uniform(sites, NEIGHBOURS),
        "neighbour_known": chance(0.8, sites, NEIGHBOURS),
    }


@torch.no_grad()
def answer(net: ArrivalNet, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """What a net says."""
    return net(*inputs.values())
