"""Samples for the tests of the policy: a city in a row, calm and wholly known, and a city in disorder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any

import numpy as np

from doseflow.domain.city import City, Fridge, Site, Van
from doseflow.domain.decisions import Decision
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES, ReadingSource
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS, ArrivalForecast, ForecastBasis
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.products import VaccineProduct
from doseflow.domain.recent_periods import RECENT_PERIODS, RecentPeriods
from doseflow.domain.report import BOOKING_BINS, PAST_WEEKS, Incident
from doseflow.domain.roles import ROLE_TO_IDX, ROLES, Role
from doseflow.domain.state import CityState, FridgeTable, LotTable, StaffTable, VanTable, unknown_of_loggers
from doseflow.forecast.count_quantiles import count_quantiles
from doseflow.units import epoch_minutes_from_datetime

AS_OF = datetime(2021, 6, 8, 8, 0, tzinfo=UTC)
"""A Tuesday, ten o'clock in Prague: the first cycle of a quarter hour."""
NOW_MINUTES = epoch_minutes_from_datetime(AS_OF)
CALM_TEAM = {Role.REGISTRAR: 2, Role.SCREENER: 2, Role.VACCINATOR: 4, Role.OBSERVER: 2}
PRODUCTS = (
    VaccineProduct("alpha", "Alpha", 6, 0.06, 6, 2, 8, 240),
    VaccineProduct("beta", "Beta", 10, 0.1, 6, 2, 8, 240),
)


@dataclass(frozen=True)
class Group:
    """A row of the staff table."""

    site: int
    role: Role
    people: int
    hours_left: float = 6.0
    moves_today: int = 0
    also: tuple[Role, ...] = ()
    reserved: int = 0


@dataclass(frozen=True)
class Lot:
    """A row of the lot table; `fridge` counts the fridges of the site."""

    site: int
    doses: int
    days_left: float = 30.0
    fridge: int = 0
    product: int = 0
    number: str = ""
    open_doses: int = 0
    reserved: int = 0


def city_of(
    num_sites: int,
    *,
    travel_minutes: float = 10.0,
    vans_at: Sequence[int] = (),
    num_fridges: int = 2,
    limits: OperatingLimits | None = None,
) -> City:
    """Sites in a row, neighbours `travel_minutes` apart."""
    sites = tuple(
        Site(
            site_id=f"s{idx}",
            name=f"Site {idx}",
            district="North",
            latitude=50.0,
            longitude=14.0 + idx / 100,
            opens_at=time(8),
            closes_at=time(18),
            stations_possible=(6, 6, 12, 6),
            seats_possible=90,
            minimum_team=(1, 1, 1, 1),
            daily_capacity_people=600,
            fridges=tuple(Fridge(f"f{idx}{'abcd'[fridge]}", 20.0) for fridge in range(num_fridges)),
            products=("alpha", "beta"),
        )
        for idx in range(num_sites)
    )
    order = [
        sorted((o for o in range(num_sites) if o != i), key=lambda o: (abs(o - i), o))[:8] for i in range(num_sites)
    ]
    neighbour_idx = np.array(order, dtype=np.int64).reshape(num_sites, min(8, num_sites - 1))
    return City(
        city_id="row",
        name="Row",
        timezone="Europe/Prague",
        country="CZ",
        sites=sites,
        products=PRODUCTS,
        vans=tuple(Van(f"v{number}", f"s{site}", 10.0) for number, site in enumerate(vans_at)),
        neighbour_idx=neighbour_idx,
        neighbour_travel_minutes=travel_minutes * np.abs(neighbour_idx - np.arange(num_sites)[:, None]),
        service_minutes=(2.0, 2.0, 4.0, 15.0),
        limits=limits or OperatingLimits(),
    )


def staff_table(groups: Sequence[Group]) -> StaffTable:
    """The rows as a table; everybody is qualified for their own role."""
    return StaffTable(
        site_idx=np.array([group.site for group in groups], dtype=np.int64),
        role_idx=np.array([ROLE_TO_IDX[group.role] for group in groups], dtype=np.int64),
        people=np.array([group.people for group in groups], dtype=np.int64),
        shift_ends_epoch_minutes=np.array([NOW_MINUTES + 60 * group.hours_left for group in groups]),
        moves_today=np.array([group.moves_today for group in groups], dtype=np.int64),
        qualified=np.array(
            [[role == group.role or role in group.also for role in ROLES] for group in groups], dtype=bool
        ).reshape(-1, 4),
        reserved_people=np.array([group.reserved for group in groups], dtype=np.int64),
    )


def calm_staff(num_sites: int, overrides: dict[tuple[int, Role], int] | None = None) -> list[Group]:
    """The calm team at every site, with some groups of other sizes."""
    sizes = {(site, role): people for site in range(num_sites) for role, people in CALM_TEAM.items()}
    sizes |= overrides or {}
    return [Group(site, role, people) for (site, role), people in sizes.items() if people]


