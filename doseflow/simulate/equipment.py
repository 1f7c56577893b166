"""
What the data does not tell of a site: hours, stations, seats, fridges. Sized from its capacity, all assumed and said
so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time

import numpy as np

from doseflow.domain.city import Fridge, Site, Van
from doseflow.domain.products import VaccineProduct
from doseflow.simulate.day_profile import BOOKED_TENTHS, minutes_of
from doseflow.simulate.parameters import ASSUMED, SEATS_PER_OBSERVER, SimulationParams, mean_service_minutes
from doseflow.units import MINUTES_PER_HOUR

HOURS = ((60, time(8), time(13)), (300, time(8), time(16)), (1000, time(8), time(18)), (math.inf, time(7), time(19)))
"""Capacity a day up to which a site has these hours."""
FRIDGES = ((150, 1), (800, 2), (math.inf, 3))
"""Capacity a day up to which a site has so many fridges."""
SPARE_SHARE = 0.15
"""Stations beyond what the capacity needs at its peak."""
SEATS_SPARE_SHARE = 0.4
"""Seats beyond it: the people of a quarter of an hour vary more than those of a minute."""
PEAK_RATIO = max(BOOKED_TENTHS) * len(BOOKED_TENTHS)
VANS_PER_SITE = 0.1
VAN_LITRES = 40.0

ASSUMED_FIELDS = {
    "opens_at, closes_at": f"{ASSUMED}: by capacity, 08:00-13:00 for the smallest to 07:00-19:00 for the largest",
    "stations_possible": f"{ASSUMED}: the day's capacity at its peak hour at the planned utilisation, and 15 % more",
    "seats_possible": f"{ASSUMED}: as stations, for a mean stay of about 16 min, and 40 % more",
    "minimum_team": f"{ASSUMED}: one person of each role",
    "fridges": f"{ASSUMED}: 1 to 3 by capacity; room for 1.5 to 4 times the usual stock",
    "vans": f"{ASSUMED}: one to ten sites, at the busiest ones, {VAN_LITRES:g} L",
    "service_minutes": "Hanly et al. 2022, BMC Health Serv Res 22:1059; observation 15 min, 30 min for 5 % (CDC)",
    "seats_per_observer": ASSUMED,
    "neighbour_travel_minutes": f"{ASSUMED}: great-circle distance x 1.3 at 45 km/h",
    "limits": ASSUMED,
}


@dataclass(frozen=True, slots=True)
class Place:
    """What is known of a site before it is equipped."""

    site_id: str
    name: str
    district: str
    latitude: float
    longitude: float
    capacity_people: int
    products: tuple[str, ...]


def equipped_site(
    place: Place, products: Sequence[VaccineProduct], rng: np.random.Generator, params: SimulationParams
) -> Site:
    """The place with hours, stations, seats and fridges."""
    opens_at, closes_at = next(hours for bound, *hours in HOURS if place.capacity_people <= bound)
    open_hours = (minutes_of(closes_at) - minutes_of(opens_at)) / MINUTES_PER_HOUR
    peak_per_minute = place.capacity_people * PEAK_RATIO / open_hours / MINUTES_PER_HOUR
    service_minutes = mean_service_minutes(params)
    stations = [_with_spare(peak_per_minute * m / params.planned_utilisation_share) for m in service_minutes[:3]]
    seats = 2 + math.ceil(peak_per_minute * service_minutes[3] * (1 + SEATS_SPARE_SHARE))
    return Site(
        site_id=place.site_id,
        name=place.name,
        district=place.district,
        latitude=place.latitude,
        longitude=place.longitude,
        opens_at=opens_at,
        closes_at=closes_at,
        stations_possible=(stations[0], stations[1], stations[2], math.ceil(seats / SEATS_PER_OBSERVER)),
        seats_possible=seats,
        minimum_team=(1, 1, 1, 1),
        daily_capacity_people=place.capacity_people,
        fridges=_fridges(place, products, rng, params),
        products=place.products,
    )


def _with_spare(need: float) -> int:
    return max(1, math.ceil(need * (1 + SPARE_SHARE)))


def _fridges(
    place: Place, products: Sequence[VaccineProduct], rng: np.random.Generator, params: SimulationParams
) -> tuple[Fridge, ...]:
    bulkiest_litres = max(p.litres_per_vial / p.doses_per_vial for p in products if p.product_id in place.products)
    litres = max(1.0, place.capacity_people * params.stock_days * bulkiest_litres) * rng.uniform(1.5, 4)
    count = next(number for bound, number in FRIDGES if place.capacity_people <= bound)
    return tuple(Fridge(f"fridge-{k + 1}", round(litres / count + 0.5, 1)) for k in range(count))


def vans_at(sites: Sequence[Site]) -> tuple[Van, ...]:
    """One van to ten sites, standing at the busiest."""
    count = max(1, round(len(sites) * VANS_PER_SITE))
    busiest = sorted(sites, key=lambda site: (-site.daily_capacity_people, site.site_id))[:count]
    return tuple(Van(f"van-{k + 1:03}", site.site_id, VAN_LITRES) for k, site in enumerate(busiest))
