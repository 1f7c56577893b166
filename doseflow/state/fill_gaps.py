"""Where reports are silent: how each class counts, what is put in place of old readings, and what becomes UNKNOWN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.state.array_readings import ARRAY_CLASSES
from doseflow.state.estimates import (
    bins_passed,
    booked_moved_up,
    newer_than,
    stock_after_doses,
    wait_by_littles_law,
    waiting_after_flows,
)
from doseflow.state.flows_since import FlowsSince, flows_since
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.reading_rules import CARRIED_MINUTES, WEATHER_CARRIED_MINUTES
from doseflow.state.readings import Readings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.staff_rows import without_ended_shifts
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime


@dataclass(frozen=True)
class _Fold:
    """What the rules look at: the state before, what is new, and how old each reading is, (S, 17)."""

    previous: CityState
    newest: NewestReadings
    flows: FlowsSince
    as_of_epoch_minutes: float
    age_minutes: FloatArray
    is_expired: BoolArray

    def is_told(self, feature_class: FeatureClass) -> BoolArray:
        """Where a class was told anew, (S,)."""
        told: BoolArray = self.newest.row[:, feature_class] >= 0
        return told

    def is_newer(self, one: FeatureClass, other: FeatureClass) -> BoolArray:
        """Where one class was read later than another, (S,)."""
        return newer_than(self.newest.valid_epoch_minutes, one, other)


@dataclass(frozen=True)
class Filled:
    """Readings with their gaps filled, and the `ReadingSource` of every class of every site, (S, 17)."""

    readings: Readings
    source: IntArray


def fill_gaps(
    previous: CityState, batch: ReportBatch, newest: NewestReadings, readings: Readings, as_of_epoch_minutes: float
) -> Filled:
    """Apply the rules of `reading_rules`, in the order of `_RULES`."""
    age_minutes = as_of_epoch_minutes - newest.valid_epoch_minutes
    fold = _Fold(
        previous=previous,
        newest=newest,
        flows=flows_since(previous, batch, newest),
        as_of_epoch_minutes=as_of_epoch_minutes,
        age_minutes=age_minutes,
        is_expired=age_minutes > CARRIED_MINUTES,
    )
    filled = Filled(readings, _standing_source(fold))
    for rule in _RULES:
        filled = rule(filled, fold)
    return filled


def _standing_source(fold: _Fold) -> IntArray:
    """Source of each class before any estimate: a reading one period old or older is carried, an expired is unknown."""
    source = np.where(fold.age_minutes < PERIOD_MINUTES, int(ReadingSource.REPORTED), int(ReadingSource.CARRIED))
    was_put_in = fold.previous.source >= ReadingSource.ESTIMATED
    source = np.where(was_put_in & (fold.newest.row < 0), fold.previous.source, source)
    return np.where(np.isnan(fold.age_minutes) | fold.is_expired, int(ReadingSource.UNKNOWN), source)


def _forget_expired(filled: Filled, fold: _Fold) -> Filled:
    arrays = dict(filled.readings.arrays)
    city = fold.previous.city
    nominal = {"stations_possible": city.nominal_stations, "seats_possible": city.nominal_seats}
    for one in ARRAY_CLASSES:
        is_expired = fold.is_expired[:, one.feature_class]
        if is_expired.any():
            for name in one.fields:
                arrays[name] = arrays[name].copy()
                arrays[name][is_expired] = nominal[name][is_expired] if name in nominal else np.nan
    return _with_arrays(filled, arrays)


def _move_bookings_up(filled: Filled, fold: _Fold) -> Filled:
    valid = fold.newest.valid_epoch_minutes[:, FeatureClass.BOOKED_AHEAD]
    before = bins_passed(valid, epoch_minutes_from_datetime(fold.previous.as_of))
    moved_before = np.where(fold.is_told(FeatureClass.BOOKED_AHEAD), 0, before)
    bins = np.maximum(bins_passed(valid, fold.as_of_epoch_minutes) - moved_before, 0)
    booked = booked_moved_up(filled.readings.arrays["booked_people"], bins)
    return _with_arrays(filled, {"booked_people": booked})


def _estimate_waiting(filled: Filled, fold: _Fold) -> Filled:
    has_flows = fold.flows.periods > 0
    if not has_flows.any():
        return filled
    waiting = filled.readings.arrays["waiting_people"]
    estimate = waiting_after_flows(waiting, fold.flows, fold.previous.city)
    is_known = ~np.isnan(waiting[:, :OBSERVATION_IDX]).any(axis=1)
    applies = has_flows & is_known & fold.flows.is_complete
    was_estimated = filled.source[:, FeatureClass.WAITING_BY_STAGE] == ReadingSource.ESTIMATED
    is_broken = has_flows & was_estimated & ~applies
    waiting = np.where(applies[:, None], estimate, np.where(is_broken[:, None], np.nan, waiting))
    source = _marked(filled.source, FeatureClass.WAITING_BY_STAGE, applies, ReadingSource.ESTIMATED)
    source = _marked(source, FeatureClass.WAITING_BY_STAGE, is_broken, ReadingSource.UNKNOWN)
    return _with_arrays(replace(filled, source=source), {"waiting_people": waiting})


def _estimate_wait(filled: Filled, fold: _Fold) -> Filled:
    arrays = filled.readings.arrays
    estimate = wait_by_littles_law(arrays["waiting_people"], arrays["doses_given"])
    is_newer = fold.is_newer(FeatureClass.WAITING_BY_STAGE, FeatureClass.OBSERVED_WAIT) & fold.is_newer(
        FeatureClass.DOSES_GIVEN, FeatureClass.OBSERVED_WAIT
    )
    return _put_in(filled, FeatureClass.OBSERVED_WAIT, "observed_wait_minutes", np.where(is_newer, estimate, np.nan))


def _estimate_seats_taken(filled: Filled, fold: _Fold) -> Filled:
    in_observation = filled.readings.arrays["waiting_people"][:, OBSERVATION_IDX]
    is_newer = fold.is_newer(FeatureClass.WAITING_BY_STAGE, FeatureClass.SEATS)
    return _put_in(filled, FeatureClass.SEATS, "seats_taken", np.where(is_newer, in_observation, np.nan))


def _put_in(filled: Filled, feature_class: FeatureClass, name: str, estimate: FloatArray) -> Filled:
    """Put an estimate, (S,), where the class is not reported; an earlier one that it does not renew is forgotten."""
    values, source = filled.readings.arrays[name], filled.source[:, feature_class]
    is_open = (source != ReadingSource.REPORTED) | np.isnan(values)
    applies = is_open & ~np.isnan(estimate)
    is_outdated = (source >= ReadingSource.ESTIMATED) & ~applies
    values = np.where(applies, estimate, np.where(is_outdated, np.nan, values))
    not_reported = source != ReadingSource.REPORTED
    marked = _marked(filled.source, feature_class, applies & not_reported, ReadingSource.ESTIMATED)
    marked = _marked(marked, feature_class, is_outdated, ReadingSource.UNKNOWN)
    return _with_arrays(replace(filled, source=marked), {name: values})


def _mark_nominals(filled: Filled, _: _Fold) -> Filled:
    source = filled.source
    for feature_class in (FeatureClass.STATIONS, FeatureClass.SEATS):
        is_nominal = source[:, feature_class] == ReadingSource.UNKNOWN
        source = _marked(source, feature_class, is_nominal, ReadingSource.ESTIMATED)
    return replace(filled, source=source)


def _end_shifts(filled: Filled, fold: _Fold) -> Filled:
    source = filled.source
    is_old = source[:, FeatureClass.STAFF_ON_DUTY] != ReadingSource.REPORTED
    ends_before = np.where(fold.is_expired[:, FeatureClass.STAFF_ON_DUTY], np.inf, fold.as_of_epoch_minutes)
    staff, has_lost, is_empty = without_ended_shifts(filled.readings.staff, is_old, ends_before)
    source = _marked(source, FeatureClass.STAFF_ON_DUTY, has_lost, ReadingSource.ESTIMATED)
    source = _marked(source, FeatureClass.STAFF_ON_DUTY, is_empty, ReadingSource.UNKNOWN)
    return Filled(replace(filled.readings, staff=staff), source)


def _use_up_stock(filled: Filled, fold: _Fold) -> Filled:
    doses = fold.flows.doses_from_stock
    if not doses.any():
        return filled
    lots = stock_after_doses(filled.readings.lots, doses, fold.previous.city)
    source = _marked(filled.source, FeatureClass.DOSES_ON_HAND, doses > 0, ReadingSource.ESTIMATED)
    return Filled(replace(filled.readings, lots=lots), source)


def _age_fridges(filled: Filled, fold: _Fold) -> Filled:
    fridges = filled.readings.fridges
    site_idx = fridges.site_idx
    is_cold_old = fold.is_expired[site_idx, FeatureClass.FRIDGES]
    is_logger_old = _is_old(fold, fridges.logger_epoch_minutes, is_cold_old)
    is_volume_old = fold.is_expired[site_idx, FeatureClass.COLD_VOLUME]
    aged = replace(
        fridges,
        temperature_celsius=_known_where(
            ~_is_old(fold, fridges.temperature_epoch_minutes, is_cold_old), fridges.temperature_celsius
        ),
        power_on=_known_where(~_is_old(fold, fridges.power_epoch_minutes, is_cold_old), fridges.power_on),
        ambient_celsius=_known_where(~is_logger_old, fridges.ambient_celsius),
        door_open=_known_where(~is_logger_old, fridges.door_open),
        door_open_minutes=_known_where(~is_logger_old, fridges.door_open_minutes),
        holdover_hours=_known_where(~is_logger_old, fridges.holdover_hours),
        alarms=tuple(None if is_old else one for one, is_old in zip(fridges.alarms, is_logger_old, strict=True)),
        volume_used_litres=np.where(is_volume_old, np.nan, fridges.volume_used_litres),
    )
    has_volume = np.zeros(len(filled.source), dtype=np.bool_)
    has_volume[site_idx[~np.isnan(fridges.volume_possible_litres)]] = True
    is_nominal = has_volume & (filled.source[:, FeatureClass.COLD_VOLUME] == ReadingSource.UNKNOWN)
    source = _marked(filled.source, FeatureClass.COLD_VOLUME, is_nominal, ReadingSource.ESTIMATED)
    return Filled(replace(filled.readings, fridges=aged), source)


def _is_old(fold: _Fold, told_epoch_minutes: FloatArray, class_is_old: BoolArray) -> BoolArray:
    """Whether fridge readings are too old to stand, by their own moment, or their class's where they have none."""
    is_old = fold.as_of_epoch_minutes - told_epoch_minutes > CARRIED_MINUTES[FeatureClass.FRIDGES]
    return np.where(np.isnan(told_epoch_minutes), class_is_old, is_old)


