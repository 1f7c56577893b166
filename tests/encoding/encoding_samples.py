"""A city of three sites in a row, and states of it folded from reports."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import numpy as np

from doseflow.domain.city import City, Fridge, Site, Van
from doseflow.domain.orders import Commitments
from doseflow.domain.products import VaccineProduct
from doseflow.domain.report import (
    ByStage,
    Fatigue,
    FridgeReading,
    Incident,
    LotOnHand,
    NoShowHistory,
    Power,
    ReceivedReport,
    Seats,
    SiteReport,
    StaffGroup,
    Stations,
    Surroundings,
    Weather,
)
from doseflow.domain.roles import ROLES
from doseflow.domain.state import CityState
from doseflow.state.fold import fold
from doseflow.state.unknown import unknown_state

TEN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)


def after(minutes: float) -> datetime:
    return TEN + timedelta(minutes=minutes)


def make_city(num_products: int = 2) -> City:
    def site(site_id: str, products: tuple[str, ...]) -> Site:
        fridges = (Fridge(f"{site_id}-big", 80.0), Fridge(f"{site_id}-small", 20.0))
        hours = (time(8), time(18))
        return Site(site_id, site_id, "d", 50.0, 14.0, *hours, (4, 4, 6, 2), 20, (1, 1, 1, 1), 400, fridges, products)

    names = tuple(f"product-{number}" for number in range(num_products))
    return City(
        city_id="row",
        name="Row",
        timezone="Europe/Prague",
        country="CZ",
        sites=(site("alpha", names), site("beta", names[:1]), site("gamma", names)),
        products=tuple(VaccineProduct(name, name, 6, 0.01, 6.0, 2.0, 8.0, 240.0) for name in names),
        vans=(Van("van-1", "alpha", 50.0),),
        neighbour_idx=np.array([[1, 2], [0, -1], [1, 0]]),
        neighbour_travel_minutes=np.array([[10.0, 45.0], [10.0, np.nan], [15.0, 70.0]]),
        service_minutes=(2.0, 3.0, 4.0, 15.0),
    )


def full_report(site_id: str, **changes) -> ReceivedReport:
    told = {
        "arrivals_people": 7,
        "waiting_people": ByStage(3, 2, 5, 8),
        "observed_wait_minutes": 12.0,
        "booked_people": (9, 0, 7, 6, 5, 4, 3, 2),
        "no_show": NoShowHistory(0.1, 6.0),
        "walk_in_share": 0.25,
        "doses_given": 6,
        "doses_given_past_weeks": (5, 3, 4, 2),
        "staff": tuple(StaffGroup(role, 3, after(240)) for role in ROLES),
        "fatigue": tuple(Fatigue(role, 2.0, 1) for role in ROLES),
        "stations": Stations(ByStage(2, 4, 3, 0), ByStage(4, 4, 5, 2)),
        "seats": Seats(8, 18),
        "lots": (
            LotOnHand("L1", "product-0", f"{site_id}-big", 60, 2, after(6000)),
            LotOnHand("L2", "product-0", f"{site_id}-small", 30, 1, after(60000)),
        ),
        "fridges": (
            FridgeReading(f"{site_id}-big", 5.0, 4.0, 30.0, Power.ON, 20.0, 75.0),
            FridgeReading(f"{site_id}-small", 9.5, 4.0, 60.0, Power.OFF, 5.0, 20.0),
        ),
        "surroundings": Surroundings((), Weather.RAIN, (Incident.SURGE,)),
    }
    return ReceivedReport(SiteReport(site_id=site_id, valid_at=TEN, report_id=site_id, **told | changes), TEN)


def state_of(*reports: ReceivedReport, at: float = 0.0, city: City | None = None, past=None, **binding) -> CityState:
    city = city or make_city()
    past = np.full((city.num_sites, 4, 24), np.nan) if past is None else past
    return fold(unknown_state(city, TEN), reports, past, Commitments(**binding), after(at))


def everywhere(**changes) -> tuple[ReceivedReport, ...]:
    """A full report of each of the three sites."""
    return tuple(full_report(site_id, **changes) for site_id in ("alpha", "beta", "gamma"))
