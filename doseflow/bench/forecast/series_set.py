"""SeriesSet: one real set of series, and how it is split into past, development and held-out parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.series_table import SeriesTable

MINUTES_OF_DAY = 24 * 60


class Part(StrEnum):
    """Which origins are played."""

    DEVELOPMENT = "development"
    HELD_OUT = "held-out"


@dataclass(frozen=True)
class SeriesSet:
    """
    A set and its split.

    Parameters
    ----------
    horizons
        Steps ahead that are scored, ascending; every model forecasts the last of them once.
    season_steps
        Steps of the season of MASE and of the seasonal naive peer: a day for steps within a day, a week for days.
    sums_minutes
        Spans whose sums are scored too, for steps shorter than they are.
    development_from, held_out_from
        First step of each part; a model is fitted to what is before the part it is played on.
    origin_minutes_of_day
        Times of day to forecast from, None for any.
    counts
        False where values are a stock (people waiting) and not what came within the step.
    source
        Where the rows came from.
    """

    name: str
    table: SeriesTable
    horizons: tuple[int, ...]
    season_steps: int
    development_from: int
    held_out_from: int
    sums_minutes: tuple[int, ...] = ()
    origin_minutes_of_day: tuple[int, ...] | None = None
    counts: bool = True
    source: str = "packaged"

    @property
    def num_steps(self) -> int:
        """Steps of the table, P."""
        return int(self.table.values.shape[1])

    def bounds(self, part: Part) -> tuple[int, int]:
        """First step of a part, and the first after it."""
        if part is Part.DEVELOPMENT:
            return self.development_from, self.held_out_from
        return self.held_out_from, self.num_steps

    def origins(self, part: Part, at_most: int) -> IntArray:
        """
        Steps to forecast from, evenly spread over a part, so that every scored step lies within the part.

        An origin is the first step that is forecast; models see the steps before it. Only those are taken that have
        something to score.
        """
        first, end = self.bounds(part)
        steps = np.arange(first, end - self.horizons[-1] + 1)
        if self.origin_minutes_of_day is not None:
            steps = steps[np.isin(self._minute_of_day(steps), self.origin_minutes_of_day)]
        known = np.asarray(np.isfinite(self.table.values).any(axis=0))
        steps = steps[[bool(known[step : step + self.horizons[0]].any()) for step in steps]]
        chosen: IntArray = steps
        if len(steps) > at_most:
            chosen = steps[np.unique(np.linspace(0, len(steps) - 1, at_most).round().astype(int))]
        return chosen

    def actual(self, origins: IntArray) -> FloatArray:
        """What happened after each origin, (O, S, N), NaN where nobody knows."""
        ahead = origins[:, None] + np.arange(self.horizons[-1])
        return np.moveaxis(self.table.values[:, ahead], 0, 1)

    def _minute_of_day(self, steps: IntArray) -> IntArray:
        start = self.table.starts_at
        return (start.hour * 60 + start.minute + steps * self.table.step_minutes) % MINUTES_OF_DAY


def history_before(table: SeriesTable, origin: int) -> SeriesTable:
    """The table up to, and without, the step `origin`; a copy, so that what comes after cannot be reached from it."""
    return replace(
        table,
        values=table.values[:, :origin].copy(),
        covariates={name: values[:, :origin].copy() for name, values in table.covariates.items()},
    )


def with_reports_missing(table: SeriesTable, missing_share: float, seed: int) -> SeriesTable:
    """The table with a share of its values, drawn at random, unknown."""
    lost = np.random.default_rng(seed).random(table.values.shape) < missing_share
    return replace(table, values=np.where(lost, np.nan, table.values))


def latest(table: SeriesTable, steps: int) -> SeriesTable:
    """The last steps of a table."""
    skipped = max(table.values.shape[1] - steps, 0)
    return replace(
        table,
        starts_at=table.starts_at + timedelta(minutes=skipped * table.step_minutes),
        values=table.values[:, skipped:],
        covariates={name: values[:, skipped:] for name, values in table.covariates.items()},
    )
