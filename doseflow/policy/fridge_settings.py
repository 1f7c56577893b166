"""Settings of fridges: a set-point put right before the band is left, and cooling ahead of a delivery."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import DoseTransfer, PreCool, SetPoint, Why
from doseflow.domain.state import CityState
from doseflow.policy.cold_chain_rules import ColdChainParams
from doseflow.policy.situation import Situation

_SAME_CELSIUS = 0.05
_MOST_STEP_SHARE = 0.3
"""Part of the band that a set-point is put from its middle at most, so that it stays inside."""
_STEADY_FACTOR = 2.0
"""A correction sent before stands until the temperature is so many times as deep inside the band."""


def set_point_corrections(situation: Situation, params: ColdChainParams) -> list[SetPoint]:
    """Set-points one step from the middle of the band against the drift of running fridges in its outer part."""
    state, orders = situation.state, situation.orders
    fridges, city = state.fridges, state.city
    low, high = storage_bands(state)
    pinned = orders.pinned_of(SetPoint)
    not_again = orders.barred_keys | {pin.key for pin in pinned}
    sent_keys = {setting.key for setting in orders.sent_of(SetPoint)}
    margin = params.outer_share * (high - low)
    may_act = (situation.standing.alterable & situation.standing.fridges_fresh)[fridges.site_idx]
    running = may_act & (fridges.power_on == 1) & (high > low)
    celsius = fridges.temperature_celsius
    near = _STEADY_FACTOR * margin
    suspects = running & ((celsius < low + near) | (celsius > high - near))
    corrections = []
    for row in np.flatnonzero(suspects).tolist():
        too_warm = bool(celsius[row] > (low[row] + high[row]) / 2)
        step = min(params.set_point_step_celsius, _MOST_STEP_SHARE * (high[row] - low[row])) * (-1 if too_warm else 1)
        target = round(float((low[row] + high[row]) / 2 + step), 1)
        correction = SetPoint(
            site_id=city.sites[int(fridges.site_idx[row])].site_id,
            fridge_id=fridges.fridge_id[row],
            set_point_celsius=target,
            why=Why("band_drift", {"temperature_celsius": round(float(celsius[row]), 1)}),
        )
        depth = near[row] if correction.key in sent_keys else margin[row]
        drifts = bool(celsius[row] > high[row] - depth if too_warm else celsius[row] < low[row] + depth)
        is_set = _is_at_least_as_far(float(fridges.set_point_celsius[row]), target, too_warm=too_warm)
        if drifts and not is_set and correction.key not in not_again:
            corrections.append(correction)
    return [*pinned, *corrections]


def pre_coolings(situation: Situation, transfers: Iterable[DoseTransfer], params: ColdChainParams) -> list[PreCool]:
    """
    Cooling of fridges in the warmer half of their band that doses are about to come to.

    Asked for with the transfer, and once more for one under way only while the first asking is unanswered.
    """
    state, orders = situation.state, situation.orders
    sent_keys = {setting.key for setting in orders.sent_of(PreCool)}
    bands = storage_bands(state)
    coolings = {pin.key: pin for pin in orders.pinned_of(PreCool)}
    for transfer, is_under_way in [
        *((one, False) for one in transfers),
        *((one, True) for one in orders.bound_of(DoseTransfer)),
    ]:
        cooling = _pre_cooling(state, transfer, bands, params)
        if cooling is None or cooling.key in coolings or cooling.key in orders.barred_keys:
            continue
        may_act = situation.standing.alterable[state.city.site_to_idx[cooling.site_id]]
        if may_act and (not is_under_way or cooling.key in sent_keys):
            coolings[cooling.key] = cooling
    return list(coolings.values())


def storage_bands(state: CityState) -> tuple[FloatArray, FloatArray]:
    """The band that suits everything in a fridge, (fridges,) twice; NaN where nothing lies in it."""
    lots, products = state.lots, state.city.products
    low, high = np.full(len(state.fridges.fridge_id), -np.inf), np.full(len(state.fridges.fridge_id), np.inf)
    held = (lots.unopened_doses + lots.open_vial_doses > 0) & (lots.fridge_row >= 0)
    rows, product_idx = lots.fridge_row[held], lots.product_idx[held]
    np.maximum.at(low, rows, np.array([product.storage_low_celsius for product in products])[product_idx])
    np.minimum.at(high, rows, np.array([product.storage_high_celsius for product in products])[product_idx])
    empty = np.isinf(low)
    low[empty], high[empty] = np.nan, np.nan
    return low, high


def _is_at_least_as_far(set_point: float, target: float, *, too_warm: bool) -> bool:
    """Whether the thermostat is set against the drift already; an unknown setting is not."""
    return set_point <= target + _SAME_CELSIUS if too_warm else set_point >= target - _SAME_CELSIUS


def _pre_cooling(
    state: CityState, transfer: DoseTransfer, bands: tuple[FloatArray, FloatArray], params: ColdChainParams
) -> PreCool | None:
    site_idx = state.city.site_to_idx[transfer.to_site_id]
    rows = np.flatnonzero(state.fridges.site_idx == site_idx).tolist()
    row = next((row for row in rows if state.fridges.fridge_id[row] == transfer.to_fridge_id), None)
    product_idx = state.city.product_to_idx.get(transfer.product_id)
    if row is None or product_idx is None:
        return None
    product = state.city.products[product_idx]
    low = np.fmax(bands[0][row], product.storage_low_celsius)
    high = np.fmin(bands[1][row], product.storage_high_celsius)
    celsius = state.fridges.temperature_celsius[row]
    if not (state.fridges.power_on[row] == 1 and low < high and celsius > (low + high) / 2):
        return None
    target = round(float(low + params.pre_cool_share * (high - low)), 1)
    return PreCool(transfer.to_site_id, transfer.to_fridge_id, target, Why("delivery_ahead"))
