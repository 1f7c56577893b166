"""Every score of a back test at one horizon, as sums by origin."""

from __future__ import annotations

import numpy as np

from doseflow.bench.forecast.origin_bootstrap import OriginSums
from doseflow.bench.forecast.rolling import BackTest
from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS
from doseflow.forecast.poisson_floor import expected_pinball
from doseflow.forecast.scores import crps_of_quantiles, pinball_loss, scaled_errors

_LEVEL_80 = (QUANTILE_LEVELS.index(0.1), QUANTILE_LEVELS.index(0.9))
_LEVEL_50 = (QUANTILE_LEVELS.index(0.25), QUANTILE_LEVELS.index(0.75))


def origin_scores(test: BackTest, horizon: int, scale: FloatArray) -> dict[str, OriginSums]:
    """
    Scores by name over the first steps ahead.

    Parameters
    ----------
    scale
        Of MASE, by series, (S,).
    """
    actual, quantiles = test.actual[:, :, :horizon], test.quantiles[:, :, :horizon]
    known = np.isfinite(actual)
    median = quantiles[..., MEDIAN_IDX]
    magnitude = _by_origin(np.abs(actual))
    count = _by_origin(known.astype(float))
    scaled = scaled_errors(actual, median, scale)
    by_level = {
        f"quantile_loss_{level:g}": OriginSums(2 * _by_origin(loss), magnitude)
        for level, loss in zip(QUANTILE_LEVELS, np.moveaxis(pinball_loss(actual, quantiles), -1, 0), strict=True)
    }
    return {
        "weighted_quantile_loss": OriginSums(2 * _by_origin(pinball_loss(actual, quantiles).mean(axis=-1)), magnitude),
        "crps": OriginSums(_by_origin(crps_of_quantiles(actual, quantiles)), count),
        "mase": OriginSums(_by_origin(scaled), _by_origin(np.isfinite(scaled).astype(float))),
        "wape_share": OriginSums(_by_origin(np.abs(actual - median)), magnitude),
        "coverage80_share": OriginSums(_by_origin(_within(actual, quantiles, _LEVEL_80)), count),
        "coverage50_share": OriginSums(_by_origin(_within(actual, quantiles, _LEVEL_50)), count),
        **by_level,
    }


def floor_sums(rate: FloatArray, actual: FloatArray) -> OriginSums:
    """The Poisson noise floor of the weighted quantile loss, of rates and counts (O, S, N)."""
    counted = np.isfinite(actual) & np.isfinite(rate)
    expected = np.where(counted, 2 * expected_pinball(rate).mean(axis=-1), 0.0)
    return OriginSums(_by_origin(expected), _by_origin(np.where(counted, np.abs(actual), 0.0)))


def span_sums(test: BackTest, span_steps: int) -> OriginSums:
    """
    WAPE of the medians added up over spans of so many steps, one after the other from each origin.

    A span with an unknown step is not scored. Sums of quantiles are no quantiles of sums, so that only the middle is
    scored; a sum of medians lies a little under the median of the sum where counts are small.
    """
    num_origins, num_series, num_steps = test.actual.shape
    spans = num_steps // span_steps
    shape = (num_origins, num_series, spans, span_steps)
    actual = test.actual[:, :, : spans * span_steps].reshape(shape).sum(axis=-1)
    median = test.quantiles[:, :, : spans * span_steps, MEDIAN_IDX].reshape(shape).sum(axis=-1)
    return OriginSums(_by_origin(np.abs(actual - median)), _by_origin(np.abs(actual)))


def loss_by_series(test: BackTest, horizon: int) -> FloatArray:
    """Weighted quantile loss of each series, (S,); NaN where nothing above 0 came."""
    actual, quantiles = test.actual[:, :, :horizon], test.quantiles[:, :, :horizon]
    loss = np.nansum(2 * pinball_loss(actual, quantiles).mean(axis=-1), axis=(0, 2))
    total = np.nansum(np.abs(actual), axis=(0, 2))
    return np.where(total > 0, loss / np.maximum(total, 1e-12), np.nan)


def _within(actual: FloatArray, quantiles: FloatArray, between: tuple[int, int]) -> FloatArray:
    low, high = (quantiles[..., position] for position in between)
    return ((actual >= low) & (actual <= high)).astype(float)


def _by_origin(values: FloatArray) -> FloatArray:
    """Sum of what is known, (O,)."""
    return np.asarray(np.nansum(values, axis=(1, 2)))
