"""
How good a forecast by quantiles is. Shapes are any, `...`, with the quantile axis Q last; an actual value that is NaN
is not scored.

References
----------
T. Gneiting and A. E. Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 102(477), 2007,
doi:10.1198/016214506000001437 (pinball loss, CRPS).
R. J. Hyndman and A. B. Koehler, Another look at measures of forecast accuracy, International Journal of Forecasting
22(4), 2006, doi:10.1016/j.ijforecast.2006.03.001 (scaled errors).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS


def pinball_loss(actual: FloatArray, quantiles: FloatArray, levels: Sequence[float] = QUANTILE_LEVELS) -> FloatArray:
    """Pinball loss of each quantile, (..., Q), in the unit of the values; NaN where the actual value is unknown."""
    below = actual[..., None] - quantiles
    level = np.asarray(levels)
    loss: FloatArray = np.maximum(level * below, (level - 1) * below)
    return loss


def weighted_quantile_loss(
    actual: FloatArray, quantiles: FloatArray, levels: Sequence[float] = QUANTILE_LEVELS
) -> float:
    """
    Twice the pinball loss, averaged over levels, over the sum of all actual magnitudes.

    With the median alone it is the WAPE. NaN where nothing is known or every actual value is 0.
    """
    known = np.isfinite(actual)
    total = float(np.abs(actual[known]).sum())
    if total == 0:
        return float("nan")
    return float(2 * pinball_loss(actual[known], quantiles[known], levels).mean(axis=-1).sum() / total)


def quadrature_weights(levels: Sequence[float]) -> FloatArray:
    """
    Share of the unit interval that each level stands for, (Q,), summing to 1: halfway to its neighbours, and to the
    ends.
    """
    level = np.asarray(levels, dtype=np.float64)
    edges = np.concatenate([[0.0], (level[1:] + level[:-1]) / 2, [1.0]])
    return np.diff(edges)


def crps_of_quantiles(
    actual: FloatArray, quantiles: FloatArray, levels: Sequence[float] = QUANTILE_LEVELS
) -> FloatArray:
    """
    Continuous ranked probability score, (...), in the unit of the values.

    Twice the integral of the pinball loss over the level, by the midpoint rule. Five levels see little of the tails,
    so it comes out a few per cent low, for every forecaster alike.
    """
    score: FloatArray = 2 * pinball_loss(actual, quantiles, levels) @ quadrature_weights(levels)
    return score


def crps_of_samples(actual: FloatArray, samples: FloatArray) -> FloatArray:
    """
    Continuous ranked probability score of the empirical distribution of samples, exactly.

    Parameters
    ----------
    samples
        (..., K), each as likely as the others.
    """
    ordered = np.sort(samples, axis=-1)
    count = ordered.shape[-1]
    # E|X - X'| of K equally likely points, from their order.
    rank_weights = (2 * np.arange(1, count + 1) - count - 1) * 2 / count**2
    distance = np.abs(ordered - actual[..., None]).mean(axis=-1)
    score: FloatArray = distance - 0.5 * (ordered @ rank_weights)
    return score


def coverage_share(actual: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Share of known values within [low, high], ends included, 0..1; NaN where none is known."""
    known = np.isfinite(actual)
    if not known.any():
        return float("nan")
    return float(((actual >= low) & (actual <= high))[known].mean())


def weighted_absolute_error(actual: FloatArray, forecast: FloatArray) -> float:
    """Sum of absolute errors over the sum of actual magnitudes (WAPE); NaN where nothing known is above 0."""
    known = np.isfinite(actual)
    total = float(np.abs(actual[known]).sum())
    return float(np.abs(actual - forecast)[known].sum() / total) if total > 0 else float("nan")


def seasonal_scale(values: FloatArray, season_steps: int) -> FloatArray:
    """
    Mean absolute error of the seasonal naive forecast within past values (S, P), (S,): the scale of MASE.

    NaN where a series has no two values one season apart, or they never differ.
    """
    differences = np.abs(values[:, season_steps:] - values[:, :-season_steps])
    known = np.isfinite(differences)
    count = known.sum(axis=1)
    total = np.where(known, differences, 0.0).sum(axis=1)
    return np.where((count > 0) & (total > 0), total / np.maximum(count, 1), np.nan)


def scaled_errors(actual: FloatArray, forecast: FloatArray, scale: FloatArray) -> FloatArray:
    """
    Absolute errors over the `seasonal_scale` of their series, whose mean over what is known is the MASE.

    Parameters
    ----------
    actual, forecast
        (..., S, N) with the series on the axis before the last.
    scale
        (S,); NaN leaves a series out.
    """
    errors: FloatArray = np.abs(actual - forecast) / scale[:, None]
    return errors
