"""A city of three sites, and reports of it that read as sentences."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import numpy as np

from doseflow.domain.city import City, Fridge, Site, Van
from doseflow.domain.orders import Commitments
from doseflow.domain.products import VaccineProduct
from doseflow.domain.report import ReceivedReport, SiteReport
from doseflow.domain.state import CityState
from doseflow.state.fold import fold
from doseflow.state.unknown import unknown_state

TEN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
"""Ten in the morning in Prague, a Monday."""


def make_site(site_id: str, *, latitude: float = 50.0) -> Site:
    return Site(
        site_id=site_id,
        name=site_id,
        district="north",
        latitude=latitude,
        longitude=14.0,
        opens_at=time(8),
        closes_at=time(18),
        stations_possible=(4, 4, 6, 2),
        seats_possible=20,
        minimum_team=(1, 1, 1, 1),
        daily_capacity_people=400,
        fridges=(Fridge(f"{site_id}-big", 80.0, 4.5), Fridge(f"{site_id}-small", 20.0)),
        products=("red", "blue"),
    )


def make_city(**changes) -> City:
    values = {
        "city_id": "small",
        "name": "Small",
        "timezone": "Europe/Prague",
        "country": "CZ",
        "sites": tuple(make_site(name) for name in ("alpha", "beta", "gamma")),
        "products": (
            VaccineProduct("red", "Red", 6, 0.01, 6.0, 2.0, 8.0, 240.0),
            VaccineProduct("blue", "Blue", 10, 0.02, 6.0, 2.0, 8.0, 240.0),
        ),
        "vans": (Van("van-1", "alpha", 50.0), Van("van-2", "beta", 50.0)),
        "neighbour_idx": np.array([[1, 2], [0, 2], [0, 1]]),
        "neighbour_travel_minutes": np.array([[10.0, 20.0], [10.0, 15.0], [20.0, 15.0]]),
        "service_minutes": (2.0, 3.0, 4.0, 15.0),
    }
    return City(**values | changes)


def nothing_known(**changes) -> CityState:
    """The small city before anything was reported."""
    return unknown_state(make_city(**changes), TEN)


def minutes_later(minutes: float, start: datetime = TEN) -> datetime:
    return start + timedelta(minutes=minutes)


def report(site_id: str = "alpha", valid: float = 0.0, *, received: float | None = None, **told) -> ReceivedReport:
    """A report valid and received so many minutes after ten."""
    at = minutes_later(valid)
    made = SiteReport(site_id=site_id, valid_at=at, report_id=told.pop("report_id", f"{site_id}-{valid}"), **told)
    return ReceivedReport(made, minutes_later(valid if received is None else received))


def no_past(city: City) -> np.ndarray:
    return np.full((city.num_sites, 4, 24), np.nan)


def folded(
    previous: CityState, *reports: ReceivedReport, at: float = 0.0, commitments: Commitments | None = None
) -> CityState:
    """The state so many minutes after ten."""
    return fold(previous, reports, no_past(previous.city), commitments or Commitments(), minutes_later(at))
