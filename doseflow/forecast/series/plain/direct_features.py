"""
What a direct forecaster looks at for one series, one origin and one step ahead: the latest values, means of the latest
values, the same phase of days and weeks before, how far the latest values are from their usual, the calendar.

Values are in units of the series' recent mean, so that one model serves sites of any size. Axes: E examples, F
features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray

RECENT_VALUES = 8
SAME_DAYS, SAME_WEEKS = 4, 4
SMALLEST_SCALE = 0.5


@dataclass(frozen=True)
class Whole:
    """
    A whole history on open steps.

    Parameters
    ----------
    values
        (S, C) without gaps, so far as the history goes.
    phase_of_week
        Step of the week of every open step, and of as many ahead as are asked for, (C + n,).
    season_steps, week_steps
        Open steps of a day and a week; the same where a step is a day.
    """

    values: FloatArray
    phase_of_week: IntArray
    season_steps: int
    week_steps: int

    @property
    def scale(self) -> FloatArray:
        """Mean of the last two weeks before every step, (S, C + 1), at least `SMALLEST_SCALE`."""
        return np.maximum(self.mean_of_last(2 * self.week_steps), SMALLEST_SCALE)

    def mean_of_last(self, steps: int) -> FloatArray:
        """Mean of so many values before every step and before the one after the last, (S, C + 1)."""
        total = np.concatenate([np.zeros((len(self.values), 1)), np.cumsum(self.values, axis=1)], axis=1)
        ends = np.arange(total.shape[1])
        starts = np.maximum(ends - steps, 0)
        mean: FloatArray = (total[:, ends] - total[:, starts]) / np.maximum(ends - starts, 1)
        return mean


def direct_features(
    whole: Whole, rows: IntArray, origins: IntArray, steps_ahead: IntArray, scale: FloatArray
) -> FloatArray:
    """
    Features of examples, (E, F).

    Parameters
    ----------
    rows, origins, steps_ahead
        Series, open step of the first value that is not known, and steps from it to the target (0 for that value), all
        (E,). Nothing at or after an origin is read.
    scale
        Of each example, (E,).
    """
    season, week = whole.season_steps, whole.week_steps
    target = origins + steps_ahead

    def at(steps: IntArray) -> FloatArray:
        return np.where(steps >= 0, whole.values[rows, np.maximum(steps, 0)], np.nan) / scale

    recent = [at(origins - 1 - back) for back in range(RECENT_VALUES)]
    days = [at(target - season * (steps_ahead // season + 1 + k)) for k in range(SAME_DAYS)]
    weeks = [at(target - week * (steps_ahead // week + 1 + k)) for k in range(SAME_WEEKS)]
    usual = np.stack([at(origins - 1 - back - season) for back in range(RECENT_VALUES)])
    calendar = whole.phase_of_week[target]
    per_day = whole.phase_of_week.max() // 7 + 1
    return np.column_stack(
        [
            *recent,
            *days,
            *weeks,
            np.nanmean(np.stack([*days, np.full(len(rows), 0.0)]), axis=0),
            np.nanmean(np.stack([*weeks, np.full(len(rows), 0.0)]), axis=0),
            np.stack(recent).mean(axis=0) - usual.mean(axis=0),
            whole.mean_of_last(RECENT_VALUES)[rows, origins] / scale,
            whole.mean_of_last(season)[rows, origins] / scale,
            whole.mean_of_last(week)[rows, origins] / scale,
            steps_ahead,
            calendar % per_day,
            calendar // per_day,
            np.log(scale),
        ]
    )
