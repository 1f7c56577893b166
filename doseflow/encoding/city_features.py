"""The features of a site, in order: which class they come from, their unit, their scale, and how they are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.report import BOOKING_BINS, PAST_WEEKS, Incident, Weather
from doseflow.domain.roles import NUM_ROLES, ROLES, STAGES
from doseflow.domain.state import CityState
from doseflow.encoding.axes import PRODUCT_SLOTS
from doseflow.encoding.table_sums import highest_by_site, lowest_by_site, sum_by_cell, sum_by_site
from doseflow.units import epoch_minutes_from_datetime

FEATURES_SCHEMA_VERSION = 1
"""Raised whenever names, order or scales change: a net made for another version must not be fed."""

MAX_SCALED = 8.0
"""Scaled values are cut to -8..8, so that one absurd reading does not drown a city."""
MAX_AGE_MINUTES = 120.0
"""Age at which a scaled age is 1; what was never read is 1 too."""

_HOUR, _DAY_MINUTES, _WEEK_MINUTES = 60.0, 24 * 60.0, 7 * 24 * 60.0
_VAN_WAIT_MINUTES = 30.0
"""A van that is free within this time counts as near."""
_HALF_HOURS = 4
"""Parts into which the coming two hours of past weeks are summed."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature; what is encoded is the value in `unit` divided by `scale`."""

    name: str
    feature_class: FeatureClass
    unit: str
    scale: float


@dataclass(frozen=True, slots=True)
class FeatureBlock:
    """Features read together; `read` gives their values, (S, features), NaN unknown."""

    features: tuple[Feature, ...]
    read: Callable[[CityState], FloatArray]


@dataclass(frozen=True, slots=True)
class EncodedCity:
    """
    The city as a net sees it.

    Parameters
    ----------
    values
        Scaled features, (S, F), never NaN; 0 where unknown, which only `known` can tell from a true 0.
    known
        Whether each feature is known, (S, F).
    age
        Scaled age of each class, (S, 17), in 0..1; 1 where nothing was ever read.
    """

    values: NDArray[np.float32]
    known: BoolArray
    age: NDArray[np.float32]


def encode_city(state: CityState) -> EncodedCity:
    """Encode a state; see `FEATURES` for the columns."""
    raw = np.concatenate([block.read(state) for block in FEATURE_BLOCKS], axis=1)
    known = np.isfinite(raw)
    scaled = np.clip(raw / _SCALES, -MAX_SCALED, MAX_SCALED)
    age_minutes = epoch_minutes_from_datetime(state.as_of) - state.valid_epoch_minutes
    age = np.nan_to_num(np.clip(age_minutes / MAX_AGE_MINUTES, 0.0, 1.0), nan=1.0)
    return EncodedCity(np.where(known, scaled, 0.0).astype(np.float32), known, age.astype(np.float32))


def feature_names() -> tuple[str, ...]:
    """Names of the features in their order, axis F."""
    return tuple(feature.name for feature in FEATURES)


def _block(
    feature_class: FeatureClass, unit: str, scale: float, names: Sequence[str], read: Callable[[CityState], FloatArray]
) -> FeatureBlock:
    return FeatureBlock(tuple(Feature(name, feature_class, unit, scale) for name in names), read)


def _array(feature_class: FeatureClass, unit: str, scale: float, name: str) -> FeatureBlock:
    """A block of one feature that is an array, (S,), of the state with the same name."""
    return _block(feature_class, unit, scale, [name], lambda state: _column(getattr(state, name)))


def _by_stage(feature_class: FeatureClass, unit: str, scale: float, name: str, of: Sequence[str]) -> FeatureBlock:
    """A block of four features that are an array, (S, R), of the state with the same name."""

    def read(state: CityState) -> FloatArray:
        values: FloatArray = getattr(state, name)
        return values

    return _block(feature_class, unit, scale, [f"{name}_{one}" for one in of], read)


def _column(values: FloatArray) -> FloatArray:
    return values[:, None]


def _where_known(state: CityState, feature_class: FeatureClass, values: FloatArray) -> FloatArray:
    """Values, (S, n), where a class is known at all: a site without rows then truly has none."""
    is_known = state.source[:, feature_class] != ReadingSource.UNKNOWN
    return np.where(is_known[:, None], values, np.nan)


def _minutes_from_now(state: CityState, epoch_minutes: FloatArray) -> FloatArray:
    return epoch_minutes - epoch_minutes_from_datetime(state.as_of)


def _half_hours_of_past_weeks(state: CityState) -> FloatArray:
    weeks = state.arrivals_past_weeks_people
    parts = weeks.reshape(len(weeks), PAST_WEEKS, _HALF_HOURS, -1).sum(axis=3)
    is_known = ~np.isnan(parts)
    num_known = is_known.sum(axis=1)
    mean: FloatArray = np.where(is_known, parts, 0.0).sum(axis=1) / np.where(num_known > 0, num_known, np.nan)
    return mean


