"""Who was and is booked, two hours back and two ahead, as arrivals: moved by punctuality, thinned, with walk-ins."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.state import CityState
from doseflow.forecast.booked_arrivals import MOST_WALK_INS_SHARE, BookingParams
from doseflow.units import PERIOD_MINUTES

_PERIODS_PER_BIN = HORIZON_PERIODS // BOOKING_BINS


def booked_curve(state: CityState, params: BookingParams) -> FloatArray:
    """
    Expected arrivals by appointments in the last 24 periods and the coming 24, (S, 2T); NaN where bookings are unknown.

    Unlike `booked_arrivals` it knows who was booked before now, so that late people are not forgotten, and what was
    expected of the periods that have been.
    """
    ahead = np.repeat(state.booked_people / _PERIODS_PER_BIN, _PERIODS_PER_BIN, axis=1)
    appointments = np.concatenate([state.recent.booked_people, ahead], axis=1)
    early = _or_assumed(state.mean_early_minutes, params.assumed_early_minutes)
    no_show = _or_assumed(state.no_show_share, params.assumed_no_show_share)
    walk_ins = np.minimum(_or_assumed(state.walk_in_share, params.assumed_walk_in_share), MOST_WALK_INS_SHARE)
    expected = _moved_earlier(_going_on(appointments), early) * ((1 - no_show) / (1 - walk_ins))[:, None]
    return np.where(np.isfinite(appointments), expected, np.nan)


def _going_on(people: FloatArray) -> FloatArray:
    """Unknown periods as the last known one before them, or else as the first known, so that the shift has an edge."""
    known = np.isfinite(people)
    last_known = np.maximum.accumulate(np.where(known, np.arange(people.shape[1]), -1), axis=1)
    first_known = known.argmax(axis=1)[:, None]
    return np.take_along_axis(people, np.where(last_known < 0, first_known, last_known), axis=1)


def _moved_earlier(people: FloatArray, minutes: FloatArray) -> FloatArray:
    """Periods, (S, P), of people who come `minutes`, (S,), before their time; the outermost rate goes on outside."""
    num_periods = people.shape[1]
    cumulative = np.concatenate([np.zeros((len(people), 1)), np.cumsum(people, axis=1)], axis=1)
    position = np.arange(num_periods + 1) + minutes[:, None] / PERIOD_MINUTES
    cell = np.clip(np.floor(position), 0, num_periods - 1).astype(np.int64)
    reached = np.take_along_axis(cumulative, cell, axis=1)
    reached += (position - cell) * np.take_along_axis(people, cell, axis=1)
    moved: FloatArray = np.diff(reached, axis=1)
    return moved


def _or_assumed(values: FloatArray, assumed: float) -> FloatArray:
    return np.where(np.isnan(values), assumed, values)
