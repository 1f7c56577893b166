"""Who is near whom: the other sites in reach of each, nearest first."""

from __future__ import annotations

import math
from collections.abc import Iterable

from doseflow.domain.city import City


class Reach:
    """
    Travel between neighbouring sites of one city, sorted once.

    `from_site[idx]` and `to_site[idx]` list (travel minutes, other site), nearest first, for the way there and the
    way here.
    """

    def __init__(self, city: City) -> None:
        self.city = city
        travel = city.travel_by_pair
        others = [[other for other in row if other >= 0] for row in city.neighbour_idx.tolist()]
        self.from_site = [
            _known_nearest_first((travel.get((idx, other), math.nan), other) for other in row)
            for idx, row in enumerate(others)
        ]
        self.to_site = [
            _known_nearest_first((travel.get((other, idx), math.nan), other) for other in row)
            for idx, row in enumerate(others)
        ]


def _known_nearest_first(pairs: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    return sorted(pair for pair in pairs if math.isfinite(pair[0]))
