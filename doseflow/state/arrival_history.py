"""Arrivals of the past five weeks, by site and period of five minutes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import City, FloatArray, IntArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.report import PAST_WEEKS, ReceivedReport
from doseflow.state.epoch_minutes import epoch_minutes_of
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

PERIODS_KEPT = 5 * 7 * 24 * 60 // PERIOD_MINUTES
"""Five weeks: four to look back to, and one so that the two hours ahead of four weeks ago are still there."""


class ArrivalHistory:
    """
    A ring of arrivals, (S, periods), NaN unknown.

    It holds the newest `PERIODS_KEPT` periods that anything was told of; a report older than that changes nothing.
    Periods are numbered from 1970-01-01T00:00Z.
    """

    def __init__(self, city: City, start_at: datetime) -> None:
        self._city = city
        self._zone = ZoneInfo(city.timezone)
        self._people = np.full((city.num_sites, PERIODS_KEPT), np.nan, dtype=np.float32)
        self._newest = int(epoch_minutes_from_datetime(start_at) // PERIOD_MINUTES)

    def record(self, reports: Sequence[ReceivedReport]) -> None:
        """Take the arrivals of reports in any order: one valid at m tells the period that ends at m."""
        told = [
            (self._city.site_to_idx[one.report.site_id], one.report)
            for one in reports
            if one.report.arrivals_people is not None and one.report.site_id in self._city.site_to_idx
        ]
        if not told:
            return
        valid = epoch_minutes_of([report.valid_at for _, report in told])
        # Of two reports of one period the one valid later counts, so that their order does not.
        order = np.argsort(valid, kind="stable")
        periods = np.rint(valid / PERIOD_MINUTES).astype(np.int64)[order] - 1
        sites = np.array([site_idx for site_idx, _ in told], dtype=np.int64)[order]
        people = np.array([report.arrivals_people for _, report in told], dtype=np.float32)[order]
        self._advance_to(int(periods.max()))
        is_kept = periods > self._newest - PERIODS_KEPT
        self._people[sites[is_kept], periods[is_kept] % PERIODS_KEPT] = people[is_kept]

    def load(self, people: FloatArray, start: datetime) -> None:
        """
        Take past arrivals.

        Parameters
        ----------
        people
            Arrivals by site and period, (S, periods); NaN leaves what is there.
        start
            Beginning of the first period, aware.

        Raises
        ------
        ValueError
            The array is not one of this city's sites.
        """
        if people.ndim != 2 or len(people) != self._city.num_sites:
            raise ValueError(f"people: must be ({self._city.num_sites}, periods), got {people.shape}")
        if not people.shape[1]:
            return
        first = round(epoch_minutes_from_datetime(start) / PERIOD_MINUTES)
        periods = first + np.arange(people.shape[1])
        self._advance_to(int(periods[-1]))
        is_kept = periods > self._newest - PERIODS_KEPT
        columns = periods[is_kept] % PERIODS_KEPT
        told = people[:, is_kept].astype(np.float32)
        self._people[:, columns] = np.where(np.isnan(told), self._people[:, columns], told)

    def coming_periods(self, as_of: datetime) -> FloatArray:
        """
        Arrivals in the coming 24 periods of each of the past four weeks, (S, W, T), the last week first; NaN unknown.

        The first period is the one that holds `as_of`. Weeks are weeks of the local clock, so that a site opening at
        eight is compared with itself opening at eight across a change to summer time.
        """
        periods = self._same_periods(as_of)
        is_held = (periods <= self._newest) & (periods > self._newest - PERIODS_KEPT)
        people = self._people[:, (periods % PERIODS_KEPT).ravel()].reshape(-1, PAST_WEEKS, HORIZON_PERIODS)
        return np.where(is_held, people, np.nan).astype(np.float64)

    def _same_periods(self, as_of: datetime) -> IntArray:
        wall = as_of.astimezone(self._zone).replace(tzinfo=None)
        starts = [(wall - timedelta(weeks=week)).replace(tzinfo=self._zone) for week in range(1, PAST_WEEKS + 1)]
        first = [int(epoch_minutes_from_datetime(start) // PERIOD_MINUTES) for start in starts]
        periods: IntArray = np.array(first, dtype=np.int64)[:, None] + np.arange(HORIZON_PERIODS)
        return periods

    def _advance_to(self, period: int) -> None:
        """Make room for newer periods by forgetting the oldest."""
        new = period - self._newest
        if new <= 0:
            return
        forgotten = np.arange(max(self._newest, period - PERIODS_KEPT) + 1, period + 1) % PERIODS_KEPT
        self._people[:, forgotten] = np.nan
        self._newest = period
