"""
The transition: `step(world, rng, params)` makes the world one step later, and never writes to the one it was given.

In a step, in this order: things arrive; shifts change; people finish a service or leave their seat; people come, some
turn at the door; some who wait give up; free stations take the longest waiting; vials are drawn; fridges drift; past
closing everybody is sent home. The order is fixed so that the same seed gives the same path.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from doseflow.domain.city import BoolArray, IntArray
from doseflow.domain.roles import OBSERVATION_IDX, VACCINATION_IDX
from doseflow.simulate.cold_store import by_fridge, cool
from doseflow.simulate.coming import Comers, people_coming
from doseflow.simulate.duty import change_shifts, has_ended, is_serving, posts, usable_seats
from doseflow.simulate.queues import aged, leaving, taken_oldest_first, waited_minutes
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.trips import arrive
from doseflow.simulate.vials import discard_expired, discard_opened, draw_doses, usable_doses
from doseflow.simulate.world import NUM_SERVED, Totals, World


@dataclass(frozen=True)
class StepCounts:
    """What happened in one step at each site, (S,); `started` by stage, (S, R)."""

    arrived: IntArray
    balked: IntArray
    left: IntArray
    turned_away: IntArray
    served: IntArray
    started: IntArray
    doses_given: IntArray
    doses_wasted: IntArray


def step(world: World, rng: np.random.Generator, params: StepParams) -> tuple[World, StepCounts]:
    """The world `step_minutes` later, and what happened in between."""
    before = world.totals
    world = replace(world, epoch_minutes=world.epoch_minutes + params.assumed.step_minutes)
    world = change_shifts(arrive(world), params)
    posts_staffed = posts(world, params)
    world = _pass_time(world, posts_staffed, params)
    world = _finish(world, rng, params)
    world, comers = people_coming(world, posts_staffed, rng, params)
    world = _join(world, comers)
    world = _give_up(world, rng, params)
    world, opened_vials = _start(world, posts_staffed, rng, params)
    world = cool(world, by_fridge(opened_vials, world.lots, world.fridges), rng, params)
    world = _close(world, params)
    return world, _counts(before, world)


def _pass_time(world: World, posts_staffed: IntArray, params: StepParams) -> World:
    """Count the waiting and the work of the step that has passed, and make everybody who waits a step older."""
    minutes, totals = params.assumed.step_minutes, world.totals
    in_service = world.in_service_people
    staffed = np.maximum(posts_staffed[..., :NUM_SERVED], in_service)
    totals = replace(
        totals,
        waited_minutes=totals.waited_minutes + world.queued_people * minutes,
        busy_minutes=totals.busy_minutes + in_service.sum(axis=-1) * minutes,
        staffed_minutes=totals.staffed_minutes + staffed.sum(axis=-1) * minutes,
    )
    return replace(world, totals=totals, waiting_people=aged(world.waiting_people))


def _finish(world: World, rng: np.random.Generator, params: StepParams) -> World:
    """End services and stays whose time is up; who is done joins the next stage's queue."""
    in_random = world.in_random_service + world.in_fixed_service[..., 0]
    in_fixed = np.zeros_like(world.in_fixed_service)
    in_fixed[..., :-1] = world.in_fixed_service[..., 1:]
    done = rng.binomial(in_random, params.finish_share)
    waiting = world.waiting_people.copy()
    waiting[..., 1:, 0] += done.astype(waiting.dtype)
    seated = np.zeros_like(world.seated_people)
    seated[..., :-1] = world.seated_people[..., 1:]
    return replace(
        world,
        in_fixed_service=in_fixed,
        in_random_service=in_random - done,
        waiting_people=waiting,
        seated_people=seated,
        totals=replace(world.totals, served=world.totals.served + world.seated_people[..., 0]),
    )


def _join(world: World, comers: Comers) -> World:
    """Who has come and stays joins the first queue."""
    waiting, totals = world.waiting_people.copy(), world.totals
    waiting[..., 0, 0] += comers.staying.astype(waiting.dtype)
    totals = replace(
        totals,
        arrived=totals.arrived + comers.arrived,
        walked_in=totals.walked_in + comers.walked_in,
        diverted=totals.diverted + comers.diverted,
        balked=totals.balked + comers.balked,
        turned_away=totals.turned_away + comers.turned_away,
    )
    return replace(world, waiting_people=waiting, totals=totals)


