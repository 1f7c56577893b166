"""The real city: the 200 busiest sites of the Czech programme of spring 2021, equipped by assumption."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

import numpy as np

from doseflow.domain.city import City, IntArray
from doseflow.domain.neighbours import nearest_neighbours
from doseflow.simulate.czech_days import FIRST_ON, PRODUCT_IDS, CzechDays, czech_site_rows, czech_table
from doseflow.simulate.equipment import ASSUMED_FIELDS, Place, equipped_site, vans_at
from doseflow.simulate.parameters import SEATS_PER_OBSERVER, SimulationParams, mean_service_minutes
from doseflow.simulate.products import PRODUCTS

__all__ = ["CZECH_CITY_ID", "CzechDays", "czech_city"]

CZECH_CITY_ID = "czech"
SPRING = slice((date(2021, 4, 5) - FIRST_ON).days, None)
"""From 2021-04-05: the days that sites were ranked on, and that capacity and products are read from."""


@lru_cache(maxsize=2)
def czech_city(seed: int = 1) -> City:
    """The city; places, names and capacity are real, what `assumed` lists is drawn with the seed."""
    params = SimulationParams()
    rng = np.random.default_rng(seed)
    places = _places()
    sites = tuple(equipped_site(place, PRODUCTS, rng, params) for place in places)
    neighbour_idx, travel_minutes = nearest_neighbours(
        np.array([site.latitude for site in sites]), np.array([site.longitude for site in sites])
    )
    return City(
        city_id=CZECH_CITY_ID,
        name="Czech Republic, 200 busiest vaccination sites, spring 2021",
        timezone="Europe/Prague",
        country="CZ",
        sites=sites,
        products=PRODUCTS,
        vans=vans_at(sites),
        neighbour_idx=neighbour_idx,
        neighbour_travel_minutes=travel_minutes,
        service_minutes=mean_service_minutes(params),
        seats_per_observer=SEATS_PER_OBSERVER,
        assumed={**ASSUMED_FIELDS, **{f"product {p.product_id}": p.source for p in PRODUCTS}},
    )


def usual_capacity_people() -> IntArray:
    """Appointments of a full spring day at each site, (S,): the 95th percentile of the days it was open."""
    booked = czech_table().booked_people[SPRING].sum(axis=-1)
    capacity = czech_table().capacity_people[SPRING].sum(axis=-1)
    offered = np.maximum(booked, capacity).astype(float)
    full_days = np.nanpercentile(np.where(offered > 0, offered, np.nan), 95, axis=0)
    capacity_people: IntArray = np.ceil(full_days).astype(np.int64)
    return capacity_people


def _places() -> list[Place]:
    capacity = usual_capacity_people()
    handled = (czech_table().used_doses + czech_table().received_doses)[SPRING].sum(axis=0) > 0
    return [
        Place(
            site_id=row["site_id"],
            name=row["name"],
            district=row["district"],
            latitude=float(row["latitude"]),
            longitude=float(row["longitude"]),
            capacity_people=int(capacity[position]),
            products=tuple(p for p, used in zip(PRODUCT_IDS, handled[position], strict=True) if used)
            or PRODUCT_IDS[:1],
        )
        for position, row in enumerate(czech_site_rows())
    ]
