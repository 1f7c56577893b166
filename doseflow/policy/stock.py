"""What the lots on hand are good for: life left, usable or not, safe where they lie or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.decisions import DoseTransfer
from doseflow.domain.state import CityState
from doseflow.policy.standing_orders import StandingOrders
from doseflow.units import epoch_minutes_from_datetime


@dataclass(frozen=True, slots=True)
class Stock:
    """
    A row a lot, in the order of the state's LotTable, but for the last two, which are by site, (S,).

    Parameters
    ----------
    free_doses
        Unopened doses that no order in force has taken.
    life_minutes
        Until expiry, negative after it, NaN unknown.
    celsius, excess_celsius
        Temperature of the lot's fridge, and how far it is outside the product's band (0 inside), NaN unknown.
    budget_left_minutes
        Excursion budget left, at most 0 when spent, NaN unknown.
    usable
        Nothing known speaks against giving it.
    failing
        Its fridge is known to be without power or outside the product's band, or people say that it does not cool.
    recalled, given_up
        A playbook recalls the lot; a playbook says that just this fridge has failed.
    doses_on_hand
        Usable doses of all products, opened vials included; those promised away are not.
    doses_coming
        Doses on their way here by orders in force.
    """

    doses_per_vial: IntArray
    litres_per_dose: FloatArray
    free_doses: IntArray
    life_minutes: FloatArray
    celsius: FloatArray
    excess_celsius: FloatArray
    budget_left_minutes: FloatArray
    usable: BoolArray
    failing: BoolArray
    recalled: BoolArray
    given_up: BoolArray
    doses_on_hand: FloatArray
    doses_coming: FloatArray

    @property
    def free_vial_doses(self) -> IntArray:
        """Free doses in whole vials, (lots,)."""
        whole: IntArray = self.free_doses // self.doses_per_vial * self.doses_per_vial
        return whole


def take_stock(state: CityState, orders: StandingOrders) -> Stock:
    """Join the tables of lots, fridges and products."""
    lots, fridges, products = state.lots, state.fridges, state.city.products
    per_vial = np.array([product.doses_per_vial for product in products], dtype=np.int64)
    litres = np.array([product.litres_per_vial for product in products]) / per_vial
    low = np.array([product.storage_low_celsius for product in products])[lots.product_idx]
    high = np.array([product.storage_high_celsius for product in products])[lots.product_idx]
    budget = np.array([product.excursion_budget_minutes for product in products])[lots.product_idx]

    celsius = _of_fridge(lots.fridge_row, fridges.temperature_celsius)
    excess = np.maximum(np.maximum(low - celsius, celsius - high), 0.0)
    budget_left = budget - _of_fridge(lots.fridge_row, fridges.excursion_minutes)
    life = lots.expires_epoch_minutes - epoch_minutes_from_datetime(state.as_of)
    incidents = state.commitments.incidents
    recalled = np.zeros(len(lots.lot_number), dtype=bool)
    if incidents.recalled_lots:
        recalled[[number in incidents.recalled_lots for number in lots.lot_number]] = True
    usable = ~(life <= 0) & ~(budget_left <= 0) & ~recalled
    without_cooling, given_up = _said_to_fail(state)
    free = np.maximum(lots.unopened_doses - lots.reserved_doses, 0)
    num_sites = state.city.num_sites
    return Stock(
        doses_per_vial=per_vial[lots.product_idx],
        litres_per_dose=litres[lots.product_idx],
        free_doses=free,
        life_minutes=life,
        celsius=celsius,
        excess_celsius=excess,
        budget_left_minutes=budget_left,
        usable=usable,
        failing=(_of_fridge(lots.fridge_row, fridges.power_on) == 0) | (excess > 0) | without_cooling,
        recalled=recalled,
        given_up=given_up,
        doses_on_hand=np.bincount(lots.site_idx, (free + lots.open_vial_doses) * usable, num_sites).astype(np.float64),
        doses_coming=_doses_coming(state, orders),
    )


def _said_to_fail(state: CityState) -> tuple[BoolArray, BoolArray]:
    """Lots in fridges that playbooks say do not cool, and of those the ones whose very fridge failed, both (lots,)."""
    incidents, lots, fridges = state.commitments.incidents, state.lots, state.fridges
    nowhere = np.zeros(len(lots.lot_number), dtype=bool)
    if not incidents.failed_fridges and not incidents.power_cut_site_ids:
        return nowhere, nowhere
    sites = state.city.sites
    names = [(sites[int(idx)].site_id, one) for idx, one in zip(fridges.site_idx, fridges.fridge_id, strict=True)]
    failed = np.array([incidents.is_failed(*name) for name in names], dtype=np.float64)
    named = np.array([name in incidents.failed_fridges for name in names], dtype=np.float64)
    return _of_fridge(lots.fridge_row, failed) == 1, _of_fridge(lots.fridge_row, named) == 1


def _of_fridge(fridge_row: IntArray, column: FloatArray) -> FloatArray:
    """A column of the fridges read for each lot, NaN for a lot that lies in no known fridge."""
    padded = np.append(column, np.nan)
    of_lot: FloatArray = padded[np.where(fridge_row >= 0, fridge_row, len(column))]
    return of_lot


def _doses_coming(state: CityState, orders: StandingOrders) -> FloatArray:
    coming = np.zeros(state.city.num_sites)
    for transfer in orders.bound_of(DoseTransfer):
        coming[state.city.site_to_idx[transfer.to_site_id]] += transfer.doses
    return coming
