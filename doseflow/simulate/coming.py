"""Who comes in a step: booked people at their minute, walk-ins at theirs, and those sent on by other sites."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from doseflow.simulate.arrays import added_at, flat, namespace, where
from doseflow.simulate.day_profile import DAY_MINUTES
from doseflow.simulate.draws import Array, Draws, rounded_by_chance
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Table, rounds
from doseflow.simulate.world import World
from doseflow.units import PERIOD_MINUTES

BOOKING_MINUTES = 15.0
"""So often offered slots are booked."""


@dataclass(frozen=True)
class Comers:
    """
    People of one step by site, (S,).

    `arrived` came to the door: of them `balked` saw the queue and went, `turned_away` found it shut, `staying`
    joined it. `diverted` walk-ins were sent to another site before they came and are not among the arrived.
    """

    arrived: Array
    walked_in: Array
    diverted: Array
    balked: Array
    turned_away: Array
    staying: Array


def people_coming(world: World, balk_share: Array, draws: Draws, params: StepParams) -> tuple[World, Comers]:
    """Who comes in the step that ends now; of those at the door, a share, (S,), turns."""
    xp = namespace(world.coming_people)
    if ends_period(world, params) and world.minute_of_day % BOOKING_MINUTES < PERIOD_MINUTES:
        world = book_free_slots(world, draws, params)
    booked, walked_in = (_of_step(people, world, params) for people in (world.coming_people, world.walk_ins_people))
    world, diverted = _divert(world, walked_in, params)
    walked_in = walked_in - diverted
    arrived = booked + walked_in
    day, now = world.day, world.epoch_minutes
    is_shut = (now >= day.closes) | ~day.works_today | day.is_closed_by_incident(now)
    turned_away = where(is_shut, arrived)
    expected = xp.astype(arrived - turned_away, xp.float32) * balk_share
    balked = xp.minimum(rounded_by_chance(xp, expected, draws.uniform(tuple(arrived.shape))), arrived - turned_away)
    return world, Comers(arrived, walked_in, diverted, balked, turned_away, arrived - turned_away - balked)


def ends_period(world: World, params: StepParams) -> bool:
    """Whether the step that ends now ends a period."""
    into = (world.epoch_minutes - world.day.midnight) % PERIOD_MINUTES
    return bool(into < params.assumed.step_minutes - 1e-9)


def _of_step(people: Array, world: World, params: StepParams) -> Array:
    """People of the whole minutes that this step completes, (S,), int32."""
    xp, since_midnight = namespace(people), world.epoch_minutes - world.day.midnight
    until = math.floor(since_midnight + 1e-9)
    start = math.floor(since_midnight - params.assumed.step_minutes + 1e-9)
    minutes = people[..., max(start, 0) : max(min(until, DAY_MINUTES), 0)]
    return xp.sum(minutes, axis=-1, dtype=xp.int32)


def book_free_slots(world: World, draws: Draws, params: StepParams) -> World:
    """
    Let offered slots that are still ahead be booked, once a quarter of an hour; who books one comes, or not, like all.

    Nobody who books now can have come before now. Who books a slot in the same quarter comes at the same minute. Which
    slots are taken is a systematic sample: one number a site, so that chance is used up alike whatever is free.
    """
    xp = namespace(world.free_slots)
    share = 1 - math.exp(-BOOKING_MINUTES / params.assumed.slot_booking_mean_minutes)
    chance = draws.uniform((*world.free_slots.shape[:-1], 1))
    first = min(world.minute_of_day // PERIOD_MINUTES + 1, world.free_slots.shape[-1])
    last_closing = float(xp.max(world.day.closes)) - world.day.midnight
    last = max(first, math.ceil(last_closing / PERIOD_MINUTES))
    up_to = xp.cumulative_sum(world.free_slots[..., first:last], axis=-1, include_initial=True) * share
    up_to = xp.floor(up_to + chance)
    booked = xp.astype(up_to[..., 1:] - up_to[..., :-1], world.free_slots.dtype)
    if not bool(xp.any(booked > 0)):
        return world
    before, after = (xp.zeros_like(world.free_slots[..., part]) for part in (slice(first), slice(last, None)))
    taken = xp.concat([before, booked, after], axis=-1)
    return replace(
        world,
        free_slots=world.free_slots - taken,
        booked_people=world.booked_people + taken,
        coming_people=_with_new_comers(xp, world, taken),
    )


def _with_new_comers(xp: Any, world: World, taken: Array) -> Array:
    """The minutes at which people come, with those who have just booked, (S, 1440)."""
    people_taken = flat(taken)
    at = xp.nonzero(people_taken)[0]
    site, period = at // taken.shape[-1], at % taken.shape[-1]
    comes_share = flat(world.day.habits.comes_share)
    chance, early = (flat(of_slot)[at % math.prod(of_slot.shape)] for of_slot in _habits(world))
    people = rounded_by_chance(xp, people_taken[at] * comes_share[site % comes_share.shape[-1]], chance)
    minute = xp.round(period * PERIOD_MINUTES - early)
    minute = xp.astype(xp.clip(minute, world.minute_of_day + 1, DAY_MINUTES - 1), xp.int64)
    return added_at(world.coming_people, site * DAY_MINUTES + minute, people)


def _habits(world: World) -> tuple[Array, Array]:
    return world.same_day.show_chance, world.same_day.early_minutes


def _divert(world: World, walked_in: Array, params: StepParams) -> tuple[World, Array]:
    """Walk-ins sent to a neighbour: most go, and come there after the way."""
    xp = namespace(walked_in)
    diverted = xp.zeros_like(walked_in)
    if not len(world.diversions):
        return world, diverted
    table = world.diversions
    table = table.where((table["until"] > world.epoch_minutes) & (table["people"] > 0))
    coming, left_over = world.coming_people, table.where(table["people"] < 0)
    for part in rounds(table, "from_idx"):
        part, coming, diverted = _divert_once(world, part, coming, walked_in, diverted, params)
        left_over = left_over.followed_by(part)
    return replace(world, diversions=left_over, coming_people=coming), diverted


def _divert_once(
    world: World, part: Table, coming: Array, walked_in: Array, diverted: Array, params: StepParams
) -> tuple[Table, Array, Array]:
    xp, site = namespace(walked_in), part["from_idx"]
    there = xp.astype(xp.reshape(walked_in - diverted, (-1,))[site], xp.int64)
    asked = xp.minimum(part["people"], there)
    # The share that follows is kept exactly over the whole order: its rounding runs through the people asked so far.
    share = params.assumed.walk_in_follows_share
    going = _floor(xp, part["people"] * share) - _floor(xp, (part["people"] - asked) * share)
    minute = world.minute_of_day + xp.astype(part["travel_minutes"], xp.int64)
    at = part["to_idx"] * DAY_MINUTES + xp.clip(minute, 0, DAY_MINUTES - 1)
    left = part.replacing(people=part["people"] - asked)
    return left, added_at(coming, at, going), added_at(diverted, site, going)


def _floor(xp: Any, values: Array) -> Array:
    return xp.astype(xp.floor(values + 1e-9), xp.int64)
