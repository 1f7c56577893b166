"""Who is near whom: the other sites in reach of each, nearest first."""

from __future__ import annotations

import math
from collections.abc import Iterable

from doseflow.domain.city import City


class Reach:
    """
    Travel between neighbouring sites of one city, sorted once for each site that is asked about.

    Both ways are lists of (travel minutes, other site), nearest first.
    """

    def __init__(self, city: City) -> None:
        self.city = city
        self._from_site: dict[int, list[tuple[float, int]]] = {}
        self._to_site: dict[int, list[tuple[float, int]]] = {}

    def from_site(self, site_idx: int) -> list[tuple[float, int]]:
        """The way from a site to its neighbours."""
        if site_idx not in self._from_site:
            travel = self.city.travel_by_pair
            self._from_site[site_idx] = _known_nearest_first(
                (travel.get((site_idx, other), math.nan), other) for other in self._others(site_idx)
            )
        return self._from_site[site_idx]

    def to_site(self, site_idx: int) -> list[tuple[float, int]]:
        """The way to a site from its neighbours."""
        if site_idx not in self._to_site:
            travel = self.city.travel_by_pair
            self._to_site[site_idx] = _known_nearest_first(
                (travel.get((other, site_idx), math.nan), other) for other in self._others(site_idx)
            )
        return self._to_site[site_idx]

    def _others(self, site_idx: int) -> list[int]:
        return [other for other in self.city.neighbour_idx[site_idx].tolist() if other >= 0]


def _known_nearest_first(pairs: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    return sorted(pair for pair in pairs if math.isfinite(pair[0]))
