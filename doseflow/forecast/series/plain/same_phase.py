"""Values of the same time of the day or week before, and the spread of what a forecast from them gets wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.units import MINUTES_PER_DAY as MINUTES_OF_DAY

RESIDUALS_KEPT = 20_000
"""Latest residuals of a series that quantiles are read from."""
QUIET_SHARE = 0.25


def lags_of(step_minutes: int) -> tuple[int, ...]:
    """Steps of a day and of a week; of a week alone where a step is a day or longer."""
    week = max(7 * MINUTES_OF_DAY // step_minutes, 1)
    return (week,) if step_minutes >= MINUTES_OF_DAY else (MINUTES_OF_DAY // step_minutes, week)


def same_phase_ahead(values: FloatArray, horizon: int, lag: int, count: int) -> FloatArray:
    """
    The latest values of the same phase for each step ahead, (K, S, N), the latest first; NaN where there is none.
    """
    num_steps = values.shape[1]
    ahead = np.arange(horizon)
    latest = num_steps + ahead - lag * (ahead // lag + 1)
    past = latest[None, :] - lag * np.arange(count)[:, None]
    found = np.moveaxis(values[:, np.maximum(past, 0)], 1, 0)
    return np.where(past[:, None, :] >= 0, found, np.nan)


def same_phase_before(values: FloatArray, lag: int, count: int) -> FloatArray:
    """The values 1..K lags before every step, (K, S, P); NaN where there is none."""
    found = np.full((count, *values.shape), np.nan)
    for k in range(1, count + 1):
        if k * lag < values.shape[1]:
            found[k - 1, :, k * lag :] = values[:, : -k * lag]
    return found


def mean_known(values: FloatArray) -> FloatArray:
    """Mean along the first axis of what is known; NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def spread_quantiles(past: FloatArray, past_forecast: FloatArray, ahead: FloatArray) -> FloatArray:
    """
    Quantiles around point forecasts ahead (S, N), from the errors of the same kind of forecast in the past, (S, N, Q).

    Errors are taken in units of a standard deviation that grows with the forecast (`deviation_of`), so that a busy
    hour is given more room than a quiet one; their quantiles are empirical, a series at a time.
    """
    deviation = deviation_of(past, past_forecast)
    scores = ((past - past_forecast) / deviation(past_forecast))[:, -RESIDUALS_KEPT:]
    quantiles = np.zeros((len(past), len(QUANTILE_LEVELS)))
    for row, of_series in enumerate(scores):
        known = of_series[np.isfinite(of_series)]
        if known.size:
            quantiles[row] = np.quantile(known, QUANTILE_LEVELS)
    around = ahead[:, :, None] + deviation(ahead)[:, :, None] * quantiles[:, None, :]
    return np.maximum(around, 0.0)


def deviation_of(past: FloatArray, past_forecast: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """
    Standard deviation about a forecast m, a series at a time: sqrt(quiet + m + excess * m^2).

    `m + excess * m^2` is the variance of a negative binomial, its excess by moments; `quiet` is the mean squared error
    of forecasts under a quarter of the usual, where a closed day that opens is far from both.
    """
    known = np.isfinite(past) & np.isfinite(past_forecast)
    mean = np.where(known, past_forecast, 0.0)
    squared_error = np.where(known, (past - past_forecast) ** 2, 0.0)
    usual = mean.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    is_quiet = known & (mean < QUIET_SHARE * usual[:, None])
    quiet = (squared_error * is_quiet).sum(axis=1) / np.maximum(is_quiet.sum(axis=1), 1) + 0.25
    surplus = ((squared_error - mean) * ~is_quiet).sum(axis=1)
    excess = np.maximum(surplus / np.maximum((mean**2 * ~is_quiet).sum(axis=1), 1e-9), 0.0)
    return lambda m: np.sqrt(quiet[:, None] + np.maximum(m, 0.0) + excess[:, None] * m**2)