def lot_table(lots: Sequence[Lot], num_fridges: int = 2) -> LotTable:
    """The rows as a table."""
    return LotTable(
        site_idx=np.array([lot.site for lot in lots], dtype=np.int64),
        fridge_row=np.array([lot.site * num_fridges + lot.fridge for lot in lots], dtype=np.int64),
        product_idx=np.array([lot.product for lot in lots], dtype=np.int64),
        lot_number=tuple(lot.number or f"lot-{lot.site}-{position}" for position, lot in enumerate(lots)),
        unopened_doses=np.array([lot.doses for lot in lots], dtype=np.int64),
        open_vial_doses=np.array([lot.open_doses for lot in lots], dtype=np.int64),
        expires_epoch_minutes=np.array([NOW_MINUTES + 1440 * lot.days_left for lot in lots]),
        reserved_doses=np.array([lot.reserved for lot in lots], dtype=np.int64),
    )


def fridge_table(city: City, **columns: Any) -> FridgeTable:
    """Every fridge at five degrees and half full, but for the columns given, each a dict from row to value."""
    ids = tuple(fridge.fridge_id for site in city.sites for fridge in site.fridges)
    site_idx = np.array([idx for idx, site in enumerate(city.sites) for _ in site.fridges], dtype=np.int64)
    values = {
        "temperature_celsius": 5.0,
        "set_point_celsius": 5.0,
        "excursion_minutes": 0.0,
        "power_on": 1.0,
        "volume_used_litres": 10.0,
        "volume_possible_litres": 20.0,
    }
    filled = {name: np.full(len(ids), value) for name, value in values.items()}
    for name, of_row in columns.items():
        for row, value in of_row.items():
            filled[name][row] = value
    return FridgeTable(site_idx=site_idx, fridge_id=ids, **filled, **unknown_of_loggers(len(ids)))


def calm_state(city: City, **given: Any) -> CityState:
    """A state in which everything is known and nothing is out of order; `staff`, `lots` and others may be given."""
    num = city.num_sites
    fresh = np.full((num, NUM_FEATURE_CLASSES), NOW_MINUTES - 2.0)
    team = np.array([[CALM_TEAM[role] for role in ROLES]] * num, dtype=np.float64)
    fields: dict[str, Any] = {
        "city": city,
        "as_of": AS_OF,
        "arrivals_people": np.full(num, 2.0),
        "waiting_people": np.zeros((num, 4)),
        "observed_wait_minutes": np.full(num, 2.0),
        "booked_people": np.full((num, BOOKING_BINS), 6.0),
        "no_show_share": np.full(num, 0.05),
        "mean_early_minutes": np.full(num, 5.0),
        "walk_in_share": np.full(num, 0.1),
        "doses_given": np.full(num, 2.0),
        "doses_given_past_weeks": np.full((num, PAST_WEEKS), 2.0),
        "arrivals_past_weeks_people": np.full((num, PAST_WEEKS, HORIZON_PERIODS), 2.0),
        "recent": RecentPeriods(
            np.full((num, RECENT_PERIODS), 2.0),
            np.full((num, RECENT_PERIODS), 2.0),
            np.full((num, PAST_WEEKS, RECENT_PERIODS), 2.0),
        ),
        "staff": staff_table(calm_staff(num)),
        "worked_hours": np.full((num, 4), 2.0),
        "breaks_due_people": np.zeros((num, 4)),
        "stations_open": team,
        "stations_possible": np.array([site.stations_possible for site in city.sites], dtype=np.float64),
        "seats_taken": np.full(num, 8.0),
        "seats_possible": np.full(num, 90.0),
        "lots": lot_table([Lot(site, 600) for site in range(num)]),
        "fridges": fridge_table(city),
        "vans": VanTable(
            site_idx=np.array([city.site_to_idx[van.home_site_id] for van in city.vans], dtype=np.int64),
            free_epoch_minutes=np.full(len(city.vans), NOW_MINUTES - 60),
        ),
        "weather_idx": np.zeros(num, dtype=np.int64),
        "incidents": np.zeros((num, len(Incident)), dtype=bool),
        "is_open": np.ones(num, dtype=bool),
        "open_minutes_left": np.full(num, 480.0),
        "weekday": 1,
        "is_holiday": False,
        "valid_epoch_minutes": fresh,
        "received_epoch_minutes": fresh,
        "changed_epoch_minutes": fresh,
        "source": np.full(fresh.shape, ReadingSource.REPORTED, dtype=np.int64),
        "commitments": Commitments(),
    }
    return CityState(**(fields | given))


