"""The sites as the screens see them: one row a site, read off the arrays of the state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import starmap
from typing import Any

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.forecast import QUANTILE_LEVELS, ArrivalForecast, ForecastBasis
from doseflow.domain.roles import ROLES, STAGES
from doseflow.domain.state import CityState, alarm_codes
from doseflow.state.fridge_bands import degrees_outside_band, fridge_bands_celsius
from doseflow.web.report_age import report_age_minutes
from doseflow.web.site_sums import doses_on_hand, staff_by_role, worst_by_site
from doseflow.web.trouble import Trouble, TroubleParams, find_troubles, trouble_score

QUANTILE_NAMES = tuple(f"q{round(level * 100):02d}" for level in QUANTILE_LEVELS)
PERIODS_PER_HOUR = 12
WITHOUT_POWER_WEIGHT = 10.0


@dataclass(frozen=True, slots=True)
class FridgeRow:
    """A fridge; `degrees_outside` is above 0 when too warm, below 0 when too cold."""

    fridge_id: str
    temperature_celsius: float | None
    low_celsius: float
    high_celsius: float
    degrees_outside: float | None
    set_point_celsius: float | None
    excursion_minutes: float | None
    has_power: bool | None
    volume_used_litres: float | None
    volume_possible_litres: float | None
    ambient_celsius: float | None
    door_open: bool | None
    door_open_minutes: float | None
    holdover_hours: float | None
    alarms: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class SiteRow:
    """
    A site now. Null is UNKNOWN, never 0.

    `sources` has one code for each of the 17 feature classes, in their order; the codes are named in `source_names`.
    `age_minutes` is the age of the latest report.
    """

    site_id: str
    name: str
    district: str
    latitude: float
    longitude: float
    is_open: bool
    is_frozen: bool
    is_suspended: bool
    wait_minutes: float | None
    waiting_people: dict[str, float | None]
    staff_people: dict[str, float | None]
    stations_open: dict[str, float | None]
    stations_possible: dict[str, float | None]
    seats_taken: float | None
    seats_possible: float | None
    doses_on_hand: float | None
    fridge_worst: FridgeRow | None
    forecast_next_hour_people: dict[str, float | None]
    forecast_basis: str | None
    trouble_score: float
    troubles: tuple[Trouble, ...]
    age_minutes: float | None
    sources: list[int]


@dataclass(frozen=True, slots=True)
class SitesAnswer:
    """Every site of the city at the moment `now`, which is the city's own and not the machine's."""

    now: datetime
    as_of: datetime
    cycle_id: str | None
    city_id: str
    city_name: str
    timezone: str
    busy_wait_minutes: float
    crowded_wait_minutes: float
    old_report_minutes: float
    feature_classes: tuple[str, ...]
    source_names: tuple[str, ...]
    sites: list[SiteRow]


def sites_answer(
    state: CityState, forecast: ArrivalForecast | None, *, cycle_id: str | None, now: datetime, params: TroubleParams
) -> SitesAnswer:
    """All sites of a state, in the city's order."""
    return SitesAnswer(
        now=now,
        as_of=state.as_of,
        cycle_id=cycle_id,
        city_id=state.city.city_id,
        city_name=state.city.name,
        timezone=state.city.timezone,
        busy_wait_minutes=params.busy_wait_minutes,
        crowded_wait_minutes=params.crowded_wait_minutes,
        old_report_minutes=params.old_report_minutes,
        feature_classes=tuple(each.name.lower() for each in FeatureClass),
        source_names=tuple(each.name.lower() for each in ReadingSource),
        sites=site_rows(state, forecast, now, params),
    )


