"""A day so far as the screens see it: who came against what was forecast, and what a site's readings said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.report import ByStage, ReceivedReport
from doseflow.domain.state import CityState
from doseflow.state.fridge_bands import fridge_bands_celsius
from doseflow.web.site_sums import sum_or_unknown
from doseflow.web.site_view import QUANTILE_NAMES


@dataclass(frozen=True, slots=True)
class ArrivalsOfDay:
    """
    By period of five minutes from `starts_at` on: who came, how many sites told it, and the forecast.

    `forecast_people` has a list for each quantile. Of periods that are over it is what was told an hour before, of
    those to come what is told now. For a city the quantiles of its sites are added up, as if all were high or low
    together. Null is UNKNOWN.
    """

    starts_at: datetime
    period_minutes: int
    arrived_people: list[float | None]
    reporting_sites: list[int]
    forecast_people: dict[str, list[float | None]]


@dataclass(frozen=True, slots=True)
class CityDayAnswer:
    """The city's day so far, from its own midnight; `first_cycle_at` is the earliest moment that can be looked at."""

    now: datetime
    timezone: str
    first_cycle_at: datetime | None
    arrivals: ArrivalsOfDay


@dataclass(frozen=True, slots=True)
class Reading:
    """What one report said of the queue; `received_at` is when it came."""

    valid_at: datetime
    received_at: datetime
    waiting_people: ByStage | None
    wait_minutes: float | None
    doses_given: int | None


@dataclass(frozen=True, slots=True)
class FridgeDay:
    """
    Every temperature a fridge told today, never a mean of them.

    `excursion_budget_minutes` is the smallest budget of the products that lie in it; null where nothing does.
    """

    fridge_id: str
    low_celsius: float
    high_celsius: float
    excursion_minutes: float | None
    excursion_budget_minutes: float | None
    valid_at: list[datetime]
    temperature_celsius: list[float | None]


@dataclass(frozen=True, slots=True)
class SiteDayAnswer:
    """A site's day so far, its readings from the oldest on."""

    now: datetime
    site_id: str
    arrivals: ArrivalsOfDay
    readings: list[Reading]
    fridges: list[FridgeDay]


def arrivals_of_day(starts_at: datetime, period_minutes: int, arrived: FloatArray, told: FloatArray) -> ArrivalsOfDay:
    """
    Of the sites that are given, added up.

    Parameters
    ----------
    arrived
        Arrivals by site and period, (S, P so far), NaN unknown.
    told
        Quantiles of the forecast, (P, S, Q), of the same periods and those to come.
    """
    totals = sum_or_unknown(told.transpose(0, 2, 1))
    return ArrivalsOfDay(
        starts_at,
        period_minutes,
        sum_or_unknown(arrived.T).tolist(),
        np.isfinite(arrived).sum(axis=0).tolist(),
        {name: np.round(totals[:, idx], 2).tolist() for idx, name in enumerate(QUANTILE_NAMES)},
    )


def readings(reports: Sequence[ReceivedReport]) -> list[Reading]:
    """What reports said of the queue, in their order."""
    return [
        Reading(
            one.report.valid_at,
            one.received_at,
            one.report.waiting_people,
            one.report.observed_wait_minutes,
            one.report.doses_given,
        )
        for one in reports
    ]


def fridge_days(state: CityState, site_idx: int, reports: Sequence[ReceivedReport]) -> list[FridgeDay]:
    """Of each fridge that the state knows at a site."""
    fridges, bands = state.fridges, fridge_bands_celsius(state)
    rows = np.flatnonzero(fridges.site_idx == site_idx)
    return [
        FridgeDay(
            fridges.fridge_id[row],
            bands.item(row, 0),
            bands.item(row, 1),
            fridges.excursion_minutes.item(row),
            _budget_minutes(state, rows[position : position + 1]),
            *_temperatures(fridges.fridge_id[row], reports),
        )
        for position, row in enumerate(rows.tolist())
    ]


def _budget_minutes(state: CityState, fridge_row: IntArray) -> float | None:
    products = state.lots.product_idx[np.isin(state.lots.fridge_row, fridge_row)]
    return min((state.city.products[idx].excursion_budget_minutes for idx in products.tolist()), default=None)


def _temperatures(fridge_id: str, reports: Sequence[ReceivedReport]) -> tuple[list[datetime], list[float | None]]:
    told = [
        (one.report.valid_at, fridge.temperature_celsius)
        for one in reports
        for fridge in one.report.fridges or ()
        if fridge.fridge_id == fridge_id
    ]
    return [valid_at for valid_at, _ in told], [celsius for _, celsius in told]
