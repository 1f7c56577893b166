"""Who is near whom: the other sites in reach of each, nearest first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from doseflow.domain.city import City, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """Trips from one site to another, a row a trip, ordered by the sites' names; all (P,)."""

    from_idx: IntArray
    to_idx: IntArray
    travel_minutes: FloatArray


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

    @cached_property
    def pairs(self) -> Pairs:
        """Every trip whose travel time is known."""
        names = [site.site_id for site in self.city.sites]
        known = [(*pair, travel) for pair, travel in self.city.travel_by_pair.items() if math.isfinite(travel)]
        known.sort(key=lambda trip: (names[trip[1]], names[trip[0]]))
        columns = np.array(known, dtype=np.float64).reshape(-1, 3)
        return Pairs(columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64), columns[:, 2])

    def _others(self, site_idx: int) -> list[int]:
        return [other for other in self.city.neighbour_idx[site_idx].tolist() if other >= 0]


def _known_nearest_first(pairs: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    return sorted(pair for pair in pairs if math.isfinite(pair[0]))
