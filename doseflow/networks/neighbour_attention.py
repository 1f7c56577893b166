"""Attention of every site over itself, its nearest neighbours, and the city as a whole."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

FORBIDDEN = -1e4
"""Added to the score of what must not be looked at; finite, so that half precision holds it."""


class NeighbourAttention(nn.Module):
    """
    One layer of attention over a padded table of neighbours.

    A site's neighbours are read from the table that is given, with their travel time as a learned bias on the score
    (as in graph attention, Velickovic et al. 2018, arXiv:1710.10903, with scaled dot products). The mean of all sites
    of the city is one more thing that every site can look at: what strikes the whole city shows there first.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.bias_of_travel = nn.Sequential(nn.Linear(1, 8), nn.GELU(), nn.Linear(8, heads))
        self.bias_of_self = nn.Parameter(torch.zeros(heads))
        self.bias_of_city = nn.Parameter(torch.zeros(heads))
        self.out = nn.Linear(width, width)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(
        self,
        sites: Tensor,
        neighbour_idx: Tensor,
        neighbour_travel: Tensor,
        neighbour_known: Tensor,
        site_mask: Tensor,
    ) -> Tensor:
        """
        New embeddings of the sites, (B, S, D).

        Parameters
        ----------
        sites
            (B, S, D).
        neighbour_idx, neighbour_travel, neighbour_known
            (B, S, N), of each city its own; or (S, N), the same for all replicas.
        site_mask
            1 where there is a site, 0 where the bucket is padded, (B, S).
        """
        normed = self.norm(sites)
        weight = site_mask[..., None]
        of_city = (normed * weight).sum(dim=1, keepdim=True) / weight.sum(dim=1, keepdim=True).clamp(min=1.0)
        key, value = self.key(normed), self.value(normed)
        # Neighbours of all cities out of one long row of sites.
        places = neighbour_idx + neighbour_idx.shape[-2] * number_of_city(site_mask)
        seen_key = self._seen(key, self.key(of_city), places)
        seen_value = self._seen(value, self.value(of_city), places)
        query = self._by_head(self.query(normed))[..., None, :]
        score = (query * seen_key).sum(dim=-1) / math.sqrt(self.head_width)
        attention = torch.softmax(score + self._bias(neighbour_travel, neighbour_known), dim=-1)
        read = (attention[..., None] * seen_value).sum(dim=-2)
        sites = sites + self.out(read.flatten(start_dim=2))
        mixed: Tensor = sites + self.feed_forward(sites)
        return mixed

    def _by_head(self, rows: Tensor) -> Tensor:
        return torch.unflatten(rows, -1, (self.heads, self.head_width))

    def _seen(self, rows: Tensor, of_city: Tensor, places: Tensor) -> Tensor:
        """What each site looks at, (B, S, H, N + 2, D / H): itself, the city, its neighbours."""
        num_sites = places.shape[1]
        near = rows.flatten(0, 1)[places]
        city = of_city.expand(-1, num_sites, -1)
        seen = torch.cat([rows[:, :, None], city[:, :, None], near], dim=2)
        return self._by_head(seen).transpose(2, 3)

    def _bias(self, neighbour_travel: Tensor, neighbour_known: Tensor) -> Tensor:
        """Added to the scores, (B, S, H, N + 2), or without B where the table has none."""
        near = self.bias_of_travel(neighbour_travel[..., None]) + (1 - neighbour_known[..., None]) * FORBIDDEN
        near = near.transpose(-1, -2)
        fixed = torch.stack([self.bias_of_self, self.bias_of_city], dim=-1)
        return torch.cat([fixed.expand(*near.shape[:-1], -1), near], dim=-1)


def number_of_city(site_mask: Tensor) -> Tensor:
    """0, 1, 2, ... for each city of (B, S), as (B, 1, 1); by a sum, since not every engine counts."""
    counted: Tensor = torch.ones_like(site_mask[:, :1, None], dtype=torch.int64).cumsum(dim=0) - 1
    return counted
