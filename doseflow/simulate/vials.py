"""Doses out of vials: opened first, then first to expire; what an opened vial loses; what expires."""

from __future__ import annotations

from dataclasses import replace

from doseflow.simulate.arrays import at_least_zero, device_of, namespace, where
from doseflow.simulate.draws import Array
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import Lots


def is_usable(lots: Lots, epoch_minutes: float, params: StepParams) -> Array:
    """Lots that may be given: not expired, excursion budget not spent, (S, L)."""
    in_budget = lots.excursion_minutes <= params.excursion_budget_minutes[lots.product_idx]
    return in_budget & (lots.expires > epoch_minutes)


def usable_doses(lots: Lots, usable: Array) -> Array:
    """Doses that may be given at each site, (S,); `usable` as `is_usable` gives it."""
    return _total(where(usable, lots.unopened_doses + lots.open_doses))


def draw_doses(
    lots: Lots, wanted: Array, usable: Array, epoch_minutes: float, params: StepParams
) -> tuple[Lots, Array]:
    """
    Draw doses, (S,), never more than are usable; also the vials opened for it, (S, L).

    Open vials come first, the one that must be thrown away soonest before the others; then whole vials, first to
    expire first.
    """
    xp = namespace(lots.open_doses)
    from_open = _taken_in_order(where(usable, lots.open_doses), lots.open_until, wanted)
    still_wanted = wanted - _total(from_open)
    from_whole = _taken_in_order(where(usable, lots.unopened_doses), lots.expires, still_wanted)
    per_vial = params.doses_per_vial[lots.product_idx]
    vials = -(-from_whole // per_vial)
    good_until = epoch_minutes + params.in_use_minutes[lots.product_idx]
    drawn = replace(
        lots,
        unopened_doses=lots.unopened_doses - vials * per_vial,
        open_doses=lots.open_doses - from_open + vials * per_vial - from_whole,
        open_until=xp.where(vials > 0, good_until, lots.open_until),
    )
    return drawn, vials


def discard_opened(lots: Lots, epoch_minutes: float, site_has_ended: Array) -> tuple[Lots, Array]:
    """
    Throw away what is left of vials past their in-use life, and all of it where a site has ended its day; doses,
    (S,).
    """
    is_over = (lots.open_until <= epoch_minutes) | site_has_ended[..., None]
    thrown = where(is_over, lots.open_doses)
    return replace(lots, open_doses=lots.open_doses - thrown), _total(thrown)


def discard_expired(lots: Lots, epoch_minutes: float, site_has_ended: Array) -> tuple[Lots, Array]:
    """Throw away expired lots where a site has ended its day; until then they lie unused; doses, (S,)."""
    thrown = where((lots.expires <= epoch_minutes) & site_has_ended[..., None], lots.unopened_doses)
    return replace(lots, unopened_doses=lots.unopened_doses - thrown), _total(thrown)


def _total(doses: Array) -> Array:
    return namespace(doses).sum(doses, axis=-1)


def _taken_in_order(doses: Array, order_by: Array, wanted: Array) -> Array:
    """Of each row of doses, (S, L), take `wanted`, (S,), lowest `order_by` first; of equal ones, the first."""
    xp = namespace(doses)
    place = xp.arange(doses.shape[-1], device=device_of(doses))
    left, wanted = doses, xp.minimum(wanted, _total(doses))
    # Nearly always one lot is enough, so lots are taken one by one instead of sorted.
    while bool(xp.any(wanted > 0)):
        first = xp.argmin(xp.where(left > 0, order_by, xp.inf), axis=-1)
        here = where(place == first[..., None], left)
        taken = xp.minimum(here, at_least_zero(wanted)[..., None])
        left = left - taken
        wanted = wanted - _total(taken)
    return doses - left
