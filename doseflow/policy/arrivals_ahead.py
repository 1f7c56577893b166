"""One number of people for each period out of the forecast's quantiles."""

from __future__ import annotations

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS, ArrivalForecast

_LOW_IDX, _HIGH_IDX = QUANTILE_LEVELS.index(0.1), QUANTILE_LEVELS.index(0.9)


def arrivals_ahead(forecast: ArrivalForecast, planning_level: float) -> FloatArray:
    """
    People to plan for in each coming period, (S, T).

    At level 0.5 the mean, not the median: medians of skewed counts do not add up to the median of their sum. The mean
    is 0.3 q10 + 0.4 q50 + 0.3 q90 (the extended Swanson-Megill rule). At another level that quantile, which is on the
    safe side, since it takes all periods to go wrong together.

    References
    ----------
    D. L. Keefer and S. E. Bodily, Three-point approximations for continuous random variables, Management Science
    29(5), 1983, doi:10.1287/mnsc.29.5.595.
    """
    quantiles = forecast.arrivals_people
    level_idx = QUANTILE_LEVELS.index(planning_level)
    if level_idx != MEDIAN_IDX:
        return quantiles[..., level_idx]
    return 0.3 * quantiles[..., _LOW_IDX] + 0.4 * quantiles[..., MEDIAN_IDX] + 0.3 * quantiles[..., _HIGH_IDX]
