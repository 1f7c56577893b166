"""What was forecast for each period before it came: kept, so that a screen can lay it beside what came."""

from __future__ import annotations

import threading
from datetime import datetime

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS
from doseflow.units import PERIOD_MINUTES

LEAD_PERIODS = 12
"""A forecast is kept as it stood an hour before: what staff were moved on."""
KEPT_PERIODS = 288 + HORIZON_PERIODS
_PERIOD_SECONDS = PERIOD_MINUTES * 60


class ToldForecasts:
    """
    Of each period the forecast that was made last, yet at least an hour ahead; a day and two hours of them.

    Where none was made an hour ahead (the hour after a start) the first one made stands. Nothing outlives the process.
    """

    def __init__(self, num_sites: int) -> None:
        self._lock = threading.Lock()
        self._people = np.full((KEPT_PERIODS, num_sites, len(QUANTILE_LEVELS)), np.nan, dtype=np.float32)
        self._period_no = np.full(KEPT_PERIODS, -1, dtype=np.int64)

    def take(self, cycle: Cycle) -> None:
        """Keep a cycle's forecast where it is the one that counts."""
        forecast = cycle.forecast
        first = _period_no(forecast.made_at)
        with self._lock:
            for ahead in range(forecast.arrivals_people.shape[1]):
                slot = (first + ahead) % KEPT_PERIODS
                if ahead >= LEAD_PERIODS or self._period_no[slot] != first + ahead:
                    self._people[slot] = forecast.arrivals_people[:, ahead]
                    self._period_no[slot] = first + ahead

    def between(self, start: datetime, num_periods: int) -> FloatArray:
        """What was told of the periods from `start` on, (P, S, Q), NaN where nothing was."""
        wanted = _period_no(start) + np.arange(num_periods)
        slots = wanted % KEPT_PERIODS
        with self._lock:
            people = self._people[slots].astype(np.float64)
            people[self._period_no[slots] != wanted] = np.nan
        return people


def _period_no(moment: datetime) -> int:
    return round(moment.timestamp() / _PERIOD_SECONDS)
