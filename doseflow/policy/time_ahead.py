"""The time grid of the look-ahead: fine while travels last, coarse over the rest of a shift."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_HOUR_PERIODS = MINUTES_PER_HOUR // PERIOD_MINUTES
_QUARTER_PERIODS = 3
_NUM_QUARTERS = (HORIZON_PERIODS - _HOUR_PERIODS) // _QUARTER_PERIODS
_HALF_HOUR_MINUTES = 30.0
_NUM_LATE = 8

GRID_MINUTES: FloatArray = np.array(
    [PERIOD_MINUTES] * _HOUR_PERIODS
    + [PERIOD_MINUTES * _QUARTER_PERIODS] * _NUM_QUARTERS
    + [_HALF_HOUR_MINUTES] * _NUM_LATE
)
"""Length of each step, (G,): the first hour in periods, the second in quarters, four more hours in halves."""
GRID_ENDS_MINUTES: FloatArray = np.cumsum(GRID_MINUTES)
FORECAST_STEPS = _HOUR_PERIODS + _NUM_QUARTERS
"""Steps that the forecast covers."""
FORECAST_MINUTES = float(PERIOD_MINUTES * HORIZON_PERIODS)


def share_after(from_minutes: FloatArray) -> FloatArray:
    """Share of each step after a moment, (G, N), moments in minutes from now, (N,)."""
    share: FloatArray = np.clip((GRID_ENDS_MINUTES[:, None] - from_minutes) / GRID_MINUTES[:, None], 0.0, 1.0)
    return share


def on_grid(arrivals_people: FloatArray, late_per_minute: FloatArray, open_minutes: FloatArray) -> FloatArray:
    """
    People that come in each step, (G, S).

    Parameters
    ----------
    arrivals_people
        Of the forecast, (S, T).
    late_per_minute
        After the forecast's two hours, until closing, (S,).
    open_minutes
        Until closing, (S,).
    """
    people = np.empty((len(GRID_MINUTES), len(arrivals_people)))
    people[:_HOUR_PERIODS] = arrivals_people[:, :_HOUR_PERIODS].T
    quarters = arrivals_people[:, _HOUR_PERIODS:].reshape(-1, _NUM_QUARTERS, _QUARTER_PERIODS).sum(axis=-1)
    people[_HOUR_PERIODS:FORECAST_STEPS] = quarters.T
    late_minutes = GRID_MINUTES[:, None] * (1.0 - share_after(open_minutes))
    people[FORECAST_STEPS:] = late_per_minute * late_minutes[FORECAST_STEPS:]
    return people
