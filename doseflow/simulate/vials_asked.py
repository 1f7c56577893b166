"""Vials that neighbours ask for: each free van takes one load from where it stands to who asked for most there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doseflow.simulate.arrays import device_of, flat, namespace, where
from doseflow.simulate.cold_store import used_litres
from doseflow.simulate.decision_arrays import Neighbourhood
from doseflow.simulate.draws import Array
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Table
from doseflow.simulate.vials import is_usable
from doseflow.simulate.world import Vans, World


def with_vials_sent(world: World, vials_asked: Array, around: Neighbourhood, params: StepParams) -> World:
    """The world with vans on their way to who asked, (B, S, K)."""
    xp = namespace(vials_asked)
    asked = where(around.travel_minutes <= around.max_travel_minutes, vials_asked * (vials_asked > 0))
    if not bool(xp.any(asked > 0)):
        return world
    for van in range(world.vans.site_idx.shape[-1]):
        world, asked = _one_van(xp, world, van, asked, around, params)
    return world


def _one_van(
    xp: Any, world: World, van: int, asked: Array, around: Neighbourhood, params: StepParams
) -> tuple[World, Array]:
    """The largest wish at the site where a van stands, as far as its first lot goes; the wish is then met."""
    wishes = _flat(xp, asked, 2)
    replica = xp.arange(wishes.shape[0], device=device_of(wishes))
    stands_at = xp.reshape(world.vans.site_idx[..., van], (-1,))
    is_free = (stands_at >= 0) & xp.reshape(world.vans.busy_until[..., van] <= world.epoch_minutes, (-1,))
    names_me = flat(around.neighbour_idx)[None, :] == stands_at[:, None]
    best = xp.argmax(where(names_me, wishes), axis=-1)
    wanted = where(is_free & names_me[replica, best], wishes[replica, best])
    slots = around.neighbour_idx.shape[-1]
    to_site, travel = best // slots, flat(around.travel_minutes)[best]
    load = _load(xp, world, stands_at, to_site, wanted, travel, around, params)
    goes = load["doses"] > 0
    met = xp.asarray(wishes, copy=True)
    met[replica[goes], best[goes]] = 0
    world = replace(world, vans=_driving(xp, world.vans, van, goes, to_site, load["arrives"]))
    return _loaded(xp, world, load, goes), xp.reshape(met, asked.shape)


def _load(
    xp: Any,
    world: World,
    from_site: Array,
    to_site: Array,
    wanted_vials: Array,
    travel: Array,
    around: Neighbourhood,
    params: StepParams,
) -> dict[str, Array]:
    """What the van of each replica would carry, (B,), by column of a trip; `row` and `place` say from where."""
    num_sites = world.stations_open.shape[-2]
    replica = xp.arange(from_site.shape[0], device=device_of(from_site))
    row, to_row = replica * num_sites + from_site * (from_site >= 0), replica * num_sites + to_site
    arrives = world.epoch_minutes + travel
    lots = {name: _flat(xp, getattr(world.lots, name), 1) for name in _LOT_COLUMNS}
    usable = _flat(xp, is_usable(world.lots, world.epoch_minutes, params), 1)[row]
    lives = lots["expires"][row] >= (arrives + around.min_lot_life_minutes)[:, None]
    order = xp.where(usable & lives & (lots["unopened_doses"][row] > 0), lots["expires"][row], xp.inf)
    place = xp.argmin(order, axis=-1)
    has_lot = xp.isfinite(order[replica, place])
    product = lots["product_idx"][row, place]
    room = world.fridges.volume_litres - used_litres(world.lots, world.fridges, params)
    room = _flat(xp, room, 1)[to_row]
    fridge = xp.argmax(room, axis=-1)
    per_vial, litres = params.doses_per_vial[product], params.litres_per_vial[product]
    fits = xp.astype(xp.floor(room[replica, fridge] * (room[replica, fridge] > 0) / litres), xp.int64)
    vials = xp.minimum(xp.minimum(wanted_vials, lots["unopened_doses"][row, place] // per_vial), fits)
    return {
        "row": row,
        "place": place,
        "to_idx": to_row,
        "fridge_slot": fridge,
        "lot_code": lots["code"][row, place],
        "product_idx": product,
        "doses": where(has_lot, vials * per_vial),
        "expires": lots["expires"][row, place],
        "excursion_minutes": lots["excursion_minutes"][row, place],
        "arrives": arrives,
    }


_LOT_COLUMNS = ("code", "product_idx", "unopened_doses", "expires", "excursion_minutes")


def _loaded(xp: Any, world: World, load: dict[str, Array], goes: Array) -> World:
    chosen = {name: column[goes] for name, column in load.items()}
    unopened = xp.asarray(_flat(xp, world.lots.unopened_doses, 1), copy=True)
    row, place = chosen.pop("row"), chosen.pop("place")
    unopened[row, place] -= chosen["doses"]
    lots = replace(world.lots, unopened_doses=xp.reshape(unopened, world.lots.unopened_doses.shape))
    return replace(world, lots=lots, dose_trips=world.dose_trips.followed_by(Table(chosen)))


def _driving(xp: Any, vans: Vans, van: int, goes: Array, to_site: Array, arrives: Array) -> Vans:
    columns = {}
    for name, value in (("site_idx", -1), ("busy_until", arrives), ("heading_to_idx", to_site)):
        column = xp.asarray(_flat(xp, getattr(vans, name), 1), copy=True)
        column[goes, van] = value if isinstance(value, int) else value[goes]
        columns[name] = xp.reshape(column, getattr(vans, name).shape)
    return Vans(**columns)


def _flat(xp: Any, array: Array, last: int) -> Array:
    """One axis for all replicas, or for all their sites, before the last axes; `last` = 2 makes one of those two."""
    if last == 1:
        return xp.reshape(array, (-1, array.shape[-1]))
    return xp.reshape(array, (-1, array.shape[-2] * array.shape[-1]))
