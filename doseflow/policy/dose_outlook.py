"""How far the doses reach: what each site will use, and what will expire before it is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS, ArrivalForecast
from doseflow.policy.situation import Situation
from doseflow.policy.stock import Stock
from doseflow.units import MINUTES_PER_HOUR

_BUSY_IDX = QUANTILE_LEVELS.index(0.75)
_MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR
LONGEST_HOURS_LEFT = 99.0
"""Supply that lasts longer is not told apart."""


@dataclass(frozen=True, slots=True)
class DoseOutlook:
    """
    By site, (S,), NaN where the forecast is unknown; `at_risk_doses` by lot, (lots,), 0 where unknown.

    `needed_doses` is the median of doses for the rest of the day, `busy_needed_doses` the upper quartile,
    `hours_left` the time that the doses on hand and coming last at the rate of the rest of the day.
    """

    needed_doses: FloatArray
    busy_needed_doses: FloatArray
    supply_doses: FloatArray
    hours_left: FloatArray
    at_risk_doses: FloatArray
    open_minutes_left: FloatArray
    later_doses_per_minute: FloatArray

    def used_within(self, site_idx: IntArray, minutes: FloatArray) -> FloatArray:
        """Doses that sites will use within so many minutes, NaN where unknown; after today at a typical day's rate."""
        today, left = self.needed_doses[site_idx], self.open_minutes_left[site_idx]
        share_of_today = np.minimum(np.maximum(minutes / np.maximum(left, 1.0), 0.0), 1.0)
        later = np.maximum(minutes - left, 0.0) * self.later_doses_per_minute[site_idx]
        used: FloatArray = today * share_of_today + later
        return used


def dose_outlook(
    situation: Situation, stock: Stock, forecast: ArrivalForecast, *, typical_fill_share: float, horizon_hours: float
) -> DoseOutlook:
    """
    Look ahead.

    Parameters
    ----------
    typical_fill_share
        Doses of a typical day over the site's daily capacity, for the days after today.
    horizon_hours
        Lots that live longer are not looked at.
    """
    state = situation.state
    needed = forecast.doses_rest_of_day[:, MEDIAN_IDX]
    supply = stock.doses_on_hand + stock.doses_coming
    per_minute = needed / np.maximum(state.open_minutes_left, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        hours_left = np.where(per_minute > 0, supply / (per_minute * MINUTES_PER_HOUR), LONGEST_HOURS_LEFT)
    capacity = np.array([site.daily_capacity_people for site in state.city.sites], dtype=np.float64)
    outlook = DoseOutlook(
        needed_doses=needed,
        busy_needed_doses=forecast.doses_rest_of_day[:, _BUSY_IDX],
        supply_doses=supply,
        hours_left=np.where(np.isnan(needed), np.nan, np.minimum(hours_left, LONGEST_HOURS_LEFT)),
        at_risk_doses=np.zeros(len(stock.free_doses)),
        open_minutes_left=state.open_minutes_left,
        later_doses_per_minute=capacity * typical_fill_share / _MINUTES_PER_DAY,
    )
    outlook.at_risk_doses[:] = _doses_at_risk(situation, stock, outlook, horizon_hours * MINUTES_PER_HOUR)
    return outlook


def _doses_at_risk(situation: Situation, stock: Stock, outlook: DoseOutlook, horizon_minutes: float) -> FloatArray:
    """
    Unopened doses of each lot that will expire unused when a site gives its lots in the order of their expiry.

    A site's use is split over its products as its stock is.
    """
    lots = situation.state.lots
    at_risk = np.zeros(len(stock.free_doses))
    life = stock.life_minutes
    soon = stock.usable & (life <= horizon_minutes) & (stock.free_doses > 0)
    if not soon.any():
        return at_risk
    order = np.lexsort((life, lots.product_idx, lots.site_idx))
    order = order[(stock.usable & np.isfinite(life))[order]]
    doses = (stock.free_doses + lots.open_vial_doses)[order].astype(np.float64)
    group = lots.site_idx[order] * len(situation.state.city.products) + lots.product_idx[order]
    first = np.concatenate([[True], np.diff(group) != 0])
    before_group = np.maximum.accumulate(np.where(first, np.cumsum(doses) - doses, 0.0))
    up_to_here = np.cumsum(doses) - before_group
    of_group = np.bincount(group, doses)[group]
    share = of_group / np.maximum(stock.doses_on_hand[lots.site_idx[order]], 1.0)
    unused = up_to_here - share * outlook.used_within(lots.site_idx[order], life[order])
    at_risk[order] = np.nan_to_num(np.clip(unused, 0.0, stock.free_doses[order]))
    return np.where(soon, at_risk, 0.0)
