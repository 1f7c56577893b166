"""What the last two hours brought: the previous state moved on, and the arrivals that reports tell of past periods."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.recent_periods import RECENT_PERIODS, RecentPeriods
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.state import CityState
from doseflow.state.estimates import BIN_MINUTES
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

_PERIODS_IN_BIN = BIN_MINUTES // PERIOD_MINUTES


def recent_periods(
    previous: CityState, batch: ReportBatch, newest: NewestReadings, arrivals_people: FloatArray, as_of: datetime
) -> RecentPeriods:
    """
    The 24 periods before the one that holds `as_of`.

    What the previous state expected of its coming periods, bookings and past weeks, moves into the past as it stood.
    A report valid at m tells the period that ends at m. The newest reading of a site counts for its period; an older
    one that comes late fills a period that nothing was told of, so that a report told twice changes nothing.

    Parameters
    ----------
    arrivals_people
        The newest reading of the arrivals of each site, (S,), valid as `newest` says.
    """
    now = _period_of(as_of)
    passed = now - _period_of(previous.as_of)
    recent = _moved_on(previous, passed)
    first_period = now - RECENT_PERIODS
    arrivals = recent.arrivals_people.copy()
    _fill_unknown(arrivals, batch, first_period)
    periods = _periods_told(newest.valid_epoch_minutes[:, FeatureClass.ARRIVALS]) - first_period
    sites = np.flatnonzero(_is_kept(periods) & np.isfinite(arrivals_people))
    arrivals[sites, periods[sites]] = arrivals_people[sites]
    return RecentPeriods(arrivals, recent.booked_people, recent.past_weeks_people)


def _moved_on(previous: CityState, passed: int) -> RecentPeriods:
    recent = previous.recent
    if passed == 0:
        return recent
    booked = np.repeat(previous.booked_people / _PERIODS_IN_BIN, _PERIODS_IN_BIN, axis=1)
    nothing = np.full((len(booked), BOOKING_BINS * _PERIODS_IN_BIN), np.nan)
    return RecentPeriods(
        arrivals_people=_window(recent.arrivals_people, nothing, passed),
        booked_people=_window(recent.booked_people, booked, passed),
        past_weeks_people=_window(recent.past_weeks_people, previous.arrivals_past_weeks_people, passed),
    )


def _window(past: FloatArray, coming: FloatArray, passed: int) -> FloatArray:
    """The 24 periods that are past after so many more, from periods past and coming, (..., 24) each."""
    num_periods = past.shape[-1] + coming.shape[-1]
    window = np.full(past.shape, np.nan)
    start, stop = min(max(passed, 0), num_periods), min(max(passed + RECENT_PERIODS, 0), num_periods)
    window[..., start - passed : stop - passed] = np.concatenate([past, coming], axis=-1)[..., start:stop]
    return window


def _fill_unknown(arrivals: FloatArray, batch: ReportBatch, first_period: int) -> None:
    """Put in what reports tell of periods that nothing was told of; of two for one period the one valid later."""
    rows = np.flatnonzero(batch.given[:, FeatureClass.ARRIVALS])
    periods = _periods_told(batch.valid_epoch_minutes[rows]) - first_period
    rows, periods = rows[_is_kept(periods)], periods[_is_kept(periods)]
    people = np.array([batch.reports[row].arrivals_people for row in rows.tolist()], dtype=np.float64)
    sites = batch.site_idx[rows]
    is_unknown = np.isnan(arrivals[sites, periods])
    arrivals[sites[is_unknown], periods[is_unknown]] = people[is_unknown]


def _period_of(moment: datetime) -> int:
    """Number since 1970 of the period that holds a moment."""
    return int(epoch_minutes_from_datetime(moment) // PERIOD_MINUTES)


def _periods_told(valid_epoch_minutes: FloatArray) -> IntArray:
    """Number of the period that a report valid at a moment tells; -1 where there is none."""
    ends = np.rint(valid_epoch_minutes / PERIOD_MINUTES)
    periods: IntArray = np.where(np.isnan(ends), 0, ends).astype(np.int64) - 1
    return periods


def _is_kept(periods: IntArray) -> BoolArray:
    is_kept: BoolArray = (periods >= 0) & (periods < RECENT_PERIODS)
    return is_kept
