"""Who works now: shifts that begin and end, breaks, people at work, stations that can serve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, IntArray
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX
from doseflow.simulate.staffing import breaks_started
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import World


def people_by_role_and_shift(world: World) -> IntArray:
    """People on duty by the role they work as and their shift, (S, R, H)."""
    people: IntArray = world.staff_people.sum(axis=(-4, -1))
    return people


def people_on_break(world: World, params: StepParams) -> IntArray:
    """(S, R)."""
    people, day, assumed = people_by_role_and_shift(world), world.day, params.assumed
    begun = breaks_started(people, world.epoch_minutes, day.shift_starts, day.shift_ends, assumed)
    back_at = world.epoch_minutes - assumed.break_minutes
    away: IntArray = begun - breaks_started(people, back_at, day.shift_starts, day.shift_ends, assumed)
    on_break: IntArray = away.sum(axis=-1)
    return on_break


def people_at_work(world: World, params: StepParams) -> IntArray:
    """People on duty who are not on their break, by the role they work as, (S, R)."""
    on_duty: IntArray = people_by_role_and_shift(world).sum(axis=-1)
    return on_duty - people_on_break(world, params)


def posts(world: World, params: StepParams) -> IntArray:
    """Stations that are open and staffed, (S, R)."""
    return np.minimum(world.stations_open, people_at_work(world, params))


def usable_seats(posts_staffed: IntArray, params: StepParams) -> IntArray:
    """Seats that somebody watches, (S,)."""
    return np.minimum(params.seats_possible, posts_staffed[..., OBSERVATION_IDX] * params.seats_per_observer)


def is_serving(world: World, params: StepParams) -> BoolArray:
    """Sites inside their hours, or not long past them, (S,)."""
    day, now = world.day, world.epoch_minutes
    return day.works_today & (day.opens <= now) & (now < day.closes + params.assumed.overtime_minutes)


def has_ended(world: World, params: StepParams) -> BoolArray:
    """Sites whose day is over, (S,): past closing and overtime."""
    return world.epoch_minutes >= world.day.closes + params.assumed.overtime_minutes


def change_shifts(world: World, params: StepParams) -> World:
    """Send home whose shift has ended in this step and bring on duty whose shift begins."""
    before, now, day = world.epoch_minutes - params.assumed.step_minutes, world.epoch_minutes, world.day
    begins = np.flatnonzero((before < day.shift_starts) & (day.shift_starts <= now))
    ends = np.flatnonzero((before < day.shift_ends) & (day.shift_ends <= now))
    return with_shifts(world, begins, ends, params) if len(begins) or len(ends) else world


def with_shifts(world: World, begins: IntArray, ends: IntArray, params: StepParams) -> World:
    """
    The world with these shifts begun and ended.

    Where a shift changes, the site opens as many stations as it has people; otherwise only orders open or close them.
    """
    staff, rostered = world.staff_people.copy(), world.day.rostered_people
    staff[..., ends, :] = 0
    for role in range(NUM_ROLES):
        staff[..., role, role, begins, 0] = rostered[..., role, begins]
    changed = rostered[..., np.union1d(begins, ends)].sum(axis=(-2, -1)) > 0
    stations = np.minimum(staff.sum(axis=(-4, -2, -1)), params.stations_possible)
    return replace(
        world,
        staff_people=staff,
        stations_open=np.where(changed[..., None], stations, world.stations_open),
    )
