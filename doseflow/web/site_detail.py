"""One site in full: forecast fan, lots by expiry, fridges, staff, orders, and what it said last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.report import BOOKING_BINS, ReceivedReport
from doseflow.domain.roles import ROLES
from doseflow.domain.state import CityState
from doseflow.units import PERIOD_MINUTES, datetime_from_epoch_minutes, datetime_or_none_from_epoch_minutes
from doseflow.web.anomaly_view import AnomalyRow
from doseflow.web.order_view import OrderRow
from doseflow.web.site_view import QUANTILE_NAMES, FridgeRow, SiteRow, fridge_rows


@dataclass(frozen=True, slots=True)
class FanPoint:
    """Arrivals forecast for the period of five minutes that starts at `starts_at`."""

    starts_at: datetime
    arrivals_people: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class LotRow:
    """A lot in a fridge."""

    lot_number: str
    product_id: str
    fridge_id: str
    unopened_doses: int
    open_vial_doses: int
    reserved_doses: int
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class StaffRow:
    """People of one role whose shift ends together."""

    role: str
    people: int
    reserved_people: int
    shift_ends_at: datetime


@dataclass(frozen=True, slots=True)
class ClassRow:
    """Where a class of readings came from, and its three times."""

    feature_class: str
    source: str
    valid_at: datetime | None
    received_at: datetime | None
    changed_at: datetime | None


@dataclass(frozen=True, slots=True)
class SiteDetailAnswer:
    """A site in full."""

    now: datetime
    site: SiteRow
    opens_at: str
    closes_at: str
    daily_capacity_people: int
    booked_people: list[float | None]
    forecast: list[FanPoint]
    forecaster: str | None
    lots: list[LotRow]
    fridges: list[FridgeRow]
    staff: list[StaffRow]
    classes: list[ClassRow]
    anomalies: list[AnomalyRow]
    orders: list[OrderRow]
    latest_reports: list[ReceivedReport]


def site_detail(
    state: CityState,
    forecast: ArrivalForecast | None,
    row: SiteRow,
    orders: list[OrderRow],
    reports: list[ReceivedReport],
    *,
    now: datetime,
    anomalies: Sequence[AnomalyRow] = (),
) -> SiteDetailAnswer:
    """Everything known of one site; `row` is its row of the list."""
    site_idx = state.city.site_to_idx[row.site_id]
    site = state.city.sites[site_idx]
    return SiteDetailAnswer(
        now=now,
        site=row,
        opens_at=f"{site.opens_at:%H:%M}",
        closes_at=f"{site.closes_at:%H:%M}",
        daily_capacity_people=site.daily_capacity_people,
        booked_people=state.booked_people[site_idx, :BOOKING_BINS].tolist(),
        forecast=_fan(forecast, site_idx),
        forecaster=None if forecast is None else forecast.forecaster,
        lots=_lots(state, site_idx),
        fridges=fridge_rows(state, np.flatnonzero(state.fridges.site_idx == site_idx)),
        staff=_staff(state, site_idx),
        classes=_classes(state, site_idx),
        anomalies=list(anomalies),
        orders=orders,
        latest_reports=reports,
    )


def _fan(forecast: ArrivalForecast | None, site_idx: int) -> list[FanPoint]:
    if forecast is None:
        return []
    return [
        FanPoint(
            forecast.made_at + timedelta(minutes=PERIOD_MINUTES * period),
            dict(zip(QUANTILE_NAMES, quantiles, strict=True)),
        )
        for period, quantiles in enumerate(forecast.arrivals_people[site_idx].tolist())
    ]


def _lots(state: CityState, site_idx: int) -> list[LotRow]:
    lots = state.lots
    rows = np.flatnonzero(lots.site_idx == site_idx)
    # NaN sorts last: a lot whose expiry nobody told stands at the end.
    rows = rows[np.argsort(lots.expires_epoch_minutes[rows], kind="stable")]
    return [
        LotRow(
            lots.lot_number[row],
            state.city.products[lots.product_idx[row]].product_id,
            state.fridges.fridge_id[lots.fridge_row[row]],
            int(lots.unopened_doses[row]),
            int(lots.open_vial_doses[row]),
            int(lots.reserved_doses[row]),
            datetime_or_none_from_epoch_minutes(float(lots.expires_epoch_minutes[row])),
        )
        for row in rows.tolist()
    ]


def _staff(state: CityState, site_idx: int) -> list[StaffRow]:
    staff = state.staff
    return [
        StaffRow(
            ROLES[staff.role_idx[row]],
            int(staff.people[row]),
            int(staff.reserved_people[row]),
            datetime_from_epoch_minutes(float(staff.shift_ends_epoch_minutes[row])),
        )
        for row in np.flatnonzero(staff.site_idx == site_idx).tolist()
    ]


def _classes(state: CityState, site_idx: int) -> list[ClassRow]:
    times = (state.valid_epoch_minutes, state.received_epoch_minutes, state.changed_epoch_minutes)
    return [
        ClassRow(
            feature_class.name.lower(),
            ReadingSource(int(state.source[site_idx, feature_class])).name.lower(),
            *(datetime_or_none_from_epoch_minutes(float(each[site_idx, feature_class])) for each in times),
        )
        for feature_class in FeatureClass
    ]
