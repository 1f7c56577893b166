"""Arrivals of what is on its way: people, doses, vans."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import IntArray
from doseflow.simulate.world import Lots, World


def arrive(world: World) -> World:
    """Let everything arrive whose time has come."""
    now = world.epoch_minutes
    if (world.staff_trips["arrives"] <= now).any():
        world = _staff_arrives(world)
    if (world.dose_trips["arrives"] <= now).any():
        world = _doses_arrive(world)
    driving = (world.vans.site_idx < 0) & (world.vans.busy_until <= now)
    if driving.any():
        site_idx = np.where(driving, world.vans.heading_to_idx, world.vans.site_idx)
        world = replace(world, vans=replace(world.vans, site_idx=site_idx))
    return world


def _staff_arrives(world: World) -> World:
    """People whose shift ended on the way go home instead."""
    is_here = world.staff_trips["arrives"] <= world.epoch_minutes
    here = world.staff_trips[is_here]
    here = here[world.day.shift_ends[here["shift_idx"]] > world.epoch_minutes]
    staff = world.staff_people.copy()
    where = tuple(here[name] for name in ("to_idx", "home_idx", "works_as_idx", "shift_idx", "moves"))
    np.add.at(staff, where, here["people"])
    return replace(world, staff_people=staff, staff_trips=world.staff_trips[~is_here])


def _doses_arrive(world: World) -> World:
    is_here = world.dose_trips["arrives"] <= world.epoch_minutes
    lots = stored(world.lots, world.dose_trips[is_here])
    return replace(world, lots=lots, dose_trips=world.dose_trips[~is_here])


def stored(lots: Lots, trips: NDArray[np.void]) -> Lots:
    """
    The lots with the doses of the trips put where they go: to the same lot in the same fridge, else in a free place.
    """
    kept = Lots(**{item.name: getattr(lots, item.name).copy() for item in fields(Lots)})
    for trip in trips:
        site = trip["to_idx"]
        same = (kept.code[site] == trip["lot_code"]) & (kept.fridge_slot[site] == trip["fridge_slot"])
        places = np.flatnonzero(same & ~kept.is_free[site])
        if not len(places):
            places = np.flatnonzero(kept.is_free[site])
        if not len(places):
            kept = _with_more_places(kept)
            places = np.flatnonzero(kept.is_free[site])
        _put(kept, site, places[0], trip)
    return kept


def _put(lots: Lots, site: int, place: IntArray, trip: np.void) -> None:
    if lots.is_free[site, place]:
        lots.excursion_minutes[site, place] = 0
    lots.code[site, place] = trip["lot_code"]
    lots.product_idx[site, place] = trip["product_idx"]
    lots.fridge_slot[site, place] = trip["fridge_slot"]
    lots.expires[site, place] = trip["expires"]
    lots.unopened_doses[site, place] += trip["doses"]
    # Mixed vials of one lot can no longer be told apart, so the worst of both counts.
    worst = max(lots.excursion_minutes[site, place], trip["excursion_minutes"])
    lots.excursion_minutes[site, place] = worst


def _with_more_places(lots: Lots) -> Lots:
    """Twice the places at every site, the new ones free."""
    return Lots(**{item.name: _padded(getattr(lots, item.name)) for item in fields(Lots)})


def _padded(column: np.ndarray) -> np.ndarray:
    return np.concatenate([column, np.zeros_like(column)], axis=-1)
