"""A made city of any size: sites clustered around centres, sizes log-normal, days that follow a weekday pattern."""

from __future__ import annotations

import zlib
from datetime import date

import numpy as np

from doseflow.domain.city import City, FloatArray, IntArray
from doseflow.domain.neighbours import nearest_neighbours
from doseflow.errors import CityWrong
from doseflow.simulate.city_days import CityDay
from doseflow.simulate.equipment import ASSUMED_FIELDS, Place, equipped_site, vans_at
from doseflow.simulate.parameters import ASSUMED, SEATS_PER_OBSERVER, SimulationParams, mean_service_minutes
from doseflow.simulate.products import PRODUCTS

MAX_SITES = 20_000
CENTRE_LATITUDE, CENTRE_LONGITUDE = 30.66, 104.06
KM_PER_DEGREE = 111.2
SQUARE_KM_PER_SITE = 7.5
MEDIAN_CAPACITY_PEOPLE = 250.0
CAPACITY_SD = 0.9
"""Log-normal spread of capacity over sites; 0.97 in the packaged Czech city."""
MAX_CAPACITY_PEOPLE = 4500
MODERNA_SHARE = 0.5
WEEKDAY_FACTORS = (0.86, 1.03, 1.07, 1.19, 1.22, 0.98, 0.65)
"""Doses by weekday, Monday first, of New York City February to June 2021 (nychealth/covid-vaccine-data)."""
CITY_DAY_SD = 0.12
"""Residual coefficient of variation of the same series."""
SITE_DAY_SD = 0.25
TYPICAL_FILL = 0.65
"""Bookings of a typical day as a share of a full day's; assumed."""


def synthetic_city(num_sites: int, seed: int = 1) -> City:
    """
    A city of `num_sites` sites; the same seed gives the same city.

    Raises
    ------
    CityWrong
        `num_sites` is not in 1..20,000.
    """
    if not 1 <= num_sites <= MAX_SITES:
        raise CityWrong(f"city: the number of sites must lie in 1..{MAX_SITES}, got {num_sites}")
    params, rng = SimulationParams(), np.random.default_rng([seed, num_sites])
    latitudes, longitudes, district_idx = _positions(num_sites, rng)
    drawn = MEDIAN_CAPACITY_PEOPLE * np.exp(CAPACITY_SD * rng.standard_normal(num_sites))
    capacity = np.clip(np.rint(drawn), 20, MAX_CAPACITY_PEOPLE).astype(np.int64)
    has_moderna = rng.random(num_sites) < MODERNA_SHARE
    places = [
        Place(
            site_id=f"site-{k + 1:05}",
            name=f"Site {k + 1}",
            district=f"District {district_idx[k] + 1}",
            latitude=round(float(latitudes[k]), 6),
            longitude=round(float(longitudes[k]), 6),
            capacity_people=int(capacity[k]),
            products=("comirnaty", "moderna") if has_moderna[k] else ("comirnaty",),
        )
        for k in range(num_sites)
    ]
    sites = tuple(equipped_site(place, PRODUCTS, rng, params) for place in places)
    neighbour_idx, travel_minutes = nearest_neighbours(latitudes, longitudes, speed_kmh=30.0)
    return City(
        city_id=f"synthetic-{num_sites}-{seed}",
        name=f"Synthetic city of {num_sites} sites",
        timezone="Asia/Shanghai",
        country="CN",
        sites=sites,
        products=PRODUCTS,
        vans=vans_at(sites),
        neighbour_idx=neighbour_idx,
        neighbour_travel_minutes=travel_minutes,
        service_minutes=mean_service_minutes(params),
        seats_per_observer=SEATS_PER_OBSERVER,
        assumed={
            **ASSUMED_FIELDS,
            "everything": "made by a seeded generator",
            "neighbour_travel_minutes": f"{ASSUMED}: great-circle distance x 1.3 at 30 km/h",
        },
    )


def _positions(num_sites: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray]:
    """Latitude, longitude and centre of each site; centres lie in a disc whose area grows with the city."""
    radius_km = np.sqrt(SQUARE_KM_PER_SITE * num_sites / np.pi)
    num_centres = max(1, round(np.sqrt(num_sites) / 1.5))
    angle, distance_km = rng.uniform(0, 2 * np.pi, num_centres), radius_km * np.sqrt(rng.random(num_centres))
    weights = rng.dirichlet(np.full(num_centres, 2.0))
    centre_idx = rng.choice(num_centres, num_sites, p=weights)
    spread_km = radius_km / np.sqrt(num_centres)
    east_km = distance_km * np.cos(angle)
    north_km = distance_km * np.sin(angle)
    east = east_km[centre_idx] + rng.normal(0, spread_km, num_sites)
    north = north_km[centre_idx] + rng.normal(0, spread_km, num_sites)
    longitudes = CENTRE_LONGITUDE + east / (KM_PER_DEGREE * np.cos(np.radians(CENTRE_LATITUDE)))
    return CENTRE_LATITUDE + north / KM_PER_DEGREE, longitudes, centre_idx


class SyntheticDays:
    """Made days of any city: its capacity by a weekday pattern, with a city-wide and a site's own variation."""

    def __init__(self, city: City, seed: int = 1) -> None:
        self._city = city
        self._seed = [seed, zlib.crc32(city.city_id.encode())]
        self._capacity = np.array([site.daily_capacity_people for site in city.sites], dtype=np.int64)

    def on(self, day_on: date) -> CityDay:
        """The day; the same seed gives the same day."""
        city, rng = self._city, np.random.default_rng([*self._seed, day_on.toordinal()])
        city_factor = WEEKDAY_FACTORS[day_on.weekday()] * rng.normal(1, CITY_DAY_SD)
        site_factor = np.exp(rng.normal(0, SITE_DAY_SD, city.num_sites))
        booked = np.rint(self._capacity * TYPICAL_FILL * np.clip(city_factor, 0.1, None) * site_factor)
        booked = np.minimum(booked.astype(np.int64), self._capacity)
        delivered = np.zeros((city.num_sites, len(city.products)), dtype=np.int64)
        used = np.zeros_like(delivered)
        main_product = [city.product_to_idx[site.products[0]] if site.products else 0 for site in city.sites]
        used[np.arange(city.num_sites), main_product] = booked
        receives = rng.random(city.num_sites) < 1 / 3
        delivered[np.arange(city.num_sites), main_product] = np.where(receives, 3 * booked, 0)
        return CityDay(day_on, self._capacity, booked, delivered, used)
