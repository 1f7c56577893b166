"""A small city and its state, in which a test sets only what it is about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time
from typing import Any

import numpy as np
import pytest

from doseflow.domain.city import City, Fridge, Site
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES, ReadingSource
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.orders import Commitments
from doseflow.domain.products import VaccineProduct
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.report import BOOKING_BINS, PAST_WEEKS, Incident
from doseflow.domain.state import CityState, FridgeTable, LotTable, StaffTable, VanTable, unknown_of_loggers

AS_OF = datetime(2021, 6, 8, 8, 0, tzinfo=UTC)
"""A Tuesday, ten o'clock in Prague."""
_BY_SITE = (
    "arrivals_people",
    "observed_wait_minutes",
    "no_show_share",
    "mean_early_minutes",
    "walk_in_share",
    "doses_given",
    "seats_taken",
    "seats_possible",
)
_BY_SITE_AND_STAGE = ("waiting_people", "worked_hours", "breaks_due_people", "stations_open", "stations_possible")


def _city(num_sites: int) -> City:
    product = VaccineProduct("alpha", "Alpha", 6, 0.02, 6, 2, 8, 240)
    sites = tuple(
        Site(
            site_id=f"site-{idx}",
            name=f"Site {idx}",
            district="North",
            latitude=50.0,
            longitude=14.0,
            opens_at=time(8),
            closes_at=time(18),
            stations_possible=(4, 4, 8, 4),
            seats_possible=40,
            minimum_team=(1, 1, 1, 1),
            daily_capacity_people=600,
            fridges=(Fridge(f"fridge-{idx}", 100.0),),
            products=("alpha",),
        )
        for idx in range(num_sites)
    )
    neighbours = np.array([[other for other in range(num_sites) if other != idx] for idx in range(num_sites)])
    return City(
        city_id="small",
        name="Small",
        timezone="Europe/Prague",
        country="CZ",
        sites=sites,
        products=(product,),
        vans=(),
        neighbour_idx=neighbours.reshape(num_sites, num_sites - 1),
        neighbour_travel_minutes=np.full((num_sites, num_sites - 1), 15.0),
        service_minutes=(2.0, 2.0, 4.0, 15.0),
    )


def _empty_tables() -> dict[str, Any]:
    whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
    return {
        "staff": StaffTable(whole, whole, whole, real, whole, np.zeros((0, 4), dtype=bool), whole),
        "fridges": FridgeTable(whole, (), *(real,) * 6, **unknown_of_loggers(0)),
        "lots": LotTable(whole, whole, whole, (), whole, whole, real, whole),
        "vans": VanTable(whole, real),
    }


@pytest.fixture(scope="session")
def make_state() -> Callable[..., CityState]:
    """A function that makes a state: everything unknown but the hours, then what is given by name."""

    def make(num_sites: int = 3, **given: Any) -> CityState:
        times = np.full((num_sites, NUM_FEATURE_CLASSES), np.nan)
        fields: dict[str, Any] = {
            "city": _city(num_sites),
            "as_of": AS_OF,
            "booked_people": np.full((num_sites, BOOKING_BINS), np.nan),
            "doses_given_past_weeks": np.full((num_sites, PAST_WEEKS), np.nan),
            "arrivals_past_weeks_people": np.full((num_sites, PAST_WEEKS, HORIZON_PERIODS), np.nan),
            "recent": RecentPeriods.unknown(num_sites),
            "weather_idx": np.full(num_sites, -1),
            "incidents": np.zeros((num_sites, len(Incident)), dtype=bool),
            "is_open": np.ones(num_sites, dtype=bool),
            "open_minutes_left": np.full(num_sites, 480.0),
            "weekday": 1,
            "is_holiday": False,
            "source": np.full(times.shape, ReadingSource.UNKNOWN, dtype=np.int64),
            "commitments": Commitments(),
        }
        fields |= dict.fromkeys(_BY_SITE, np.full(num_sites, np.nan))
        fields |= dict.fromkeys(_BY_SITE_AND_STAGE, np.full((num_sites, 4), np.nan))
        for name in ("valid", "received", "changed"):
            fields[f"{name}_epoch_minutes"] = times
        return CityState(**(fields | _empty_tables() | given))

    return make


@pytest.fixture(scope="session")
def past_weeks_of() -> Callable[..., np.ndarray]:
    """A function that draws past weeks, (S, W, T), and the coming two hours, (S, T), of sites with these means."""

    def draw(mean_people: np.ndarray, rate_variance: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        shape = (len(mean_people), PAST_WEEKS + 1, HORIZON_PERIODS)
        factor = rng.gamma(1 / rate_variance, rate_variance, shape) if rate_variance else np.ones(shape)
        people = rng.poisson(mean_people[:, None, None] * factor).astype(float)
        return people[:, 1:], people[:, 0]

    return draw
