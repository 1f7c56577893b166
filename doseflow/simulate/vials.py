"""Doses out of vials: opened first, then first to expire; what an opened vial loses; what expires."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import Lots


def is_usable(lots: Lots, epoch_minutes: float, params: StepParams) -> BoolArray:
    """Lots that may be given: not expired, excursion budget not spent, (S, L)."""
    in_budget = lots.excursion_minutes <= params.excursion_budget_minutes[lots.product_idx]
    return in_budget & (lots.expires > epoch_minutes)


def usable_doses(lots: Lots, epoch_minutes: float, params: StepParams) -> IntArray:
    """Doses that may be given at each site, (S,)."""
    on_hand = lots.unopened_doses + lots.open_doses
    doses: IntArray = np.where(is_usable(lots, epoch_minutes, params), on_hand, 0).sum(axis=-1)
    return doses


def draw_doses(lots: Lots, wanted: IntArray, epoch_minutes: float, params: StepParams) -> tuple[Lots, IntArray]:
    """
    Draw doses, (S,), never more than are usable; also the vials opened for it, (S, L).

    Open vials come first, the one that must be thrown away soonest before the others; then whole vials, first to
    expire first.
    """
    usable = is_usable(lots, epoch_minutes, params)
    from_open = _take_in_order(np.where(usable, lots.open_doses, 0), lots.open_until, wanted)
    still_wanted = wanted - from_open.sum(axis=-1)
    from_whole = _take_in_order(np.where(usable, lots.unopened_doses, 0), lots.expires, still_wanted)
    per_vial = params.doses_per_vial[lots.product_idx]
    vials = -(-from_whole // per_vial)
    drawn = replace(
        lots,
        unopened_doses=lots.unopened_doses - vials * per_vial,
        open_doses=lots.open_doses - from_open + vials * per_vial - from_whole,
        open_until=np.where(vials > 0, epoch_minutes + params.in_use_minutes[lots.product_idx], lots.open_until),
    )
    return drawn, vials


def discard_opened(lots: Lots, epoch_minutes: float, site_has_ended: BoolArray) -> tuple[Lots, IntArray]:
    """
    Throw away what is left of vials past their in-use life, and all of it where a site has ended its day; doses,
    (S,).
    """
    thrown = np.where((lots.open_until <= epoch_minutes) | site_has_ended[..., None], lots.open_doses, 0)
    return replace(lots, open_doses=lots.open_doses - thrown), thrown.sum(axis=-1)


def discard_expired(lots: Lots, epoch_minutes: float, site_has_ended: BoolArray) -> tuple[Lots, IntArray]:
    """Throw away expired lots where a site has ended its day; until then they lie unused; doses, (S,)."""
    thrown = np.where((lots.expires <= epoch_minutes) & site_has_ended[..., None], lots.unopened_doses, 0)
    return replace(lots, unopened_doses=lots.unopened_doses - thrown), thrown.sum(axis=-1)


def _take_in_order(doses: IntArray, order_by: FloatArray, wanted: IntArray) -> IntArray:
    """Of each row of doses, (S, L), take `wanted`, (S,), lowest `order_by` first."""
    order = np.argsort(order_by, axis=-1, kind="stable")
    ordered = np.take_along_axis(doses, order, axis=-1)
    before = np.cumsum(ordered, axis=-1) - ordered
    taken = np.clip(wanted[..., None] - before, 0, ordered)
    return np.take_along_axis(taken, np.argsort(order, axis=-1, kind="stable"), axis=-1)
