"""
The Poisson noise floor: the loss that is left to a forecaster who knows the true rate of every step.

A count with rate r that nobody can know better than r is Poisson, and the best quantile forecast is its quantile k at
each level q. What that still costs on average has a closed form, with F the cumulative distribution:

    E[pinball] = q (r - k) + E[(k - Y)+],      E[(k - Y)+] = k F(k) - r F(k - 1)

The true rates are unknown, so they are read off the counts themselves, with hindsight: a weighted mean of each count
and its neighbours on both sides. The floor grows about with the square root of the rate, so that an error of ten per
cent in the rate moves it by five. It is a floor for counts that are Poisson given their rate; counts that clump
(people who come in groups, a bus) have more noise than that, and a stock that changes slowly (people waiting) has
less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import poisson

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS

KERNEL: tuple[float, ...] = (1.0, 2.0, 3.0, 2.0, 1.0)
"""
Weights of a count's neighbours, itself in the middle. The mean of them keeps 19/81 of a single count's variance, which
lowers the floor: by one per cent where three come in a step, by five where one comes; wider ones blur peaks.
"""


def expected_pinball(rate: FloatArray, levels: Sequence[float] = QUANTILE_LEVELS) -> FloatArray:
    """Expected pinball loss of the Poisson quantiles of known rates (...), (..., Q); NaN where the rate is."""
    known_rate = np.nan_to_num(rate)[..., None]
    level = np.asarray(levels)
    quantile = poisson.ppf(level, known_rate)
    shortfall = quantile * poisson.cdf(quantile, known_rate) - known_rate * poisson.cdf(quantile - 1, known_rate)
    expected = level * (known_rate - quantile) + shortfall
    # scipy gives a Poisson of rate 0 the quantile -1 or 0; it costs nothing either way.
    expected = np.where(known_rate > 0, expected, 0.0)
    return np.where(np.isnan(rate)[..., None], np.nan, expected)


def smoothed_rate(values: FloatArray, lag_steps: int, kernel: Sequence[float] = KERNEL) -> FloatArray:
    """
    Rate of every count (S, P) from its neighbours on both sides, (S, P); NaN where the count itself is unknown.

    Parameters
    ----------
    lag_steps
        Steps between neighbours: 1 where the rate changes slowly from step to step, a season where neighbouring steps
        are unlike (days of a week).
    """
    half = len(kernel) // 2
    known = np.isfinite(values)
    total, weight = np.zeros(values.shape), np.zeros(values.shape)
    padding = ((0, 0), (half * lag_steps, half * lag_steps))
    padded = np.pad(np.where(known, values, 0.0), padding)
    padded_known = np.pad(known, padding)
    for position, kernel_weight in enumerate(kernel):
        there = slice(position * lag_steps, position * lag_steps + values.shape[1])
        total += kernel_weight * padded[:, there]
        weight += kernel_weight * padded_known[:, there]
    return np.where(known, total / np.maximum(weight, 1e-12), np.nan)


def floor_weighted_quantile_loss(
    actual: FloatArray, rate: FloatArray, levels: Sequence[float] = QUANTILE_LEVELS
) -> float:
    """Expected weighted quantile loss of who knows the rates, over the counts that are known, both of shape (...)."""
    known = np.isfinite(actual) & np.isfinite(rate)
    total = float(actual[known].sum())
    if total == 0:
        return float("nan")
    return float(2 * expected_pinball(rate[known], levels).mean(axis=-1).sum() / total)
