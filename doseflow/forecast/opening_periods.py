"""When a site can have arrivals: which of the coming periods lie in its hours, and how long it is open today."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.state import CityState
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR
PERIOD_STARTS_MINUTES: FloatArray = np.arange(HORIZON_PERIODS, dtype=np.float64) * PERIOD_MINUTES
"""Start of each coming period, minutes from now, (T,)."""


def opening_window_minutes(state: CityState) -> tuple[FloatArray, FloatArray]:
    """
    From when to when each site is open next, in minutes from now; both (S,).

    A site that is closed and does not open again today within its hours opens at infinity.
    """
    starts = np.where(state.is_open, 0.0, np.inf)
    ends = np.where(state.is_open, state.open_minutes_left, np.inf)
    local = state.as_of.astimezone(ZoneInfo(state.city.timezone))
    now_minutes = local.hour * MINUTES_PER_HOUR + local.minute + local.second / 60
    opens, closes = state.city.opening_minutes.T
    # A site that its state calls closed inside its own hours stays closed until tomorrow.
    opens_later = ~state.is_open & (opens >= now_minutes)
    starts[opens_later] = (opens - now_minutes)[opens_later]
    length = np.where(closes <= opens, closes - opens + _MINUTES_PER_DAY, closes - opens)
    ends[opens_later] = starts[opens_later] + length[opens_later]
    return starts, ends


def open_periods(starts_minutes: FloatArray, ends_minutes: FloatArray) -> BoolArray:
    """Whether a site is open when a coming period starts, (S, T)."""
    after_opening = starts_minutes[:, None] <= PERIOD_STARTS_MINUTES
    before_closing = ends_minutes[:, None] > PERIOD_STARTS_MINUTES
    is_open_period: BoolArray = after_opening & before_closing
    return is_open_period
