"""
The balance of doses: what is on hand falls by the doses given and the doses thrown away, and rises by deliveries.

So without a delivery the sum of r = change of the stock + doses given is never above 0, but for doses drawn beyond a
vial's label. One-sided CUSUM as in `people`; waste, which only lowers it, needs no allowance. A lot that was not there
before has been delivered, ordered here or not; what is flagged is more of a lot that was there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import DoseTransfer
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.state import CityState, LotTable
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.told import Told
from doseflow.units import epoch_minutes_from_datetime, minutes_from_hours

_CLASSES = (FeatureClass.DOSES_ON_HAND, FeatureClass.DOSES_GIVEN)


@dataclass(frozen=True)
class StockBalance:
    """Doses too many, (S,), since when, and until when a delivery may show; `risen` in the last period."""

    too_many: FloatArray
    since: FloatArray
    may_receive_until: FloatArray
    risen: FloatArray


def no_stock_balance(num_sites: int) -> StockBalance:
    """Nothing was counted yet."""
    zeros, unknown = np.zeros(num_sites), np.full(num_sites, np.nan)
    return StockBalance(zeros, unknown, np.full(num_sites, -np.inf), zeros)


def go_on_stock(previous: StockBalance, told: Told, state: CityState, params: WatchParams) -> StockBalance:
    """The sum after a cycle; where a report is missing or a delivery is due it begins again."""
    may_receive_until = _deliveries(previous.may_receive_until, state, params)
    before, now = told.before, told.now
    risen = now.stock - before.stock
    risen = risen - _delivered(risen, before.lots, now.lots)
    residual = risen + now.doses - params.vial_overfill_share * np.abs(now.doses)
    valid = before.valid[:, FeatureClass.DOSES_ON_HAND]
    is_read = told.follow(*_CLASSES) & ~np.isnan(residual)
    is_read &= may_receive_until < epoch_minutes_from_datetime(state.as_of)
    total = np.where(is_read, np.maximum(previous.too_many + np.where(is_read, residual, 0.0), 0.0), 0.0)
    since = np.where(previous.too_many <= 0, valid, previous.since)
    return StockBalance(total, since, may_receive_until, np.where(is_read, risen, 0.0))


def _delivered(risen: FloatArray, before: LotTable, now: LotTable) -> FloatArray:
    """Doses in lots that were not there before, (S,), where the stock has risen."""
    delivered = np.zeros(len(risen))
    if not (risen > 0).any():
        return delivered
    known = set(zip(before.site_idx.tolist(), before.lot_number, strict=True))
    for row in np.flatnonzero(risen[now.site_idx] > 0).tolist():
        if (int(now.site_idx[row]), now.lot_number[row]) not in known:
            delivered[now.site_idx[row]] += now.unopened_doses[row] + now.open_vial_doses[row]
    return delivered


def _deliveries(until: FloatArray, state: CityState, params: WatchParams) -> FloatArray:
    commitments, site_to_idx = state.commitments, state.city.site_to_idx
    expected = [
        site_to_idx[one.to_site_id]
        for one in (*commitments.sent, *commitments.acknowledged, *commitments.under_way)
        if isinstance(one, DoseTransfer) and one.to_site_id in site_to_idx
    ]
    if not expected:
        return until
    until = until.copy()
    until[expected] = epoch_minutes_from_datetime(state.as_of) + minutes_from_hours(params.transfer_hours)
    return until


def stock_bound(state: CityState) -> float:
    """Doses that are forgiven: one vial of the largest kind."""
    return float(max((product.doses_per_vial for product in state.city.products), default=1))


def stock_findings(stock: StockBalance, told: Told, bound: float) -> Iterator[Finding]:
    """Stocks that have risen, or not fallen, by more than a vial."""
    for site_idx in np.flatnonzero(stock.too_many > bound).tolist():
        is_rise = stock.risen[site_idx] > bound
        kind = AnomalyKind.STOCK_RISE if is_rise else AnomalyKind.STOCK_MISMATCH
        doses = float(stock.risen[site_idx] if is_rise else stock.too_many[site_idx])
        since = told.now.valid[site_idx, FeatureClass.DOSES_ON_HAND] if is_rise else stock.since[site_idx]
        yield Finding(kind, FeatureClass.DOSES_ON_HAND, site_idx, float(since), {"doses": doses})


def stock_begun_again(stock: StockBalance, bound: float) -> StockBalance:
    """The sum to go on with: what fired begins from 0."""
    total = np.where(stock.too_many > bound, 0.0, stock.too_many)
    return StockBalance(total, stock.since, stock.may_receive_until, stock.risen)
