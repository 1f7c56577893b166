"""
The transition: `step(world, draws, params)` makes the world one step later, and never writes to the one it was given.

In a step, in this order: things arrive; shifts change; people come, some turn at the door; services and stays end, some
who wait give up, free stations take the longest waiting; vials are drawn; then, once a period, fridges drift, and past
closing everybody is sent home. The order is fixed and chance is drawn in the same amounts whatever is decided, so that
the same seed gives the same day to every planner.
"""

from __future__ import annotations

from dataclasses import replace

from doseflow.domain.roles import VACCINATION_IDX
from doseflow.simulate.arrays import namespace
from doseflow.simulate.cold_store import cooled, fetched_by_fridge
from doseflow.simulate.coming import Comers, begins_period, people_coming
from doseflow.simulate.draws import Array, Draws
from doseflow.simulate.duty import change_shifts, has_ended, is_serving, posts, usable_seats, with_people_at_work
from doseflow.simulate.flow import Flow, FlowCounts, emptied_queues, flow_step
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.trips import arrive
from doseflow.simulate.vials import discard_expired, discard_opened, draw_doses, is_usable, usable_doses
from doseflow.simulate.world import NUM_SERVED, Totals, World


def step(world: World, draws: Draws, params: StepParams) -> World:
    """
    The world `step_minutes` later.

    What changes slowly is looked at once a period, in the step that ends first in it: breaks, tiredness, bookings,
    fridges (minute by minute), and vials that have been open too long.
    """
    world = replace(world, epoch_minutes=world.epoch_minutes + params.assumed.step_minutes)
    is_new_period = begins_period(world, params)
    world = change_shifts(arrive(world), params)
    if is_new_period or world.on_duty_people is not world.counted_people:
        world = with_people_at_work(world, params)
    posts_staffed = posts(world)
    world, comers = people_coming(world, posts_staffed, draws, params)
    usable = is_usable(world.lots, world.epoch_minutes, params)
    flow, counts = _let_flow(world, comers, posts_staffed, usable, draws, params)
    lots, opened_vials = draw_doses(world.lots, counts.started[..., -1], usable, world.epoch_minutes, params)
    fetched = world.fetched_vials + fetched_by_fridge(opened_vials, lots, world.fridges)
    totals = _counted(world, comers, counts, posts_staffed, params)
    world = replace(world, flow=flow, lots=lots, totals=totals, fetched_vials=fetched)
    return _tidied(world, draws, params) if is_new_period else world


def _let_flow(
    world: World, comers: Comers, posts_staffed: Array, usable: Array, draws: Draws, params: StepParams
) -> tuple[Flow, FlowCounts]:
    """Move everybody inside; nobody starts outside the hours, or at the needle without a dose and room to sit."""
    xp = namespace(posts_staffed)
    served_posts = posts_staffed[..., :NUM_SERVED] * is_serving(world, params)[..., None]
    limit = xp.minimum(_room(world, posts_staffed, params), usable_doses(world.lots, usable))
    return flow_step(
        world.flow,
        comers.staying,
        xp.astype(served_posts, xp.int32),
        xp.astype(limit, xp.int32),
        draws,
        params.flow,
        world.pace,
    )


def _room(world: World, posts_staffed: Array, params: StepParams) -> Array:
    """People who may come to the needle, (S,): seats that are watched, and some standing room, less who has it."""
    xp, flow = namespace(posts_staffed), world.flow
    seats = usable_seats(posts_staffed, params)
    standing_room = xp.astype(xp.ceil(seats * (1 + params.assumed.standing_share)), xp.int64)
    return standing_room - flow.seated + flow.rising - flow.in_service[..., VACCINATION_IDX]


def _counted(world: World, comers: Comers, counts: FlowCounts, posts_staffed: Array, params: StepParams) -> Totals:
    """The totals with what came, flowed and worked in this step."""
    xp, totals, minutes = namespace(posts_staffed), world.totals, params.assumed.step_minutes
    busy = counts.busy_minutes
    staffed = xp.maximum(xp.astype(posts_staffed[..., :NUM_SERVED], xp.float64) * minutes, busy)
    past_closing = xp.astype(world.epoch_minutes >= world.day.closes, xp.float64)
    return replace(
        totals,
        arrived=totals.arrived + comers.arrived,
        walked_in=totals.walked_in + comers.walked_in,
        diverted=totals.diverted + comers.diverted,
        balked=totals.balked + comers.balked,
        turned_away=totals.turned_away + comers.turned_away,
        left=totals.left + xp.sum(counts.left, axis=-1),
        served=totals.served + counts.finished,
        started=totals.started + counts.started,
        joined=totals.joined + counts.joined,
        gone=totals.gone + counts.started + counts.left,
        waited_minutes=totals.waited_minutes + counts.waited_minutes,
        busy_minutes=totals.busy_minutes + busy,
        staffed_minutes=totals.staffed_minutes + staffed,
        overtime_minutes=totals.overtime_minutes + past_closing * xp.sum(busy, axis=-1),
        doses_given=totals.doses_given + counts.started[..., -1],
    )


def _tidied(world: World, draws: Draws, params: StepParams) -> World:
    """
    The world after its fridges have been looked at and vials past their in-use life thrown away.

    Where a day has ended, who still waits is turned away, while who is served or sits stays to the end; all that is
    open and all that has expired is thrown away.
    """
    xp, ended, totals, flow = namespace(world.stations_open), has_ended(world, params), world.totals, world.flow
    fridges, lots = cooled(world, world.lots, draws, params)
    lots, wasted = discard_opened(lots, world.epoch_minutes, ended)
    totals = replace(totals, doses_wasted=totals.doses_wasted + wasted)
    if bool(xp.any(ended)):
        flow, going = emptied_queues(flow, ended)
        lots, expired = discard_expired(lots, world.epoch_minutes, ended)
        totals = replace(
            totals,
            turned_away=totals.turned_away + xp.sum(going, axis=-1),
            gone=totals.gone + going,
            doses_expired=totals.doses_expired + expired,
        )
    fetched = xp.zeros_like(world.fetched_vials)
    return replace(world, flow=flow, lots=lots, fridges=fridges, fetched_vials=fetched, totals=totals)
