"""
WorldDraft: a world's arrays copied once, so that the orders of one minute can be carried out on them, then made a
world again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import City, IntArray
from doseflow.simulate.readiness import with_doses_drawn
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Schema, Table, table_of
from doseflow.simulate.world import DIVERSION, DOSE_TRIP, STAFF_TRIP, Fridges, Lots, Totals, Vans, World, with_staff


@dataclass
class WorldDraft:
    """What orders may change, owned by this draft alone; `world` is what it was copied from."""

    world: World
    city: City
    params: StepParams
    staff_people: IntArray
    stations_open: IntArray
    free_slots: IntArray
    coming_people: NDArray[np.int32]
    lots: Lots
    fridges: Fridges
    vans: Vans
    totals: Totals
    staff_trips: list[tuple[Any, ...]] = field(default_factory=list)
    dose_trips: list[tuple[Any, ...]] = field(default_factory=list)
    diversions: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def now(self) -> float:
        """Minutes since 1970."""
        return self.world.epoch_minutes


def draft_of(world: World, city: City, params: StepParams) -> WorldDraft:
    """A draft that shares no array that an order may write to; what was given has left its vials."""
    world = with_doses_drawn(world, params)
    return WorldDraft(
        world=world,
        city=city,
        params=params,
        staff_people=world.staff_people.copy(),
        stations_open=world.stations_open.copy(),
        free_slots=world.free_slots.copy(),
        coming_people=world.coming_people.copy(),
        lots=_copied(world.lots),
        fridges=_copied(world.fridges),
        vans=_copied(world.vans),
        totals=replace(world.totals, doses_discarded=world.totals.doses_discarded.copy()),
    )


def world_of(draft: WorldDraft) -> World:
    """The world that the draft has become."""
    world = replace(
        draft.world,
        stations_open=draft.stations_open,
        free_slots=draft.free_slots,
        coming_people=draft.coming_people,
        lots=draft.lots,
        fridges=draft.fridges,
        vans=draft.vans,
        totals=draft.totals,
        staff_trips=_with_rows(draft.world.staff_trips, draft.staff_trips, STAFF_TRIP),
        dose_trips=_with_rows(draft.world.dose_trips, draft.dose_trips, DOSE_TRIP),
        diversions=_with_rows(draft.world.diversions, draft.diversions, DIVERSION),
    )
    return with_staff(world, draft.staff_people)


def _copied(table: Any) -> Any:
    return type(table)(**{item.name: getattr(table, item.name).copy() for item in fields(table)})


def _with_rows(table: Table, rows: list[tuple[Any, ...]], schema: Schema) -> Table:
    return table.followed_by(table_of(schema, rows)) if rows else table