def _staff_free(state: CityState) -> FloatArray:
    staff = state.staff
    free = (staff.people - staff.reserved_people).astype(np.float64)
    people = sum_by_cell(staff.site_idx, staff.role_idx, free, len(state.source), NUM_ROLES)
    return _where_known(state, FeatureClass.STAFF_ON_DUTY, people)


def _staff_leaving(state: CityState) -> FloatArray:
    staff = state.staff
    leaves = _minutes_from_now(state, staff.shift_ends_epoch_minutes) <= _HOUR
    leaving = np.where(leaves, staff.people, 0).astype(np.float64)
    people = sum_by_cell(staff.site_idx, staff.role_idx, leaving, len(state.source), NUM_ROLES)
    return _where_known(state, FeatureClass.STAFF_ON_DUTY, people)


def _doses_by_slot(state: CityState) -> FloatArray:
    lots = state.lots
    slot = np.minimum(lots.product_idx, PRODUCT_SLOTS - 1)
    free = (lots.unopened_doses - lots.reserved_doses).astype(np.float64)
    doses = sum_by_cell(lots.site_idx, slot, free, len(state.source), PRODUCT_SLOTS)
    return _where_known(state, FeatureClass.DOSES_ON_HAND, doses)


def _open_vial_doses(state: CityState) -> FloatArray:
    lots = state.lots
    doses = np.bincount(lots.site_idx, weights=lots.open_vial_doses, minlength=len(state.source)).astype(np.float64)
    return _where_known(state, FeatureClass.DOSES_ON_HAND, _column(doses))


def _lot_life(state: CityState) -> FloatArray:
    lots = state.lots
    minutes_left = _minutes_from_now(state, lots.expires_epoch_minutes)
    return _column(lowest_by_site(lots.site_idx, minutes_left, len(state.source)) / _HOUR)


def _doses_expiring(state: CityState) -> FloatArray:
    lots = state.lots
    minutes_left = _minutes_from_now(state, lots.expires_epoch_minutes)
    doses = (lots.unopened_doses + lots.open_vial_doses).astype(np.float64)
    columns = []
    for within_minutes in (_DAY_MINUTES, _WEEK_MINUTES):
        expiring = np.where(np.isnan(minutes_left), np.nan, np.where(minutes_left <= within_minutes, doses, 0.0))
        columns.append(sum_by_site(lots.site_idx, expiring, len(state.source)))
    return np.column_stack(columns)


def _temperatures(state: CityState) -> FloatArray:
    fridges, num_sites = state.fridges, len(state.source)
    warmest = highest_by_site(fridges.site_idx, fridges.temperature_celsius, num_sites)
    return np.column_stack([warmest, lowest_by_site(fridges.site_idx, fridges.temperature_celsius, num_sites)])


def _without_power(state: CityState) -> FloatArray:
    fridges = state.fridges
    return _column(sum_by_site(fridges.site_idx, 1.0 - fridges.power_on, len(state.source)))


def _excursion(state: CityState) -> FloatArray:
    fridges = state.fridges
    return _column(highest_by_site(fridges.site_idx, fridges.excursion_minutes, len(state.source)))


def _cold_volume(state: CityState) -> FloatArray:
    fridges, num_sites = state.fridges, len(state.source)
    used = sum_by_site(fridges.site_idx, fridges.volume_used_litres, num_sites)
    return np.column_stack([used, sum_by_site(fridges.site_idx, fridges.volume_possible_litres, num_sites)])


def _travel(state: CityState) -> FloatArray:
    travel = state.city.neighbour_travel_minutes
    num_known = np.count_nonzero(~np.isnan(travel), axis=1)
    mean = np.nansum(travel, axis=1) / np.where(num_known > 0, num_known, np.nan)
    return np.column_stack([travel[:, 0], mean])


def _vans_near(state: CityState) -> FloatArray:
    vans, neighbour_idx = state.vans, state.city.neighbour_idx
    is_free = _minutes_from_now(state, vans.free_epoch_minutes) <= _VAN_WAIT_MINUTES
    standing = np.bincount(vans.site_idx[is_free & (vans.site_idx >= 0)], minlength=len(neighbour_idx))
    near = standing + np.where(neighbour_idx >= 0, standing[neighbour_idx], 0).sum(axis=1)
    return _column(near.astype(np.float64))


def _calendar(state: CityState) -> FloatArray:
    local = state.as_of.astimezone(ZoneInfo(state.city.timezone))
    day_angle = 2 * math.pi * (local.hour * 60 + local.minute) / _DAY_MINUTES
    week_angle = 2 * math.pi * state.weekday / 7
    is_holiday = math.nan if state.is_holiday is None else float(state.is_holiday)
    angles = (math.sin(day_angle), math.cos(day_angle), math.sin(week_angle), math.cos(week_angle))
    return np.tile([*angles, is_holiday], (len(state.source), 1))


