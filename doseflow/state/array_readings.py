"""The classes that are a fixed number of values a site: read from the newest reports into arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import PAST_WEEKS, ByStage, SiteReport, Stations
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX
from doseflow.domain.state import CityState
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch

_NO_STAGE = ByStage()
_NO_STATIONS = Stations()
_Column = list[Any]


@dataclass(frozen=True, slots=True)
class ArrayClass:
    """
    A class held in arrays of the state.

    `fields` are the names of the state's arrays; `read` gives the values of reports that tell the class, a column a
    value, in the order of the fields; None is unknown.
    """

    feature_class: FeatureClass
    fields: tuple[str, ...]
    read: Callable[[Sequence[Any]], list[_Column]]


def _single(name: str) -> Callable[[Sequence[SiteReport]], list[_Column]]:
    value_of = attrgetter(name)
    return lambda reports: [[value_of(report) for report in reports]]


def _waiting(reports: Sequence[SiteReport]) -> list[_Column]:
    return _by_stage([report.waiting_people or _NO_STAGE for report in reports])


def _stations(reports: Sequence[SiteReport]) -> list[_Column]:
    stations = [report.stations or _NO_STATIONS for report in reports]
    opened, possible = [one.open or _NO_STAGE for one in stations], [one.possible or _NO_STAGE for one in stations]
    return _by_stage(opened) + _by_stage(possible)


def _by_stage(values: Sequence[ByStage]) -> list[_Column]:
    return [
        [one.registration for one in values],
        [one.screening for one in values],
        [one.vaccination for one in values],
        [one.observation for one in values],
    ]


def _booked(reports: Sequence[SiteReport]) -> list[_Column]:
    return [list(column) for column in zip(*(report.booked_people or () for report in reports), strict=True)]


def _no_show(reports: Sequence[Any]) -> list[_Column]:
    histories = [report.no_show for report in reports]
    return [[one.no_show_share for one in histories], [one.mean_early_minutes for one in histories]]


def _past_weeks(reports: Sequence[SiteReport]) -> list[_Column]:
    weeks = [report.doses_given_past_weeks or () for report in reports]
    return [[one[week] if week < len(one) else None for one in weeks] for week in range(PAST_WEEKS)]


def _fatigue(reports: Sequence[SiteReport]) -> list[_Column]:
    columns: list[_Column] = [[None] * len(reports) for _ in range(2 * NUM_ROLES)]
    for position, report in enumerate(reports):
        for one in report.fatigue or ():
            role_idx = ROLE_TO_IDX[one.role]
            columns[role_idx][position] = one.worked_hours
            columns[NUM_ROLES + role_idx][position] = one.breaks_due_people
    return columns


def _seats(reports: Sequence[Any]) -> list[_Column]:
    seats = [report.seats for report in reports]
    return [[one.taken for one in seats], [one.possible for one in seats]]


ARRAY_CLASSES: tuple[ArrayClass, ...] = (
    ArrayClass(FeatureClass.ARRIVALS, ("arrivals_people",), _single("arrivals_people")),
    ArrayClass(FeatureClass.WAITING_BY_STAGE, ("waiting_people",), _waiting),
    ArrayClass(FeatureClass.OBSERVED_WAIT, ("observed_wait_minutes",), _single("observed_wait_minutes")),
    ArrayClass(FeatureClass.BOOKED_AHEAD, ("booked_people",), _booked),
    ArrayClass(FeatureClass.NO_SHOW_AND_PUNCTUALITY, ("no_show_share", "mean_early_minutes"), _no_show),
    ArrayClass(FeatureClass.WALK_IN_SHARE, ("walk_in_share",), _single("walk_in_share")),
    ArrayClass(FeatureClass.DOSES_GIVEN, ("doses_given",), _single("doses_given")),
    ArrayClass(FeatureClass.DOSES_GIVEN_PAST_WEEKS, ("doses_given_past_weeks",), _past_weeks),
    ArrayClass(FeatureClass.FATIGUE, ("worked_hours", "breaks_due_people"), _fatigue),
    ArrayClass(FeatureClass.STATIONS, ("stations_open", "stations_possible"), _stations),
    ArrayClass(FeatureClass.SEATS, ("seats_taken", "seats_possible"), _seats),
)


def read_arrays(previous: CityState, batch: ReportBatch, newest: NewestReadings) -> dict[str, FloatArray]:
    """
    The arrays of every array class after the fold, by their name in the state.

    A class that is told anew is replaced whole: a value that the newest report leaves out is UNKNOWN.
    """
    arrays = {name: getattr(previous, name).copy() for one in ARRAY_CLASSES for name in one.fields}
    for one in ARRAY_CLASSES:
        sites, rows = newest.sites_of(one.feature_class)
        if not len(sites):
            continue
        columns = one.read([batch.reports[row] for row in rows.tolist()])
        block = np.array(columns, dtype=np.float64).T
        start = 0
        for name in one.fields:
            array = arrays[name]
            width = array[0].size
            array[sites] = block[:, start : start + width].reshape(len(sites), *array.shape[1:])
            start += width
    return arrays
