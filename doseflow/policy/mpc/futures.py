"""Futures to plan against: the forecast's own sampled paths, or paths drawn from its quantiles."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.policy.mpc.params import ScenarioParams
from doseflow.policy.situation import Situation
from doseflow.units import epoch_minutes_from_datetime

_TAIL_STRETCH = 1.25
"""The outermost quantiles are 0.1 and 0.9; what lies beyond is taken a quarter further than the next quantile lies."""


def sampled_futures(situation: Situation, params: ScenarioParams) -> FloatArray:
    """Arrivals by future, site and period, (K, S, T); the same state gives the same futures."""
    paths = situation.forecast.paths_people
    if paths is not None:
        return paths[: params.num_futures]
    moment = int(epoch_minutes_from_datetime(situation.state.as_of))
    rng = np.random.default_rng([params.seed, moment])
    return paths_from_quantiles(situation.forecast.arrivals_people, params.num_futures, params.correlation_share, rng)


def paths_from_quantiles(
    quantiles: FloatArray, num_futures: int, correlation_share: float, rng: np.random.Generator
) -> FloatArray:
    """
    Paths whose every period has the forecast's distribution, (K, S, T), out of (S, T, Q).

    Surprises follow each other with a correlation that falls with the time between them (a Gaussian copula of an
    autoregressive process of first order). The futures' mean is moved to the forecast's, as few futures miss it.
    """
    num_sites, num_periods, _ = quantiles.shape
    surprise = rng.standard_normal((num_futures, num_sites, num_periods))
    fresh = np.sqrt(1 - correlation_share**2)
    for period in range(1, num_periods):
        surprise[..., period] = correlation_share * surprise[..., period - 1] + fresh * surprise[..., period]
    paths = _at_level(quantiles, ndtr(surprise))
    mean = 0.3 * quantiles[..., 0] + 0.4 * quantiles[..., 2] + 0.3 * quantiles[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(paths.mean(axis=0) > 0, mean / paths.mean(axis=0), 1.0)
    moved: FloatArray = paths * factor
    return moved


def _at_level(quantiles: FloatArray, level: FloatArray) -> FloatArray:
    """The quantile function at levels (K, S, T), straight between the forecast's own quantiles."""
    low = np.maximum(quantiles[..., :1] - _TAIL_STRETCH * (quantiles[..., 1:2] - quantiles[..., :1]), 0.0)
    high = quantiles[..., -1:] + _TAIL_STRETCH * (quantiles[..., -1:] - quantiles[..., -2:-1])
    values = np.concatenate([low, quantiles, high], axis=-1)
    levels = np.array([0.0, *QUANTILE_LEVELS, 1.0])
    after = np.clip(np.searchsorted(levels, level, side="right"), 1, len(levels) - 1)
    share = (level - levels[after - 1]) / (levels[after] - levels[after - 1])
    below = np.take_along_axis(values[None], after[..., None] - 1, axis=-1)[..., 0]
    above = np.take_along_axis(values[None], after[..., None], axis=-1)[..., 0]
    people: FloatArray = below + share * (above - below)
    return people