def forecast_of(state: CityState, per_minute: Any = 0.4, doses: Any = 200.0) -> ArrivalForecast:
    """A forecast of a steady rate, and of doses for the rest of the day, each for all sites or by site."""
    num = state.city.num_sites
    mean = np.broadcast_to(np.asarray(per_minute, dtype=float) * 5, (num,))[:, None].repeat(HORIZON_PERIODS, axis=1)
    median_doses = np.broadcast_to(np.asarray(doses, dtype=float), (num,))[:, None]
    # The share by which each quantile lies off the median is made up.
    spread = np.interp(QUANTILE_LEVELS, [0.1, 0.5, 0.9], [0.8, 1.0, 1.2])
    return ArrivalForecast(
        made_at=state.as_of,
        forecaster="made_up",
        arrivals_people=count_quantiles(mean, 1.0),
        doses_rest_of_day=median_doses * spread,
        basis=np.full(num, ForecastBasis.PAST_WEEKS, dtype=np.int64),
    )


def random_state(num_sites: int, seed: int, *, unknown_share: float = 0.0) -> tuple[CityState, ArrivalForecast]:
    """A city in disorder: random staff, queues, stock, fridges and times, a share of all readings unknown."""
    rng = np.random.default_rng(seed)
    city = city_of(num_sites, travel_minutes=float(rng.uniform(4, 20)), vans_at=range(0, num_sites, 2))

    def holed(values: np.ndarray) -> np.ndarray:
        return np.where(rng.random(values.shape) < unknown_share, np.nan, values)

    groups = [
        Group(
            site,
            role,
            int(rng.integers(0, 7)),
            float(rng.choice([0.4, 1.5, 3, 6])),
            int(rng.random() < 0.2),
            tuple(ROLES[i] for i in np.flatnonzero(rng.random(4) < 0.2)),
        )
        for site in range(num_sites)
        for role in ROLES
        for _ in range(2)
    ]
    lots = [
        Lot(
            site,
            int(rng.integers(0, 60)) * 6,
            float(rng.choice([-1, 0.3, 1, 1.5, 30])),
            int(rng.integers(0, 2)),
            int(rng.integers(0, 2)),
            open_doses=int(rng.integers(0, 6)),
        )
        for site in range(num_sites)
        for _ in range(3)
    ]
    rows = range(2 * num_sites)
    staff, lot_rows = staff_table(groups), lot_table(lots)
    nowhere = rng.random(len(lots)) < unknown_share / 4
    lot_rows = replace(
        lot_rows,
        fridge_row=np.where(nowhere, -1, lot_rows.fridge_row),
        expires_epoch_minutes=holed(lot_rows.expires_epoch_minutes),
    )
    staff = replace(staff, shift_ends_epoch_minutes=holed(staff.shift_ends_epoch_minutes))
    state = calm_state(
        city,
        waiting_people=holed(rng.poisson(6, (num_sites, 4)).astype(float) * (rng.random((num_sites, 1)) < 0.5)),
        observed_wait_minutes=holed(rng.exponential(8, num_sites)),
        booked_people=holed(rng.poisson(8, (num_sites, 8)).astype(float)),
        no_show_share=holed(rng.uniform(0, 0.3, num_sites)),
        mean_early_minutes=holed(rng.normal(12, 8, num_sites)),
        walk_in_share=holed(rng.uniform(0, 0.5, num_sites)),
        staff=staff,
        breaks_due_people=holed(rng.integers(0, 2, (num_sites, 4)).astype(float)),
        stations_open=holed(rng.integers(0, 6, (num_sites, 4)).astype(float)),
        stations_possible=holed(rng.integers(3, 13, (num_sites, 4)).astype(float)),
        seats_taken=holed(rng.integers(0, 60, num_sites).astype(float)),
        lots=lot_rows,
        fridges=fridge_table(
            city,
            temperature_celsius=dict(zip(rows, holed(rng.normal(5, 2.2, 2 * num_sites)), strict=True)),
            set_point_celsius=dict(zip(rows, holed(rng.normal(5, 1, 2 * num_sites)), strict=True)),
            excursion_minutes=dict(zip(rows, holed(rng.exponential(70, 2 * num_sites)), strict=True)),
            power_on=dict(zip(rows, holed((rng.random(2 * num_sites) < 0.85).astype(float)), strict=True)),
            volume_used_litres=dict(zip(rows, holed(rng.uniform(0, 20, 2 * num_sites)), strict=True)),
        ),
        is_open=rng.random(num_sites) < 0.9,
        valid_epoch_minutes=holed(NOW_MINUTES - rng.exponential(8, (num_sites, NUM_FEATURE_CLASSES))),
    )
    state = replace(state, open_minutes_left=np.where(state.is_open, rng.uniform(20, 600, num_sites), 0.0))
    rate = holed(rng.gamma(2, 0.3, num_sites))
    return state, forecast_of(state, rate, rate * 400)


def of_kind(decisions: Sequence[Decision], kind: type) -> list[Any]:
    """Decisions of one kind."""
    return [decision for decision in decisions if isinstance(decision, kind)]
