"""Doses still to be given today."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.forecast.count_quantiles import count_quantiles
from doseflow.units import PERIOD_MINUTES

_HORIZON_MINUTES = HORIZON_PERIODS * PERIOD_MINUTES


def doses_rest_of_day(
    state: CityState,
    mean_people: FloatArray,
    is_open_period: BoolArray,
    closes_in_minutes: FloatArray,
    rate_uncertainty_share: float,
) -> FloatArray:
    """
    Quantiles of doses still to be given today, (S, Q); NaN where the arrivals are unknown.

    One dose for each person expected in the next two hours, for each at the same mean rate from then until closing, and
    for each known to be waiting before vaccination (an unknown queue adds nobody). The rate of the hours beyond the
    horizon is uncertain by `rate_uncertainty_share` of itself.

    `mean_people` is (S, T); `closes_in_minutes` (S,), infinite where the site does not open again today.
    """
    num_open = is_open_period.sum(axis=1)
    in_horizon = np.where(is_open_period, mean_people, 0.0).sum(axis=1)
    opens_later = (num_open == 0) & np.isfinite(closes_in_minutes)
    rate_per_minute = in_horizon / (np.maximum(num_open, 1) * PERIOD_MINUTES)
    beyond_minutes = np.where(np.isfinite(closes_in_minutes), closes_in_minutes - _HORIZON_MINUTES, 0.0)
    beyond = rate_per_minute * np.maximum(beyond_minutes, 0.0)
    waiting = np.nansum(state.waiting_people[:, :OBSERVATION_IDX], axis=1)
    total = in_horizon + beyond + waiting
    variance = total + (rate_uncertainty_share * beyond) ** 2
    dispersion = variance / np.maximum(total, 1e-9)
    quantiles = count_quantiles(total, np.maximum(dispersion, 1.0))
    # Nothing is known of a day that begins after the horizon.
    quantiles[opens_later] = np.nan
    return quantiles
