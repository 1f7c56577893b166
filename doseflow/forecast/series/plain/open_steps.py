"""
The steps of the week that are ever open, one after the other: without nights and weekends that no series knows.

Peers that want one value after another without holes (smoothing, lags, networks) work on these; gaps within opening
hours are filled, for them alone, by the value of the same time of the day before. Axis C: open steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.series_table import SeriesTable
from doseflow.units import MINUTES_PER_DAY as MINUTES_OF_DAY

WEEK_MINUTES = 7 * MINUTES_OF_DAY
A_MONDAY = datetime(2001, 1, 1, tzinfo=UTC)


def steps_of_week(table: SeriesTable, steps: IntArray) -> IntArray:
    """Position of steps within the week, from Monday 00:00."""
    start = table.starts_at if table.starts_at.tzinfo is not None else table.starts_at.replace(tzinfo=UTC)
    first = round((start - A_MONDAY).total_seconds() / 60 / table.step_minutes)
    return np.asarray((first + steps) % (WEEK_MINUTES // table.step_minutes))


@dataclass(frozen=True)
class OpenWeek:
    """
    Which steps of the week are open.

    Parameters
    ----------
    is_open
        By step of the week.
    """

    step_minutes: int
    is_open: NDArray[np.bool_]

    @property
    def week_steps(self) -> int:
        """Open steps of a week."""
        return int(self.is_open.sum())

    @property
    def season_steps(self) -> int:
        """Open steps of the shortest season: an open day, or the week where a step is a day or more."""
        if self.step_minutes >= MINUTES_OF_DAY:
            return self.week_steps
        by_day = self.is_open.reshape(7, -1).sum(axis=1)
        return int(by_day.max())

    def open_before(self, table: SeriesTable) -> IntArray:
        """Steps of the table that are open, (C,)."""
        return np.flatnonzero(self.is_open[steps_of_week(table, np.arange(table.values.shape[1]))])

    def ahead(self, table: SeriesTable, horizon: int) -> tuple[IntArray, IntArray]:
        """
        Which of the next steps are open, (n,), counted from the end of the table, and their steps of the week.
        """
        end = table.values.shape[1]
        of_week = steps_of_week(table, end + np.arange(horizon))
        ahead = np.flatnonzero(self.is_open[of_week])
        return ahead, of_week[ahead]


def open_week(table: SeriesTable) -> OpenWeek:
    """The week as the table knows it; at least one step of it must be known."""
    known = np.isfinite(table.values).any(axis=0)
    is_open = np.zeros(WEEK_MINUTES // table.step_minutes, dtype=bool)
    is_open[steps_of_week(table, np.flatnonzero(known))] = True
    return OpenWeek(table.step_minutes, is_open)


def filled(values: FloatArray, season_steps: int) -> FloatArray:
    """
    Values (S, C) with gaps filled by the value one season before; a series is 0 before its first value.
    """
    whole = values.copy()
    for start in range(season_steps, whole.shape[1], season_steps):
        season = whole[:, start : start + season_steps]
        before = whole[:, start - season_steps : start][:, : season.shape[1]]
        np.copyto(season, before, where=np.isnan(season))
    return np.nan_to_num(whole)
