"""The rebuilt world with what a person supposes; chance is left as it was, so that both futures can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.roles import ROLE_TO_IDX, Role
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.day_profile import DAY_MINUTES
from doseflow.simulate.flow import emptied_queues
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import World, with_staff
from doseflow.what_if.changes import Change, ChangeKind

VACCINATOR_IDX = ROLE_TO_IDX[Role.VACCINATOR]
TAKING_NEIGHBOURS = 3
"""The nearest sites that are open take the people of one that is closed."""


def changed_day(day: DayPlan, changes: Sequence[Change], city: City) -> DayPlan:
    """The day with other walk-ins: changed before they are drawn, so that the same people come and more or fewer."""
    walk_ins = day.walk_ins_per_minute.copy()
    for change in changes:
        if change.kind is ChangeKind.WALK_INS:
            where = slice(None) if change.site_id is None else city.site_to_idx[change.site_id]
            walk_ins[where] *= change.factor
    return replace(day, walk_ins_per_minute=walk_ins)


def changed_world(world: World, changes: Sequence[Change], city: City, params: StepParams) -> World:
    """The world with sites closed, fridges lost and people added."""
    for change in changes:
        match change.kind:
            case ChangeKind.CLOSE_SITE | ChangeKind.SUSPEND_SITE:
                world = _closed(world, change, city)
            case ChangeKind.LOSE_FRIDGE:
                world = _without_fridge(world, change, city)
            case ChangeKind.ADD_VACCINATORS:
                world = _with_vaccinators(world, change, city, params)
    shut = [city.site_to_idx[one.site_id] for one in changes if one.kind is ChangeKind.CLOSE_SITE and one.site_id]
    return _sent_on(world, shut, city, params.assumed) if shut else world


def _closed(world: World, change: Change, city: City) -> World:
    site = city.site_to_idx[str(change.site_id)]
    starts, ends = world.day.closed_from.copy(), world.day.closed_until.copy()
    is_for_good = change.kind is ChangeKind.CLOSE_SITE
    starts[site] = world.epoch_minutes
    ends[site] = np.inf if is_for_good else world.epoch_minutes + change.minutes
    return replace(world, day=replace(world.day, closed_from=starts, closed_until=ends), ready=None)


def _sent_on(world: World, shut: Sequence[int], city: City, assumed: SimulationParams) -> World:
    """
    Those who wait at closed sites and those who would come: a share goes to the neighbours, the others go home.

    Who stays in a closed site's lists is turned away at its door.
    """
    closed = np.zeros(city.num_sites, dtype=bool)
    closed[list(shut)] = True
    flow, going = emptied_queues(world.flow, closed)
    coming, walk_ins = world.coming_people.copy(), world.walk_ins_people.copy()
    minute = world.minute_of_day
    coming[closed, min(minute, DAY_MINUTES - 1)] += going[closed].sum(axis=-1).astype(np.int32)
    for site in shut:
        neighbours = _taking(site, closed, city)
        if neighbours:
            would_come = coming[site] + walk_ins[site]
            follow = _every(would_come, assumed.walk_in_follows_share)
            coming[site], walk_ins[site] = would_come - follow, 0
            _arrive(coming, follow, neighbours)
    gone = world.totals.gone + np.where(closed[:, None], going, 0)
    return replace(
        world, flow=flow, coming_people=coming, walk_ins_people=walk_ins, totals=replace(world.totals, gone=gone)
    )


def _taking(site: int, closed: BoolArray, city: City) -> list[tuple[int, int]]:
    """Position and whole minutes of way of the sites that take a closed one's people, nearest first."""
    found = [
        (int(idx), round(float(travel)))
        for idx, travel in zip(city.neighbour_idx[site], city.neighbour_travel_minutes[site], strict=True)
        if idx >= 0 and not closed[idx]
    ]
    return found[:TAKING_NEIGHBOURS]


def _every(people: IntArray, share: float) -> IntArray:
    """So large a share of people, told off evenly along the day."""
    up_to = np.floor(np.cumsum(people) * share + 1e-9).astype(people.dtype)
    told_off: IntArray = np.diff(up_to, prepend=people.dtype.type(0))
    return told_off


def _arrive(coming: IntArray, people: IntArray, neighbours: Sequence[tuple[int, int]]) -> None:
    """Add people to the lists of neighbours, one after the other, so many minutes later."""
    left = people.copy()
    for position, (idx, minutes) in enumerate(neighbours):
        part = _every(left, 1 / (len(neighbours) - position))
        left = left - part
        when = np.minimum(np.arange(DAY_MINUTES) + minutes, DAY_MINUTES - 1)
        np.add.at(coming[idx], when, part)


def _without_fridge(world: World, change: Change, city: City) -> World:
    site = city.site_to_idx[str(change.site_id)]
    ids = [fridge.fridge_id for fridge in city.sites[site].fridges]
    slot = ids.index(change.fridge_id) if change.fridge_id in ids else 0
    fails = world.day.fridge_fails_at.copy()
    fails[site, slot] = world.epoch_minutes
    return replace(world, day=replace(world.day, fridge_fails_at=fails))


def _with_vaccinators(world: World, change: Change, city: City, params: StepParams) -> World:
    added = _where_added(world, change, city, params)
    people, last_shift = world.staff_people.copy(), int(np.argmax(world.day.shift_ends))
    people[:, VACCINATOR_IDX, VACCINATOR_IDX, last_shift, 0] += added
    stations = world.stations_open.copy()
    stations[:, VACCINATOR_IDX] = np.minimum(
        stations[:, VACCINATOR_IDX] + added, params.stations_possible[:, VACCINATOR_IDX]
    )
    return with_staff(replace(world, stations_open=stations, ready=None), people)


def _where_added(world: World, change: Change, city: City, params: StepParams) -> IntArray:
    """One after the other to the site where most people wait for each needle and a station is free, (S,)."""
    added = np.zeros(city.num_sites, dtype=np.int64)
    if change.site_id is not None:
        added[city.site_to_idx[change.site_id]] = change.people
        return added
    at_needles, possible = world.stations_open[:, VACCINATOR_IDX], params.stations_possible[:, VACCINATOR_IDX]
    waiting: FloatArray = world.queued_people.sum(axis=-1)
    for _ in range(change.people):
        is_free = at_needles + added < possible
        each = np.where(is_free, waiting / np.maximum(at_needles + added, 1), -1.0)
        added[int(np.argmax(each))] += 1
    return added
