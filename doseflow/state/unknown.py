"""The state before anything was reported."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES, ReadingSource
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.orders import Commitments
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.report import BOOKING_BINS, PAST_WEEKS, Incident
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState, FridgeTable, LotTable, StaffTable, VanTable, unknown_of_loggers
from doseflow.state.opening_hours import local_day
from doseflow.units import epoch_minutes_from_datetime


def unknown_state(city: City, as_of: datetime) -> CityState:
    """
    Everything UNKNOWN: NaN and empty tables, vans at home and free as far as anybody knows.

    Incident flags are False, which the source of their class marks as unknown.
    """
    num_sites = city.num_sites
    day = local_day(city, as_of)

    def unknown(*shape: int) -> FloatArray:
        return np.full((num_sites, *shape), np.nan)

    return CityState(
        city=city,
        as_of=as_of,
        arrivals_people=unknown(),
        waiting_people=unknown(NUM_ROLES),
        observed_wait_minutes=unknown(),
        booked_people=unknown(BOOKING_BINS),
        no_show_share=unknown(),
        mean_early_minutes=unknown(),
        walk_in_share=unknown(),
        doses_given=unknown(),
        doses_given_past_weeks=unknown(PAST_WEEKS),
        arrivals_past_weeks_people=unknown(PAST_WEEKS, HORIZON_PERIODS),
        recent=RecentPeriods.unknown(num_sites),
        staff=_no_staff(),
        worked_hours=unknown(NUM_ROLES),
        breaks_due_people=unknown(NUM_ROLES),
        stations_open=unknown(NUM_ROLES),
        stations_possible=unknown(NUM_ROLES),
        seats_taken=unknown(),
        seats_possible=unknown(),
        lots=_no_lots(),
        fridges=_no_fridges(),
        vans=_vans_at_home(city, as_of),
        weather_idx=np.full(num_sites, -1, dtype=np.int64),
        incidents=np.zeros((num_sites, len(Incident)), dtype=np.bool_),
        is_open=day.is_open,
        open_minutes_left=day.open_minutes_left,
        weekday=day.weekday,
        is_holiday=day.is_holiday,
        valid_epoch_minutes=unknown(NUM_FEATURE_CLASSES),
        received_epoch_minutes=unknown(NUM_FEATURE_CLASSES),
        changed_epoch_minutes=unknown(NUM_FEATURE_CLASSES),
        source=np.full((num_sites, NUM_FEATURE_CLASSES), int(ReadingSource.UNKNOWN), dtype=np.int64),
        commitments=Commitments(),
    )


def _no_staff() -> StaffTable:
    whole, real = np.empty(0, dtype=np.int64), np.empty(0)
    return StaffTable(whole, whole, whole, real, whole, np.empty((0, NUM_ROLES), dtype=np.bool_), whole)


def _no_fridges() -> FridgeTable:
    real = np.empty(0)
    whole = np.empty(0, dtype=np.int64)
    return FridgeTable(whole, (), *(real,) * 6, **unknown_of_loggers(0))


def _no_lots() -> LotTable:
    whole = np.empty(0, dtype=np.int64)
    return LotTable(whole, whole, whole, (), whole, whole, np.empty(0), whole)


def _vans_at_home(city: City, as_of: datetime) -> VanTable:
    home_idx = np.array([city.site_to_idx.get(van.home_site_id, -1) for van in city.vans], dtype=np.int64)
    return VanTable(home_idx, np.full(len(city.vans), epoch_minutes_from_datetime(as_of)))
