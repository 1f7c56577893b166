"""
What each site can do until something changes: posts, pace, room, doses, and who would turn at the door.

It is made once a period, and anew when people, stations or lots have changed; the steps in between only read it.
"""

from __future__ import annotations

from dataclasses import replace

from doseflow.simulate.arrays import namespace, where
from doseflow.simulate.cold_store import fetched_by_fridge
from doseflow.simulate.draws import Array
from doseflow.simulate.duty import is_serving, pace, people_at_work, usable_seats
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.vials import draw_doses, is_usable, usable_doses
from doseflow.simulate.world import NUM_SERVED, Readiness, World


def is_ready(world: World) -> bool:
    """Whether what was made still holds: nobody has come or gone, no station changed, no lot been touched."""
    ready = world.ready
    return (
        ready is not None
        and ready.on_duty_people is world.on_duty_people
        and ready.stations_open is world.stations_open
        and ready.lots is world.lots
    )


def made_ready(world: World, params: StepParams) -> World:
    """The world with what its sites can do now."""
    world = with_doses_drawn(world, params)
    xp = namespace(world.stations_open)
    at_work = people_at_work(world, params)
    posts = xp.minimum(world.stations_open, at_work)
    serving = posts[..., :NUM_SERVED] * is_serving(world, params)[..., None]
    seats = usable_seats(posts, params)
    usable = is_usable(world.lots, world.epoch_minutes, params)
    ready = Readiness(
        on_duty_people=world.on_duty_people,
        stations_open=world.stations_open,
        lots=world.lots,
        posts=posts,
        serving_posts=xp.astype(serving, xp.int32),
        pace=pace(world, params),
        standing_room=xp.astype(xp.ceil(seats * (1 + params.assumed.standing_share)), xp.int64),
        usable_lots=usable,
        usable_doses=usable_doses(world.lots, usable),
        balk_share=_balk_share(world, posts, params),
    )
    return replace(world, ready=ready)


def with_doses_drawn(world: World, params: StepParams) -> World:
    """The world with the doses that have been given since the last look taken out of their vials."""
    xp = namespace(world.owed_doses)
    if world.ready is None or not bool(xp.any(world.owed_doses > 0)):
        return world
    lots, opened = draw_doses(world.lots, world.owed_doses, world.ready.usable_lots, world.epoch_minutes, params)
    return replace(
        world,
        lots=lots,
        owed_doses=xp.zeros_like(world.owed_doses),
        fetched_vials=world.fetched_vials + fetched_by_fridge(opened, lots, world.fridges),
    )


def _balk_share(world: World, posts: Array, params: StepParams) -> Array:
    """
    Share that turns at the door, (S,), float32: none up to an expected wait, all at another, linear between; none
    before opening.
    """
    xp, assumed = namespace(posts), params.assumed
    waiting = xp.astype(xp.sum(world.queued_people, axis=-1), xp.float64)
    served = posts[..., :NUM_SERVED]
    minutes_per_person = params.mean_service_minutes[:NUM_SERVED] / xp.maximum(served, xp.ones_like(served))
    expected_minutes = waiting * xp.max(minutes_per_person, axis=-1)
    span = max(assumed.balk_full_minutes - assumed.balk_from_minutes, 1e-9)
    share = xp.clip((expected_minutes - assumed.balk_from_minutes) / span, 0, 1)
    return xp.astype(where(world.epoch_minutes >= world.day.opens, share), xp.float32)
