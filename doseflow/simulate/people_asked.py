"""
Staff that neighbours ask for, all at once: who goes, from which shift, to whom, and when they arrive.

Axes: B replicas, S givers, J askers of a giver, R roles, G groups of one role (home role and shift).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doseflow.simulate.arrays import at_least_zero, device_of, flat, namespace, where
from doseflow.simulate.decision_arrays import Neighbourhood
from doseflow.simulate.draws import Array
from doseflow.simulate.table import Table
from doseflow.simulate.world import World, with_staff


def with_people_sent(world: World, people_asked: Array, around: Neighbourhood) -> World:
    """
    The world with staff on their way to who asked for them, (B, S, K, R).

    Only those go who have not moved in this shift and stay long enough where they arrive; a giver keeps its minimum
    team and gives at most the share of a role that may leave at once. Of those, the last to end their shift go first.
    """
    xp = namespace(world.staff_people)
    wanted = _wanted_of_givers(xp, people_asked, around)
    groups = _groups(xp, world, around)
    may_go = xp.minimum(xp.sum(groups, axis=-1), _spare_people(xp, world, around))
    given = _in_turn(xp, wanted, may_go)
    by_group = _overlaps(xp, given, groups)
    if not bool(xp.any(by_group > 0)):
        return world
    world = with_staff(world, world.staff_people - _as_staff(xp, xp.sum(by_group, axis=-3), world))
    return replace(world, staff_trips=world.staff_trips.followed_by(_trips(xp, by_group, world, around)))


def _wanted_of_givers(xp: Any, people_asked: Array, around: Neighbourhood) -> Array:
    """What each giver is asked for, (B, S, J, R); nothing over ways that are too long."""
    reachable = around.travel_minutes <= around.max_travel_minutes
    asked = at_least_zero(people_asked) * reachable[..., None]
    slots = around.neighbour_idx.shape[-1]
    by_pair = xp.reshape(asked, (*asked.shape[:-3], -1, asked.shape[-1]))
    position = at_least_zero(around.asker * slots + around.asker_slot)
    chosen = xp.take(by_pair, flat(position), axis=-2)
    chosen = xp.reshape(chosen, (*asked.shape[:-3], *position.shape, asked.shape[-1]))
    return where((around.asker >= 0)[..., None], chosen)


def _groups(xp: Any, world: World, around: Neighbourhood) -> Array:
    """People who may be sent by role worked as and group, those with the longest shift first, (B, S, R, G)."""
    fresh = world.staff_people[..., 0]
    by_role = xp.moveaxis(fresh, -3, -2)
    # A way is at most so long, so who passes this stays long enough wherever he goes.
    usable = world.day.shift_ends - world.epoch_minutes >= around.max_travel_minutes + around.min_stay_minutes
    by_role = where(usable, by_role)
    order = xp.argsort(-world.day.shift_ends, stable=True)
    ordered = xp.take(by_role, order, axis=-1)
    ordered = xp.moveaxis(ordered, -1, -2)
    return xp.reshape(ordered, (*ordered.shape[:-2], -1))


def _spare_people(xp: Any, world: World, around: Neighbourhood) -> Array:
    """People of each role that a site may give now, (B, S, R)."""
    people = xp.sum(world.on_duty_people, axis=-1)
    share = xp.astype(xp.floor(people * around.max_moved_share), people.dtype)
    one = xp.astype(people > 0, people.dtype)
    return xp.minimum(xp.maximum(share, one), at_least_zero(people - around.minimum_team_people))


def _in_turn(xp: Any, wanted: Array, may_go: Array) -> Array:
    """What each asker gets, (B, S, J, R): the giver's own order, each as far as it lasts."""
    before = xp.cumulative_sum(wanted, axis=-2) - wanted
    return xp.minimum(wanted, at_least_zero(may_go[..., None, :] - before))


def _overlaps(xp: Any, given: Array, groups: Array) -> Array:
    """How many of each group go to each asker, (B, S, J, R, G): two queues of people laid side by side."""
    end_given = xp.cumulative_sum(given, axis=-2)
    end_group = xp.cumulative_sum(groups, axis=-1)
    start_given, start_group = end_given - given, end_group - groups
    end = xp.minimum(end_given[..., None], end_group[..., None, :, :])
    return at_least_zero(end - xp.maximum(start_given[..., None], start_group[..., None, :, :]))


def _as_staff(xp: Any, leaving: Array, world: World) -> Array:
    """People by role and group, (B, S, R, G), in the axes of `staff_people`, who have made no move."""
    home, _, shifts, moves = world.staff_people.shape[-4:]
    by_shift = xp.reshape(leaving, (*leaving.shape[:-1], shifts, home))
    order = xp.argsort(-world.day.shift_ends, stable=True)
    in_place = xp.take(by_shift, xp.argsort(order, stable=True), axis=-2)
    by_role = xp.moveaxis(xp.moveaxis(in_place, -1, -2), -3, -2)
    nobody = xp.zeros((*by_role.shape, moves - 1), dtype=by_role.dtype, device=device_of(by_role))
    return xp.concat([by_role[..., None], nobody], axis=-1)


def _trips(xp: Any, by_group: Array, world: World, around: Neighbourhood) -> Table:
    """A row for everybody who sets out together."""
    lead = by_group.ndim - 4
    where_to = xp.nonzero(by_group)
    people = by_group[where_to]
    giver, pair, role, group = where_to[lead:]
    asker, slot = around.asker[giver, pair], around.asker_slot[giver, pair]
    home = world.staff_people.shape[-4]
    order = xp.argsort(-world.day.shift_ends, stable=True)
    replica = where_to[0] if lead else xp.zeros_like(asker)
    return Table(
        {
            "to_idx": replica * around.asker.shape[0] + asker,
            "home_idx": group % home,
            "works_as_idx": role,
            "shift_idx": xp.take(order, group // home),
            "moves": xp.ones_like(asker),
            "people": people,
            "arrives": world.epoch_minutes + around.travel_minutes[asker, slot],
        }
    )