def site_rows(
    state: CityState, forecast: ArrivalForecast | None, now: datetime, params: TroubleParams
) -> list[SiteRow]:
    """A row for every site, in the city's order."""
    sites, wishes = state.city.sites, state.commitments
    ages = report_age_minutes(state, now)
    troubles = find_troubles(state, ages, params)
    forecast_people, forecast_basis = _next_hour(state, forecast)
    # In the order of SiteRow's fields.
    columns: tuple[Sequence[Any], ...] = (
        [site.site_id for site in sites],
        [site.name for site in sites],
        [site.district for site in sites],
        [site.latitude for site in sites],
        [site.longitude for site in sites],
        state.is_open.tolist(),
        [site.site_id in wishes.frozen_site_ids for site in sites],
        [site.site_id in wishes.suspended_site_ids for site in sites],
        state.observed_wait_minutes.tolist(),
        _named(state.waiting_people, STAGES),
        _named(staff_by_role(state), ROLES),
        _named(state.stations_open, STAGES),
        _named(state.stations_possible, STAGES),
        state.seats_taken.tolist(),
        state.seats_possible.tolist(),
        doses_on_hand(state).tolist(),
        _worst_fridges(state),
        forecast_people,
        forecast_basis,
        [trouble_score(each) for each in troubles],
        troubles,
        np.round(ages, 1).tolist(),
        state.source.tolist(),
    )
    return list(starmap(SiteRow, zip(*columns, strict=True)))


def fridge_rows(state: CityState, rows: IntArray) -> list[FridgeRow]:
    """Rows of the fridge table, by their positions."""
    fridges = state.fridges
    columns: tuple[Sequence[Any], ...] = (
        [fridges.fridge_id[row] for row in rows.tolist()],
        fridges.temperature_celsius[rows].tolist(),
        *fridge_bands_celsius(state)[rows].T.tolist(),
        degrees_outside_band(state)[rows].tolist(),
        fridges.set_point_celsius[rows].tolist(),
        fridges.excursion_minutes[rows].tolist(),
        [_known_bool(power) for power in fridges.power_on[rows].tolist()],
        fridges.volume_used_litres[rows].tolist(),
        fridges.volume_possible_litres[rows].tolist(),
        fridges.ambient_celsius[rows].tolist(),
        [_known_bool(is_open) for is_open in fridges.door_open[rows].tolist()],
        fridges.door_open_minutes[rows].tolist(),
        fridges.holdover_hours[rows].tolist(),
        [alarm_codes(fridges.alarms[row]) for row in rows.tolist()],
    )
    return list(starmap(FridgeRow, zip(*columns, strict=True)))


def _worst_fridges(state: CityState) -> list[FridgeRow | None]:
    """Of each site the fridge without power, else the one farthest from the middle of its band."""
    fridges, bands = state.fridges, fridge_bands_celsius(state)
    half_width = np.maximum(0.1, (bands[:, 1] - bands[:, 0]) / 2)
    deviation = np.abs(fridges.temperature_celsius - bands.mean(axis=1)) / half_width
    badness = np.nan_to_num(deviation) + WITHOUT_POWER_WEIGHT * (fridges.power_on == 0)
    worst_row, _ = worst_by_site(badness, fridges.site_idx, state.city.num_sites)
    has_fridge = worst_row >= 0
    worst = iter(fridge_rows(state, worst_row[has_fridge]))
    return [next(worst) if has else None for has in has_fridge.tolist()]


def _next_hour(
    state: CityState, forecast: ArrivalForecast | None
) -> tuple[list[dict[str, float | None]], list[str | None]]:
    """
    Quantiles of the arrivals of the next hour, and what they rest on.

    The quantiles of the periods are added up, as if all periods were high or low together: the widest honest range.
    """
    if forecast is None:
        num_sites = state.city.num_sites
        return [dict.fromkeys(QUANTILE_NAMES)] * num_sites, [None] * num_sites
    next_hour = np.round(forecast.arrivals_people[:, :PERIODS_PER_HOUR].sum(axis=1), 1)
    basis: list[str | None] = [ForecastBasis(value).name.lower() for value in forecast.basis.tolist()]
    return _named(next_hour, QUANTILE_NAMES), basis


def _named(values: FloatArray, names: Sequence[str]) -> list[dict[str, float | None]]:
    keys = [str(name) for name in names]
    return [dict(zip(keys, row, strict=True)) for row in values.tolist()]


def _known_bool(value: float) -> bool | None:
    return None if math.isnan(value) else bool(value)
