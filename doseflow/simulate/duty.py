"""Who works now: shifts that begin and end, breaks, people at work, stations that can serve, and how fast."""

from __future__ import annotations

from dataclasses import replace

from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX
from doseflow.simulate.arrays import at_least_zero, device_of, namespace, where
from doseflow.simulate.breaks import people_resting, worked_hours
from doseflow.simulate.draws import Array
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import NUM_SERVED, World, with_staff


def people_on_break(world: World, params: StepParams) -> Array:
    """(S, R)."""
    people, day = world.on_duty_people, world.day
    resting = people_resting(people, world.epoch_minutes, day.shift_starts, day.shift_ends, params.assumed)
    return namespace(people).sum(resting, axis=-1)


def people_at_work(world: World, params: StepParams) -> Array:
    """People on duty who are not on their break, by the role they work as, (S, R)."""
    xp = namespace(world.on_duty_people)
    return xp.sum(world.on_duty_people, axis=-1) - people_on_break(world, params)


def pace(world: World, params: StepParams) -> Array:
    """
    Service times are multiplied by this for tiredness, (S, N), float32.

    It grows with the mean hours that the people of a role have worked beyond the hours that leave no trace.
    """
    assumed, xp = params.assumed, namespace(world.on_duty_people)
    people = xp.astype(world.on_duty_people[..., :NUM_SERVED, :], xp.float64)
    hours = at_least_zero(worked_hours(world.epoch_minutes, world.day.shift_starts) - assumed.fatigue_after_hours)
    sums = people @ xp.stack([hours, xp.ones_like(hours)], axis=-1)
    tired_hours, everybody = sums[..., 0], sums[..., 1]
    mean_hours = tired_hours / (everybody + (everybody == 0))
    return xp.astype(1 + assumed.fatigue_slowdown_share_per_hour * mean_hours, xp.float32)


def usable_seats(posts_staffed: Array, params: StepParams) -> Array:
    """Seats that somebody watches, (S,)."""
    xp = namespace(posts_staffed)
    return xp.minimum(params.seats_possible, posts_staffed[..., OBSERVATION_IDX] * params.seats_per_observer)


def is_serving(world: World, params: StepParams) -> Array:
    """Sites inside their hours, or not long past them, (S,)."""
    day, now = world.day, world.epoch_minutes
    in_hours = (day.opens <= now) & (now < day.closes + params.assumed.overtime_minutes)
    return day.works_today & in_hours & ~day.is_closed_by_incident(now)


def has_ended(world: World, params: StepParams) -> Array:
    """Sites whose day is over, (S,): past closing and overtime."""
    return world.epoch_minutes >= world.day.closes + params.assumed.overtime_minutes


def change_shifts(world: World, params: StepParams) -> World:
    """Send home whose shift has ended in this step and bring on duty whose shift begins."""
    before, now, day = world.epoch_minutes - params.assumed.step_minutes, world.epoch_minutes, world.day
    begins = (before < day.shift_starts) & (day.shift_starts <= now)
    ends = (before < day.shift_ends) & (day.shift_ends <= now)
    xp = namespace(begins)
    return with_shifts(world, begins, ends, params) if bool(xp.any(begins | ends)) else world


def with_shifts(world: World, begins: Array, ends: Array, params: StepParams) -> World:
    """
    The world with these shifts begun and ended, truth values, (H,).

    Where a shift changes, the site opens as many stations as it has people; otherwise only orders open or close them.
    """
    xp, rostered = namespace(world.staff_people), world.day.rostered_people
    staff = where(~(begins | ends)[:, None], world.staff_people)
    coming = where(begins, rostered)
    own_role = xp.eye(NUM_ROLES, dtype=staff.dtype, device=device_of(staff))[:, :, None]
    own = staff[..., 0] + coming[..., None, :, :] * own_role
    staff = xp.concat([own[..., None], staff[..., 1:]], axis=-1)
    world = with_staff(world, staff)
    changed = xp.sum(where(begins | ends, rostered), axis=(-2, -1)) > 0
    stations = xp.minimum(xp.sum(world.on_duty_people, axis=-1), params.stations_possible)
    return replace(world, stations_open=xp.where(changed[..., None], stations, world.stations_open))