def _give_up(world: World, rng: np.random.Generator, params: StepParams) -> World:
    """Some of those who wait long for a station leave; nobody leaves between the needle and the seat."""
    assumed = params.assumed
    from_step = round(assumed.leave_after_minutes / assumed.step_minutes)
    if from_step >= world.waiting_people.shape[-1]:
        return world
    share = 1 - (1 - assumed.leave_per_minute_share) ** assumed.step_minutes
    left = leaving(world.waiting_people[..., :NUM_SERVED, :], from_step, share, rng)
    if not left.any():
        return world
    waiting = world.waiting_people.copy()
    waiting[..., :NUM_SERVED, :] -= left
    totals = replace(world.totals, left=world.totals.left + left.sum(axis=(-2, -1)))
    return replace(world, waiting_people=waiting, totals=totals)


def _start(
    world: World, posts_staffed: IntArray, rng: np.random.Generator, params: StepParams
) -> tuple[World, IntArray]:
    """Free stations and seats take who has waited longest; also the vials opened, (S, L)."""
    seats = usable_seats(posts_staffed, params)
    wanted = _wanted_starts(world, posts_staffed, seats, params)
    taken = taken_oldest_first(world.waiting_people, wanted)
    started = np.minimum(wanted, world.queued_people)
    lots, opened_vials = draw_doses(world.lots, started[..., VACCINATION_IDX], world.epoch_minutes, params)
    in_fixed, in_random = world.in_fixed_service.copy(), world.in_random_service.copy()
    for stage, steps in enumerate(params.fixed_steps):
        if steps:
            in_fixed[..., stage, steps - 1] += started[..., stage]
        else:
            in_random[..., stage] += started[..., stage]
    totals = world.totals
    totals = replace(
        totals,
        started=totals.started + started,
        waited_started_minutes=totals.waited_started_minutes + waited_minutes(taken, params.assumed.step_minutes),
        doses_given=totals.doses_given + started[..., VACCINATION_IDX],
    )
    world = replace(
        world,
        waiting_people=world.waiting_people - taken,
        in_fixed_service=in_fixed,
        in_random_service=in_random,
        seated_people=_seated(world.seated_people, started[..., OBSERVATION_IDX], rng, params),
        lots=lots,
        totals=totals,
    )
    return world, opened_vials


def _wanted_starts(world: World, posts_staffed: IntArray, seats: IntArray, params: StepParams) -> IntArray:
    """
    How many each stage could take, (S, R): free posts; at the needle also doses and room to sit afterwards; free
    seats.
    """
    in_service, seated = world.in_service_people, world.seated_people.sum(axis=-1)
    free = np.maximum(posts_staffed[..., :NUM_SERVED] - in_service, 0) * is_serving(world, params)[..., None]
    waiting_for_seat = world.queued_people[..., OBSERVATION_IDX]
    standing_room = np.ceil(seats * (1 + params.assumed.standing_share)).astype(np.int64)
    room = standing_room - seated - waiting_for_seat - in_service[..., VACCINATION_IDX]
    doses = usable_doses(world.lots, world.epoch_minutes, params)
    free[..., VACCINATION_IDX] = np.clip(np.minimum(room, doses), 0, free[..., VACCINATION_IDX])
    return np.concatenate([free, np.maximum(seats - seated, 0)[..., None]], axis=-1)


def _seated(seated: IntArray, people: IntArray, rng: np.random.Generator, params: StepParams) -> IntArray:
    longer = rng.binomial(people, params.assumed.long_observation_share)
    seated = seated.copy()
    seated[..., max(params.stay_steps, 1) - 1] += people - longer
    seated[..., max(params.long_stay_steps, 1) - 1] += longer
    return seated


def _close(world: World, params: StepParams) -> World:
    """
    Where a day has ended, send home who still waits and throw away what is open; elsewhere, vials past their in-use
    life.
    """
    ended = has_ended(world, params)
    lots, wasted = discard_opened(world.lots, world.epoch_minutes, ended)
    lots, expired = discard_expired(lots, world.epoch_minutes, ended)
    totals = world.totals
    totals = replace(totals, doses_wasted=totals.doses_wasted + wasted, doses_expired=totals.doses_expired + expired)
    world = replace(world, lots=lots, totals=totals)
    return _send_home(world, ended) if ended.any() else world


def _send_home(world: World, ended: BoolArray) -> World:
    """Who waits for a station is turned away; who waits for a seat has had the needle and counts as served."""
    going = np.where(ended[..., None], world.queued_people, 0)
    if not going.any():
        return world
    totals = replace(
        world.totals,
        turned_away=world.totals.turned_away + going[..., :NUM_SERVED].sum(axis=-1),
        served=world.totals.served + going[..., OBSERVATION_IDX],
    )
    waiting = np.where(ended[..., None, None], 0, world.waiting_people).astype(world.waiting_people.dtype)
    return replace(world, waiting_people=waiting, totals=totals)


def _counts(before: Totals, world: World) -> StepCounts:
    since = {item.name: getattr(world.totals, item.name) - getattr(before, item.name) for item in fields(StepCounts)}
    return StepCounts(**since)
