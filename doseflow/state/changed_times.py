"""When the value of each class last differed from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES, FeatureClass
from doseflow.domain.report import SiteReport
from doseflow.domain.state import CityState
from doseflow.state.array_readings import ARRAY_CLASSES
from doseflow.state.fridge_rows import fridge_columns
from doseflow.state.lot_rows import known_lots
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.readings import Readings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.staff_rows import staff_columns
from doseflow.state.table_rows import Column, sites_that_differ

_CONTENT: dict[FeatureClass, Callable[[SiteReport], Any]] = {
    FeatureClass.ARRIVALS: lambda report: report.arrivals_people,
    FeatureClass.WAITING_BY_STAGE: lambda report: report.waiting_people,
    FeatureClass.OBSERVED_WAIT: lambda report: report.observed_wait_minutes,
    FeatureClass.BOOKED_AHEAD: lambda report: report.booked_people,
    FeatureClass.NO_SHOW_AND_PUNCTUALITY: lambda report: report.no_show,
    FeatureClass.WALK_IN_SHARE: lambda report: report.walk_in_share,
    FeatureClass.DOSES_GIVEN: lambda report: report.doses_given,
    FeatureClass.DOSES_GIVEN_PAST_WEEKS: lambda report: report.doses_given_past_weeks,
    FeatureClass.STAFF_ON_DUTY: lambda report: report.staff,
    FeatureClass.FATIGUE: lambda report: report.fatigue,
    FeatureClass.STATIONS: lambda report: report.stations,
    FeatureClass.SEATS: lambda report: report.seats,
    FeatureClass.DOSES_ON_HAND: lambda report: [
        (lot.lot_number, lot.product_id, lot.fridge_id, lot.unopened_doses, lot.open_vial_doses)
        for lot in report.lots or ()
    ],
    FeatureClass.LOT_EXPIRY: lambda report: [(lot.lot_number, lot.expires_at) for lot in report.lots or ()],
    FeatureClass.FRIDGES: lambda report: [
        replace(one, volume_used_litres=None, volume_possible_litres=None) for one in report.fridges or ()
    ],
    FeatureClass.COLD_VOLUME: lambda report: [
        (one.fridge_id, one.volume_used_litres, one.volume_possible_litres) for one in report.fridges or ()
    ],
    FeatureClass.PLACE_AND_CALENDAR: lambda report: report.surroundings,
}


def changed_times(previous: CityState, batch: ReportBatch, newest: NewestReadings, readings: Readings) -> FloatArray:
    """Moment of the last change of every class, (S, 17); NaN where nothing was ever read."""
    is_read = newest.row >= 0
    is_changed = is_read & (_differs(previous, readings) | np.isnan(previous.changed_epoch_minutes))
    changed = np.where(is_changed, newest.valid_epoch_minutes, previous.changed_epoch_minutes)
    for site_idx, class_idx, rows in _told_more_than_once(batch, newest):
        if any(batch.reports[row].source is not None for row in rows):
            continue  # sources tell of different things; what the table says decides
        content = [_CONTENT[FeatureClass(class_idx)](batch.reports[row]) for row in rows]
        last = max((at for at in range(1, len(rows)) if content[at] != content[at - 1]), default=0)
        if last > 0 or is_changed[site_idx, class_idx]:
            changed[site_idx, class_idx] = batch.valid_epoch_minutes[rows[last]]
    return changed


def _differs(previous: CityState, readings: Readings) -> BoolArray:
    """Whether the value of each class differs from the previous state's, (S, 17)."""
    differs = np.zeros(previous.source.shape, dtype=np.bool_)
    for one in ARRAY_CLASSES:
        for name in one.fields:
            differs[:, one.feature_class] |= _values_differ(getattr(previous, name), readings.arrays[name])
    for feature_class, before, after in _table_columns(previous, readings):
        differs[:, feature_class] = sites_that_differ(before, after, len(differs))
    place = (previous.weather_idx != readings.weather_idx) | (previous.incidents != readings.incidents).any(axis=1)
    differs[:, FeatureClass.PLACE_AND_CALENDAR] = place
    return differs


def _values_differ(before: FloatArray, after: FloatArray) -> BoolArray:
    unequal = (before != after) & ~(np.isnan(before) & np.isnan(after))
    differs: BoolArray = unequal.reshape(len(unequal), -1).any(axis=1)
    return differs


def _table_columns(
    previous: CityState, readings: Readings
) -> Iterator[tuple[FeatureClass, Sequence[Column], Sequence[Column]]]:
    """Columns of the tables before and after, by the class that tells them."""
    lots_before, lots_after = known_lots(previous).columns, readings.lots.columns
    fridges_before, fridges_after = fridge_columns(previous.fridges), fridge_columns(readings.fridges)
    yield FeatureClass.STAFF_ON_DUTY, staff_columns(previous.staff), staff_columns(readings.staff)
    yield FeatureClass.DOSES_ON_HAND, lots_before[:6], lots_after[:6]
    yield FeatureClass.LOT_EXPIRY, [lots_before[at] for at in (0, 3, 6)], [lots_after[at] for at in (0, 3, 6)]
    cold = (*range(6), *range(8, 13))
    yield FeatureClass.FRIDGES, [fridges_before[at] for at in cold], [fridges_after[at] for at in cold]
    volumes = (0, 1, 6, 7)
    yield FeatureClass.COLD_VOLUME, [fridges_before[at] for at in volumes], [fridges_after[at] for at in volumes]


def _told_more_than_once(batch: ReportBatch, newest: NewestReadings) -> list[tuple[int, int, list[int]]]:
    """Site, class, and the reports in order, where one batch tells a class of a site several times."""
    report_idx, class_idx = np.nonzero(newest.is_new)
    cell = batch.site_idx[report_idx] * NUM_FEATURE_CLASSES + class_idx
    repeated = np.flatnonzero(np.bincount(cell, minlength=newest.row.size) > 1)
    if not len(repeated):
        return []
    is_repeated = np.isin(cell, repeated)
    order = np.argsort(cell[is_repeated], kind="stable")
    cells, rows = cell[is_repeated][order], report_idx[is_repeated][order]
    groups = np.split(rows, np.flatnonzero(np.diff(cells)) + 1)
    return [
        (int(one) // NUM_FEATURE_CLASSES, int(one) % NUM_FEATURE_CLASSES, group.tolist())
        for one, group in zip(np.unique(cells), groups, strict=True)
    ]