def _known_where(stands: BoolArray, values: FloatArray) -> FloatArray:
    return np.where(stands, values, np.nan)


def _forget_weather(filled: Filled, fold: _Fold) -> Filled:
    is_old = fold.age_minutes[:, FeatureClass.PLACE_AND_CALENDAR] > WEATHER_CARRIED_MINUTES
    weather_idx = np.where(is_old, -1, filled.readings.weather_idx)
    return replace(filled, readings=replace(filled.readings, weather_idx=weather_idx))


_RULES: tuple[Callable[[Filled, _Fold], Filled], ...] = (
    _forget_expired,
    _move_bookings_up,
    _estimate_waiting,
    _estimate_wait,
    _estimate_seats_taken,
    _mark_nominals,
    _end_shifts,
    _use_up_stock,
    _age_fridges,
    _forget_weather,
)


def _with_arrays(filled: Filled, arrays: dict[str, FloatArray]) -> Filled:
    return replace(filled, readings=replace(filled.readings, arrays=filled.readings.arrays | arrays))


def _marked(source: IntArray, feature_class: FeatureClass, where: BoolArray, as_source: ReadingSource) -> IntArray:
    """Sources with one class marked at some sites."""
    if not where.any():
        return source
    marked = source.copy()
    marked[where, feature_class] = as_source
    return marked