def _weather(state: CityState) -> FloatArray:
    one_hot = state.weather_idx[:, None] == np.arange(len(Weather))
    return np.where(state.weather_idx[:, None] >= 0, one_hot, np.nan)


def _incidents(state: CityState) -> FloatArray:
    return _where_known(state, FeatureClass.PLACE_AND_CALENDAR, state.incidents.astype(np.float64))


_PLACE = FeatureClass.PLACE_AND_CALENDAR

FEATURE_BLOCKS: tuple[FeatureBlock, ...] = (
    _array(FeatureClass.ARRIVALS, "people", 20, "arrivals_people"),
    _by_stage(FeatureClass.WAITING_BY_STAGE, "people", 30, "waiting_people", STAGES),
    _array(FeatureClass.OBSERVED_WAIT, "minutes", 30, "observed_wait_minutes"),
    _by_stage(
        FeatureClass.BOOKED_AHEAD, "people", 50, "booked_people", [f"bin_{number}" for number in range(BOOKING_BINS)]
    ),
    _array(FeatureClass.NO_SHOW_AND_PUNCTUALITY, "share", 1, "no_show_share"),
    _array(FeatureClass.NO_SHOW_AND_PUNCTUALITY, "minutes", 30, "mean_early_minutes"),
    _array(FeatureClass.WALK_IN_SHARE, "share", 1, "walk_in_share"),
    _array(FeatureClass.DOSES_GIVEN, "doses", 20, "doses_given"),
    _by_stage(
        FeatureClass.DOSES_GIVEN_PAST_WEEKS,
        "doses",
        20,
        "doses_given_past_weeks",
        [f"back_{week}" for week in range(1, PAST_WEEKS + 1)],
    ),
    _block(
        FeatureClass.DOSES_GIVEN_PAST_WEEKS,
        "people",
        100,
        [f"past_weeks_mean_arrivals_people_half_hour_{number}" for number in range(1, _HALF_HOURS + 1)],
        _half_hours_of_past_weeks,
    ),
    _block(FeatureClass.STAFF_ON_DUTY, "people", 10, [f"staff_free_people_{role}" for role in ROLES], _staff_free),
    _block(
        FeatureClass.STAFF_ON_DUTY,
        "people",
        10,
        [f"staff_leaving_within_hour_people_{role}" for role in ROLES],
        _staff_leaving,
    ),
    _by_stage(FeatureClass.FATIGUE, "hours", 8, "worked_hours", ROLES),
    _by_stage(FeatureClass.FATIGUE, "people", 5, "breaks_due_people", ROLES),
    _by_stage(FeatureClass.STATIONS, "stations", 10, "stations_open", STAGES),
    _by_stage(FeatureClass.STATIONS, "stations", 10, "stations_possible", STAGES),
    _array(FeatureClass.SEATS, "seats", 30, "seats_taken"),
    _array(FeatureClass.SEATS, "seats", 30, "seats_possible"),
    _block(
        FeatureClass.DOSES_ON_HAND,
        "doses",
        500,
        [f"free_doses_product_{slot}" for slot in range(PRODUCT_SLOTS)],
        _doses_by_slot,
    ),
    _block(FeatureClass.DOSES_ON_HAND, "doses", 20, ["open_vial_doses"], _open_vial_doses),
    _block(FeatureClass.LOT_EXPIRY, "hours", 24 * 7, ["first_expiry_hours"], _lot_life),
    _block(
        FeatureClass.LOT_EXPIRY,
        "doses",
        500,
        ["expiring_within_day_doses", "expiring_within_week_doses"],
        _doses_expiring,
    ),
    _block(FeatureClass.FRIDGES, "celsius", 10, ["warmest_celsius", "coldest_celsius"], _temperatures),
    _block(FeatureClass.FRIDGES, "fridges", 2, ["fridges_without_power"], _without_power),
    _block(FeatureClass.FRIDGES, "minutes", 240, ["longest_excursion_minutes"], _excursion),
    _block(FeatureClass.COLD_VOLUME, "litres", 100, ["volume_used_litres", "volume_possible_litres"], _cold_volume),
    _block(_PLACE, "minutes", 30, ["travel_to_nearest_minutes", "travel_to_neighbours_minutes"], _travel),
    _block(_PLACE, "vans", 5, ["vans_near"], _vans_near),
    _block(_PLACE, "1", 1, ["day_sine", "day_cosine", "week_sine", "week_cosine", "is_holiday"], _calendar),
    _block(_PLACE, "1", 1, ["is_open"], lambda state: _column(state.is_open.astype(np.float64))),
    _array(_PLACE, "minutes", 240, "open_minutes_left"),
    _block(_PLACE, "1", 1, [f"weather_{weather}" for weather in Weather], _weather),
    _block(_PLACE, "1", 1, [f"incident_{incident}" for incident in Incident], _incidents),
)

FEATURES: tuple[Feature, ...] = tuple(feature for block in FEATURE_BLOCKS for feature in block.features)
"""Axis F."""
_SCALES = np.array([feature.scale for feature in FEATURES])
