"""Arrivals of what is on its way: people, doses, vans."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from doseflow.simulate.arrays import added_at, namespace
from doseflow.simulate.draws import Array
from doseflow.simulate.readiness import with_doses_drawn
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Table, rounds
from doseflow.simulate.world import Lots, World, with_staff


def arrive(world: World, params: StepParams) -> World:
    """Let everything arrive whose time has come."""
    xp, now = namespace(world.stations_open), world.epoch_minutes
    if len(world.staff_trips) and bool(xp.any(world.staff_trips["arrives"] <= now)):
        world = _staff_arrives(world)
    if len(world.dose_trips) and bool(xp.any(world.dose_trips["arrives"] <= now)):
        world = _doses_arrive(with_doses_drawn(world, params))
    driving = (world.vans.site_idx < 0) & (world.vans.busy_until <= now)
    if bool(xp.any(driving)):
        site_idx = xp.where(driving, world.vans.heading_to_idx, world.vans.site_idx)
        world = replace(world, vans=replace(world.vans, site_idx=site_idx))
    return world


def _staff_arrives(world: World) -> World:
    """People whose shift ended on the way go home instead."""
    trips, now = world.staff_trips, world.epoch_minutes
    is_here = trips["arrives"] <= now
    here = trips.where(is_here & (world.day.shift_ends[trips["shift_idx"]] > now))
    _, as_roles, shifts, moves = world.staff_people.shape[-4:]
    cell = ((here["to_idx"] * as_roles + here["home_idx"]) * as_roles + here["works_as_idx"]) * shifts
    position = (cell + here["shift_idx"]) * moves + here["moves"]
    world = with_staff(world, added_at(world.staff_people, position, here["people"]))
    return replace(world, staff_trips=trips.where(~is_here))


def _doses_arrive(world: World) -> World:
    is_here = world.dose_trips["arrives"] <= world.epoch_minutes
    lots, left_over = stored(world.lots, world.dose_trips.where(is_here))
    return replace(world, lots=lots, dose_trips=left_over.followed_by(world.dose_trips.where(~is_here)))


def stored(lots: Lots, trips: Table) -> tuple[Lots, Table]:
    """
    The lots with the doses of the trips put where they go: to the same lot in the same fridge, else in a free place.

    Also the trips that find no place: they wait at the door.
    """
    columns = {item.name: _rows(getattr(lots, item.name)) for item in fields(Lots)}
    left_over = trips.where(trips["to_idx"] < 0)
    for part in rounds(trips, "to_idx"):
        has_place, place = _places(columns, part)
        _put(columns, part.where(has_place), place[has_place])
        left_over = left_over.followed_by(part.where(~has_place))
    shape = lots.code.shape
    xp = namespace(lots.code)
    return Lots(**{name: xp.reshape(column, shape) for name, column in columns.items()}), left_over


def _rows(column: Array) -> Array:
    """A copy of a column with one axis for all sites of all replicas, (rows, L)."""
    xp = namespace(column)
    return xp.asarray(xp.reshape(column, (-1, column.shape[-1])), copy=True)


def _places(columns: dict[str, Array], part: Table) -> tuple[Array, Array]:
    """Whether there is a place for each trip, and which, (trips,)."""
    xp = namespace(part["to_idx"])
    site = part["to_idx"]
    is_free = columns["unopened_doses"][site] + columns["open_doses"][site] == 0
    same_lot = columns["code"][site] == part["lot_code"][:, None]
    is_same = same_lot & (columns["fridge_slot"][site] == part["fridge_slot"][:, None]) & ~is_free
    wish = xp.astype(is_same, xp.int64) * 2 + xp.astype(is_free, xp.int64)
    return xp.max(wish, axis=-1) > 0, xp.argmax(wish, axis=-1)


def _put(columns: dict[str, Array], part: Table, place: Array) -> None:
    xp: Any = namespace(part["to_idx"])
    at = part["to_idx"], place
    is_free = columns["unopened_doses"][at] + columns["open_doses"][at] == 0
    before = xp.where(is_free, xp.zeros_like(columns["excursion_minutes"][at]), columns["excursion_minutes"][at])
    # Mixed vials of one lot can no longer be told apart, so the worst of both counts.
    columns["excursion_minutes"][at] = xp.maximum(before, part["excursion_minutes"])
    columns["code"][at] = part["lot_code"]
    for name in ("product_idx", "fridge_slot", "expires"):
        columns[name][at] = part[name]
    columns["unopened_doses"][at] += part["doses"]
