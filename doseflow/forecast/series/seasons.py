"""The seasons of a table: a cycle (a day, mostly) and a round of cycles (a week), from the step and the values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from doseflow.domain.city import FloatArray, IntArray

DAY_MINUTES = 1440
DAYS_A_WEEK = 7
FIRST_WEEKEND_DAY = 5
CLEAR_PEAK = 0.3
"""Autocorrelation from which a cycle other than the day is believed."""
MOST_LAG_STEPS = 3000


@dataclass(frozen=True, slots=True)
class Seasons:
    """
    How time repeats itself.

    Parameters
    ----------
    cycle_steps
        Steps in a cycle; 1 where there is none.
    cycles_a_round
        Cycles until the kind of cycle repeats: 7 days a week; 1 where there is no round.
    offset_steps
        Steps from the start of a round to the first column.
    kinds
        Group of alike cycles for each place in the round, for example working day and weekend.
    """

    cycle_steps: int
    cycles_a_round: int
    offset_steps: int
    kinds: tuple[int, ...]

    @property
    def round_steps(self) -> int:
        """Steps in a round."""
        return self.cycle_steps * self.cycles_a_round


def find_seasons(values: FloatArray, starts_at: datetime, step_minutes: int) -> Seasons:
    """Seasons of the values, (S, P)."""
    correlation = autocorrelation(values, MOST_LAG_STEPS)
    if step_minutes >= DAY_MINUTES:
        return _seasons_of_days(correlation, starts_at, step_minutes)
    day = max(2, round(DAY_MINUTES / step_minutes))
    other = _first_clear_peak(correlation)
    of_day = correlation[day] if day < len(correlation) else 0.0
    if other is not None and abs(other - day) > 1 and of_day < 0.5 * correlation[other]:
        return _free_cycle(correlation, other)
    minute_of_week = starts_at.weekday() * DAY_MINUTES + starts_at.hour * 60 + starts_at.minute
    weekend = tuple(int(idx >= FIRST_WEEKEND_DAY) for idx in range(DAYS_A_WEEK))
    return Seasons(day, DAYS_A_WEEK, minute_of_week // step_minutes, weekend)


def _seasons_of_days(correlation: FloatArray, starts_at: datetime, step_minutes: int) -> Seasons:
    if step_minutes == DAY_MINUTES:
        weekend = tuple(int(idx >= FIRST_WEEKEND_DAY) for idx in range(DAYS_A_WEEK))
        return Seasons(1, DAYS_A_WEEK, starts_at.weekday(), weekend)
    other = _first_clear_peak(correlation)
    length = other or 1
    return Seasons(1, length, 0, (0,) * length)


def _free_cycle(correlation: FloatArray, cycle: int) -> Seasons:
    """A cycle that is no day, with a round of 5 or 7 of it where those correlate more than the ones between."""
    best, best_gain = 1, 0.005
    for count in (5, 7):
        if cycle * count >= len(correlation):
            continue
        between = np.mean([correlation[cycle * idx] for idx in range(1, count)])
        gain = correlation[cycle * count] - between
        if gain > best_gain:
            best, best_gain = count, gain
    return Seasons(cycle, best, 0, (0,) * best)


def _first_clear_peak(correlation: FloatArray) -> int | None:
    """The shortest lag of 2 or more that is a peak and nearly as high as the highest."""
    inner = correlation[1:-1]
    if len(inner) < 2:
        return None
    lags = 1 + np.flatnonzero((inner > correlation[:-2]) & (inner >= correlation[2:]) & (inner > CLEAR_PEAK))
    lags = lags[lags >= 2]
    if not len(lags):
        return None
    first = int(lags[correlation[lags] >= 0.85 * correlation[lags].max()][0])
    # The peaks of its multiples are sharper than the first one is.
    times = max(1, (len(correlation) - 1) // (first + 2))
    near = [each for each in range(max(2, first - 2), first + 3) if each * times < len(correlation)]
    return max(near, key=lambda lag: sum(correlation[lag * idx] for idx in range(1, times + 1)))


def autocorrelation(values: FloatArray, most_lag: int) -> FloatArray:
    """Autocorrelation by lag, from 0 to a third of the steps, of all series together, each on its own scale."""
    values = values[:, -20 * most_lag :]
    num_lags = max(1, min(most_lag, values.shape[1] // 3)) + 1
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    filled = np.where(known, values, 0.0)
    centred = np.where(known, filled - filled.sum(axis=1, keepdims=True) / count, 0.0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
    centred = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    size = 1 << int(2 * values.shape[1] - 1).bit_length()
    products = np.zeros(num_lags)
    before = np.zeros(num_lags)
    after = np.zeros(num_lags)
    for row, is_known in zip(centred, known.astype(float), strict=True):
        transforms = [np.fft.rfft(each, size) for each in (row, row**2, is_known)]
        value, square, one = transforms
        products += np.fft.irfft(value.conj() * value, size)[:num_lags]
        before += np.fft.irfft(square.conj() * one, size)[:num_lags]
        after += np.fft.irfft(one.conj() * square, size)[:num_lags]
    norm = np.sqrt(np.maximum(before, 0) * np.maximum(after, 0))
    result: FloatArray = np.divide(products, norm, out=np.zeros(num_lags), where=norm > 1e-9)
    return result


def places_in_round(seasons: Seasons, num_cycles: int) -> IntArray:
    """Place in the round of each cycle from the one that holds the first column."""
    first = seasons.offset_steps // seasons.cycle_steps
    places: IntArray = (first + np.arange(num_cycles)) % seasons.cycles_a_round
    return places
