"""What orders on doses and fridges save in doses, beside the best of the sites that could give or take instead."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray
from doseflow.domain.decisions import Decision, DoseTransfer, FridgeMove, MarkUnusable, PreCool, SetPoint
from doseflow.domain.order_effect import Alternative, Instead, NotReckoned, OrderEffect, Saving
from doseflow.policy.cold_chain_rules import ColdChainParams
from doseflow.policy.dose_outlook import DoseOutlook, dose_outlook
from doseflow.policy.dose_rules import DoseParams
from doseflow.policy.situation import Situation
from doseflow.policy.stock import Stock, take_stock
from doseflow.units import MINUTES_PER_HOUR

_AT_RISK = frozenset({"expiry_ahead", "failing_fridge", "excursion_spent", "earlier_lot"})


class DoseEffects:
    """Effects of one city's orders on doses and fridges."""

    def __init__(self, situation: Situation, doses: DoseParams, cold_chain: ColdChainParams) -> None:
        self._situation, self._cold_chain = situation, cold_chain
        self._city = situation.state.city
        self._stock: Stock = take_stock(situation.state, situation.orders)
        self._outlook: DoseOutlook = dose_outlook(
            situation,
            self._stock,
            situation.forecast,
            typical_fill_share=doses.typical_fill_share,
            horizon_hours=doses.rescue_horizon_hours,
        )

    def __call__(self, decision: Decision) -> OrderEffect | None:
        """The effect of an order of doses or of the cold chain; None of any other."""
        match decision:
            case DoseTransfer():
                return self._of_transfer(decision)
            case FridgeMove():
                return self._of_fridge_move(decision)
            case SetPoint():
                return self._of_set_point(decision)
            case PreCool():
                return OrderEffect(saving=Saving.DOSES, not_reckoned=NotReckoned.DELIVERY)
            case MarkUnusable():
                return OrderEffect(0.0, Saving.DOSES)
        return None

    def _of_transfer(self, transfer: DoseTransfer) -> OrderEffect:
        from_idx, to_idx = (self._city.site_to_idx[one] for one in (transfer.from_site_id, transfer.to_site_id))
        if transfer.why.code in _AT_RISK:
            return OrderEffect(float(transfer.doses), Saving.DOSES, self._other_taker(transfer, from_idx, to_idx))
        outlook = self._outlook
        missing = float(outlook.busy_needed_doses[to_idx] - self._stock.doses_on_hand[to_idx])
        if not np.isfinite(missing):
            return OrderEffect(saving=Saving.DOSES, not_reckoned=NotReckoned.UNKNOWN_SITE)
        wanted = max(0.0, min(float(transfer.doses), float(round(missing))))
        return OrderEffect(wanted, Saving.DOSES, self._other_giver(wanted, from_idx, to_idx))

    def _other_giver(self, wanted: float, from_idx: int, to_idx: int) -> Alternative:
        """Who could bring most of it: a site with a van, as far as it has doses beyond a busy rest of the day."""
        has_van = set(self._situation.state.vans.site_idx.tolist())
        spare = np.nan_to_num(self._stock.doses_on_hand - self._outlook.busy_needed_doses)
        ways = [
            (min(wanted, float(spare[giver_idx])), giver_idx)
            for travel, giver_idx in self._situation.reach.to_site(to_idx)
            if giver_idx != from_idx and giver_idx in has_van and travel <= self._city.limits.max_travel_minutes
        ]
        return _best(ways)

    def _other_taker(self, transfer: DoseTransfer, from_idx: int, to_idx: int) -> Alternative:
        """Who would use most of it before it expires, beyond what they have."""
        life = self._life_minutes(transfer.from_site_id, transfer.from_fridge_id, transfer.lot_number)
        ways = []
        for travel, taker_idx in self._situation.reach.from_site(from_idx):
            if taker_idx == to_idx or travel > self._city.limits.max_travel_minutes or not self._operating[taker_idx]:
                continue
            used = self._outlook.used_within(np.array([taker_idx]), np.array([life - travel]))[0]
            usable = float(np.nan_to_num(used - self._outlook.supply_doses[taker_idx]))
            ways.append((min(float(transfer.doses), usable), taker_idx))
        return _best(ways)

    def _of_fridge_move(self, move: FridgeMove) -> OrderEffect:
        if move.why.code not in _AT_RISK:
            return OrderEffect(saving=Saving.DOSES, not_reckoned=NotReckoned.FULL_FRIDGE)
        return OrderEffect(float(move.doses), Saving.DOSES, Alternative(Instead.UNKNOWN))

    def _of_set_point(self, setting: SetPoint) -> OrderEffect:
        """
        Doses that would be lost today if the drift went on as without power.

        Out of the band, a lot has what is left of its excursion budget; what the site gives until then is not lost.
        """
        site_idx = self._city.site_to_idx[setting.site_id]
        lots, stock, products = self._situation.state.lots, self._stock, self._city.products
        rows = self._rows_in(site_idx, setting.fridge_id)
        high = np.array([products[idx].storage_high_celsius for idx in lots.product_idx[rows].tolist()])
        low = np.array([products[idx].storage_low_celsius for idx in lots.product_idx[rows].tolist()])
        celsius = stock.celsius[rows]
        to_edge = np.where(celsius > (low + high) / 2, high - celsius, celsius - low)
        to_edge = np.maximum(to_edge, 0.0) / self._cold_chain.warming_celsius_per_hour * MINUTES_PER_HOUR
        minutes = to_edge + np.maximum(stock.budget_left_minutes[rows], 0.0)
        used = self._outlook.used_within(np.full(rows.sum(), site_idx), minutes)
        share = stock.free_doses[rows] / max(float(stock.doses_on_hand[site_idx]), 1.0)
        lost = np.maximum(stock.free_doses[rows] - share * used, 0.0)
        saved = float(np.where(minutes <= 24 * MINUTES_PER_HOUR, lost, 0.0).sum())
        if not np.isfinite(saved):
            return OrderEffect(saving=Saving.DOSES, not_reckoned=NotReckoned.UNKNOWN_SITE)
        return OrderEffect(float(np.floor(saved)), Saving.DOSES, Alternative(Instead.UNKNOWN))

    def _rows_in(self, site_idx: int, fridge_id: str) -> BoolArray:
        state = self._situation.state
        here = (state.fridges.site_idx == site_idx) & (np.array(state.fridges.fridge_id) == fridge_id)
        rows: BoolArray = np.isin(state.lots.fridge_row, np.flatnonzero(here)) & self._stock.usable
        return rows

    def _life_minutes(self, site_id: str, fridge_id: str, lot_number: str) -> float:
        rows = self._rows_in(self._city.site_to_idx[site_id], fridge_id)
        rows &= np.array(self._situation.state.lots.lot_number) == lot_number
        return float(self._stock.life_minutes[rows].min(initial=np.inf))

    @property
    def _operating(self) -> BoolArray:
        return self._situation.standing.operating


def _best(ways: list[tuple[float, int]]) -> Alternative:
    saved, site_idx = max(ways, default=(0.0, 0))
    return Alternative(Instead.SITE, site_idx, float(np.floor(saved))) if saved >= 1 else Alternative()
