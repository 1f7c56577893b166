"""One number a site for each class of reading: what the days are compared by."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.state import CityState
from doseflow.units import epoch_minutes_from_datetime


def _sum_of(state: CityState, site_idx: IntArray, values: FloatArray | IntArray) -> FloatArray:
    return np.asarray(np.bincount(site_idx, weights=values, minlength=state.city.num_sites), dtype=np.float64)


def _days_to_next_expiry(state: CityState) -> FloatArray:
    next_one = np.full(state.city.num_sites, np.inf)
    np.minimum.at(next_one, state.lots.site_idx, state.lots.expires_epoch_minutes)
    days: FloatArray = (next_one - epoch_minutes_from_datetime(state.as_of)) / (24 * 60)
    return days


def _warmest(state: CityState) -> FloatArray:
    warmest = np.full(state.city.num_sites, -np.inf)
    np.fmax.at(warmest, state.fridges.site_idx, state.fridges.temperature_celsius)
    return warmest


_OF_CLASS: Mapping[FeatureClass, Callable[[CityState], FloatArray]] = {
    FeatureClass.ARRIVALS: lambda state: state.arrivals_people,
    FeatureClass.WAITING_BY_STAGE: lambda state: state.waiting_people.sum(axis=1),
    FeatureClass.OBSERVED_WAIT: lambda state: state.observed_wait_minutes,
    FeatureClass.BOOKED_AHEAD: lambda state: state.booked_people.sum(axis=1),
    FeatureClass.NO_SHOW_AND_PUNCTUALITY: lambda state: state.no_show_share,
    FeatureClass.WALK_IN_SHARE: lambda state: state.walk_in_share,
    FeatureClass.DOSES_GIVEN: lambda state: state.doses_given,
    FeatureClass.DOSES_GIVEN_PAST_WEEKS: lambda state: state.doses_given_past_weeks.mean(axis=1),
    FeatureClass.STAFF_ON_DUTY: lambda state: _sum_of(state, state.staff.site_idx, state.staff.people),
    FeatureClass.FATIGUE: lambda state: state.worked_hours.mean(axis=1),
    FeatureClass.STATIONS: lambda state: state.stations_open.sum(axis=1),
    FeatureClass.SEATS: lambda state: state.seats_taken / np.maximum(1.0, state.seats_possible),
    FeatureClass.DOSES_ON_HAND: lambda state: _sum_of(
        state, state.lots.site_idx, state.lots.unopened_doses + state.lots.open_vial_doses
    ),
    FeatureClass.LOT_EXPIRY: _days_to_next_expiry,
    FeatureClass.FRIDGES: _warmest,
    FeatureClass.COLD_VOLUME: lambda state: _sum_of(state, state.fridges.site_idx, state.fridges.volume_used_litres),
    FeatureClass.PLACE_AND_CALENDAR: lambda state: state.weather_idx.astype(np.float64),
}


def class_readings(state: CityState) -> dict[FeatureClass, FloatArray]:
    """What open sites have reported for this cycle, each class (open and reported,); what is unknown is left out."""
    found: dict[FeatureClass, FloatArray] = {}
    for feature_class, read in _OF_CLASS.items():
        values = np.asarray(read(state), dtype=np.float64)
        is_reported = state.source[:, feature_class] == ReadingSource.REPORTED
        found[feature_class] = values[is_reported & state.is_open & np.isfinite(values)]
    return found
