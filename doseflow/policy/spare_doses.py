"""What a site may give away of its doses."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS, ArrivalForecast
from doseflow.policy.situation import Situation
from doseflow.policy.stock import Stock

_KEPT_LEVEL_IDX = QUANTILE_LEVELS.index(0.9)


def spare_doses(situation: Situation, stock: Stock, forecast: ArrivalForecast) -> FloatArray:
    """
    Doses that a site may give, (S,): beyond those booked and the safety share, and beyond a busy rest of the day.

    Doses in a failing fridge are no stock to rely on; nothing is spare where bookings or the stock are unknown.
    """
    state, limits = situation.state, situation.state.limits
    relied_on = stock.usable & ~stock.failing
    held = np.bincount(
        state.lots.site_idx,
        (stock.free_doses + state.lots.open_vial_doses) * relied_on,
        state.city.num_sites,
    )
    booked = np.ceil(state.booked_people.sum(axis=1) * (1 + limits.safety_stock_share))
    kept = np.maximum(booked, forecast.doses_rest_of_day[:, _KEPT_LEVEL_IDX])
    standing = situation.standing
    may_give = standing.alterable & standing.stock_fresh & np.isfinite(kept)
    return np.where(may_give, np.maximum(held - np.nan_to_num(kept), 0.0), 0.0)
