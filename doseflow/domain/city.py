"""The city: what does not change from one report to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, time
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.limits import OperatingLimits
from doseflow.domain.products import VaccineProduct

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fridge:
    """A cold store of a site. `volume_litres` is its usable volume."""

    fridge_id: str
    volume_litres: float
    set_point_celsius: float = 5.0


@dataclass(frozen=True, slots=True)
class Site:
    """
    A vaccination site.

    `stations_possible` and `minimum_team` follow the stage order of `domain.roles`; the station of the observation
    stage is a post from which one observer watches part of the seats. `opens_at` and `closes_at` are local times.
    """

    site_id: str
    name: str
    district: str
    latitude: float
    longitude: float
    opens_at: time
    closes_at: time
    stations_possible: tuple[int, int, int, int]
    seats_possible: int
    minimum_team: tuple[int, int, int, int]
    daily_capacity_people: int
    fridges: tuple[Fridge, ...]
    products: tuple[str, ...]
    """Products that the site may store and give, by `product_id`."""


@dataclass(frozen=True, slots=True)
class Van:
    """A cold-chain vehicle. `home_site_id` is where it stands unless reported elsewhere."""

    van_id: str
    home_site_id: str
    capacity_litres: float


@dataclass(frozen=True)
class City:
    """
    Everything fixed about a city.

    Parameters
    ----------
    neighbour_idx
        Nearest other sites of each site, (S, N), nearest first; -1 pads.
    neighbour_travel_minutes
        One-way travel to them, (S, N); NaN where padded.
    service_minutes
        Mean time one station serves one person, by stage, (R,); for observation the mean stay on a seat.
    seats_per_observer
        Seats one observer may watch.
    assumed
        What in this city is assumed rather than known: field name to the source or the word "assumed".
    holiday_overrides
        Days that are, or are not, holidays whatever the published calendar says.
    """

    city_id: str
    name: str
    timezone: str
    country: str
    sites: tuple[Site, ...]
    products: tuple[VaccineProduct, ...]
    vans: tuple[Van, ...]
    neighbour_idx: IntArray
    neighbour_travel_minutes: FloatArray
    service_minutes: tuple[float, float, float, float]
    seats_per_observer: int = 15
    limits: OperatingLimits = field(default_factory=OperatingLimits)
    assumed: dict[str, str] = field(default_factory=dict)
    holiday_overrides: dict[date, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.sites:
            raise ValueError("sites: must hold at least 1 site")
        for name in ("sites", "products", "vans"):
            ids = [getattr(item, f"{name[:-1]}_id") for item in getattr(self, name)]
            if len(set(ids)) != len(ids):
                repeated = next(one for one in ids if ids.count(one) > 1)
                raise ValueError(f"{name}: the id {repeated!r} is given more than once")
        shape = self.neighbour_travel_minutes.shape
        if self.neighbour_idx.shape != shape or len(self.neighbour_idx) != len(self.sites):
            raise ValueError("neighbour_idx: must have the shape (sites, neighbours) of neighbour_travel_minutes")

    @property
    def num_sites(self) -> int:
        """Number of sites, the length of axis S."""
        return len(self.sites)

    @cached_property
    def site_to_idx(self) -> dict[str, int]:
        """Position on axis S of each `site_id`."""
        return {site.site_id: idx for idx, site in enumerate(self.sites)}

    @cached_property
    def product_to_idx(self) -> dict[str, int]:
        """Position on axis K of each `product_id`."""
        return {product.product_id: idx for idx, product in enumerate(self.products)}

    @cached_property
    def van_to_idx(self) -> dict[str, int]:
        """Position of each `van_id` in the table of vans."""
        return {van.van_id: idx for idx, van in enumerate(self.vans)}

    @cached_property
    def minimum_team_people(self) -> IntArray:
        """People of each role without whom a site may not run, (S, R)."""
        return np.array([site.minimum_team for site in self.sites], dtype=np.int64)

    @cached_property
    def nominal_stations(self) -> FloatArray:
        """Stations that a site could open by stage, as the city file says, (S, R)."""
        return np.array([site.stations_possible for site in self.sites], dtype=np.float64)

    @cached_property
    def nominal_seats(self) -> FloatArray:
        """Observation seats of each site, as the city file says, (S,)."""
        return np.array([site.seats_possible for site in self.sites], dtype=np.float64)

    @cached_property
    def opening_minutes(self) -> IntArray:
        """Local opening and closing in minutes since midnight, (S, 2); a closing not later is the next day's."""
        hours = [(site.opens_at, site.closes_at) for site in self.sites]
        return np.array([[60 * one.hour + one.minute for one in pair] for pair in hours], dtype=np.int64)

    @cached_property
    def accepts_product(self) -> BoolArray:
        """Whether each site may store and give each product, (S, K)."""
        accepts = np.zeros((self.num_sites, len(self.products)), dtype=np.bool_)
        for site_idx, site in enumerate(self.sites):
            accepts[site_idx, [self.product_to_idx[one] for one in site.products if one in self.product_to_idx]] = True
        return accepts

    @cached_property
    def fridges_by_id(self) -> tuple[dict[str, Fridge], ...]:
        """Fridges of each site by `fridge_id`, in the order of axis S."""
        return tuple({fridge.fridge_id: fridge for fridge in site.fridges} for site in self.sites)

    @cached_property
    def travel_by_pair(self) -> dict[tuple[int, int], float]:
        """One-way travel minutes of each (from, to) pair of site positions; a pair not listed is out of reach."""
        pairs = {}
        for from_idx, (row, minutes) in enumerate(zip(self.neighbour_idx, self.neighbour_travel_minutes, strict=True)):
            for to_idx, travel in zip(row, minutes, strict=True):
                if to_idx >= 0:
                    pairs[from_idx, int(to_idx)] = float(travel)
                    pairs.setdefault((int(to_idx), from_idx), float(travel))
        return pairs
