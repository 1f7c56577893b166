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
from doseflow.simulate.cold_store import cooled
from doseflow.simulate.coming import Comers, ends_period, people_coming
from doseflow.simulate.draws import Draws
from doseflow.simulate.duty import change_shifts, has_ended
from doseflow.simulate.flow import Flow, FlowCounts, emptied_queues, flow_step
from doseflow.simulate.readiness import is_ready, made_ready, with_doses_drawn
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.trips import arrive
from doseflow.simulate.vials import discard_expired, discard_opened
from doseflow.simulate.world import NUM_SERVED, Readiness, Totals, World


def step(world: World, draws: Draws, params: StepParams) -> World:
    """
    The world `step_minutes` later.

    What changes slowly is looked at once a period, in the step that ends with it: what sites can do, bookings, vials,
    and fridges (minute by minute).
    """
    world = replace(world, epoch_minutes=world.epoch_minutes + params.assumed.step_minutes)
    world = change_shifts(arrive(world, params), params)
    if world.ready is None or not is_ready(world):
        world = made_ready(world, params)
    world, comers = people_coming(world, _ready(world).balk_share, draws, params)
    flow, counts = _let_flow(world, comers, draws, params)
    owed = world.owed_doses + counts.started[..., -1]
    world = replace(world, flow=flow, totals=_counted(world, comers, counts, params), owed_doses=owed)
    return made_ready(_tidied(world, draws, params), params) if ends_period(world, params) else world


def _let_flow(world: World, comers: Comers, draws: Draws, params: StepParams) -> tuple[Flow, FlowCounts]:
    """Move everybody inside; nobody starts outside the hours, or at the needle without a dose and room to sit."""
    xp, flow, ready = namespace(world.stations_open), world.flow, _ready(world)
    room = ready.standing_room - flow.seated + flow.rising - flow.in_service[..., VACCINATION_IDX]
    limit = xp.minimum(room, ready.usable_doses - world.owed_doses)
    limit = xp.astype(limit, xp.int32)
    return flow_step(flow, comers.staying, ready.serving_posts, limit, draws, params.flow, ready.pace)


def _ready(world: World) -> Readiness:
    assert world.ready is not None, "a step makes the world ready first"  # noqa: S101 - an invariant of this file
    return world.ready


def _counted(world: World, comers: Comers, counts: FlowCounts, params: StepParams) -> Totals:
    """The totals with what came, flowed and worked in this step."""
    xp, totals, busy = namespace(world.stations_open), world.totals, counts.busy_minutes
    staffed = xp.maximum(_ready(world).posts[..., :NUM_SERVED] * params.assumed.step_minutes, busy)
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
    world = with_doses_drawn(world, params)
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
