"""Who comes in a step: booked people at their minute, walk-ins by chance, and those sent on by other sites."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.simulate.day_profile import DAY_MINUTES
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import NUM_SERVED, World
from doseflow.units import PERIOD_MINUTES


@dataclass(frozen=True)
class Comers:
    """
    People of one step by site, (S,).

    `arrived` came to the door: of them `balked` saw the queue and went, `turned_away` came past closing, `staying`
    joined it. `diverted` walk-ins were sent to another site before they came and are not among the arrived.
    """

    arrived: IntArray
    walked_in: IntArray
    diverted: IntArray
    balked: IntArray
    turned_away: IntArray
    staying: IntArray


def people_coming(
    world: World, posts_staffed: IntArray, rng: np.random.Generator, params: StepParams
) -> tuple[World, Comers]:
    """Who comes in the step that ends now; the world has taken up bookings of the last minute and diversions."""
    world = book_free_slots(world, rng, params)
    booked = _booked_now(world, params)
    period = world.day.period_of(world.epoch_minutes)
    expected = world.day.walk_ins_per_minute[..., period] * params.assumed.step_minutes
    walked_in = rng.poisson(expected)
    world, diverted = _divert(world, walked_in, rng, params)
    walked_in = walked_in - diverted
    arrived = booked + walked_in
    too_late = (world.epoch_minutes >= world.day.closes) | ~world.day.works_today
    turned_away = np.where(too_late, arrived, 0)
    balked = rng.binomial(arrived - turned_away, _balk_share(world, posts_staffed, params))
    return world, Comers(arrived, walked_in, diverted, balked, turned_away, arrived - turned_away - balked)


def _booked_now(world: World, params: StepParams) -> IntArray:
    """Booked people of the whole minutes that this step completes."""
    until = int(np.floor(world.epoch_minutes - world.day.midnight + 1e-9))
    start = int(np.floor(world.epoch_minutes - world.day.midnight - params.assumed.step_minutes + 1e-9))
    minutes = slice(max(start, 0), max(min(until, DAY_MINUTES), 0))
    people: IntArray = world.coming_people[..., minutes].sum(axis=-1, dtype=np.int64)
    return people


def _balk_share(world: World, posts_staffed: IntArray, params: StepParams) -> FloatArray:
    """
    Share that turns at the door, (S,): none up to an expected wait, all at another, linear between; none before
    opening.
    """
    assumed = params.assumed
    waiting = world.queued_people[..., :NUM_SERVED].sum(axis=-1)
    minutes_per_person = params.mean_service_minutes[:NUM_SERVED] / np.maximum(posts_staffed[..., :NUM_SERVED], 1)
    expected_minutes = waiting * minutes_per_person.max(axis=-1)
    span = max(assumed.balk_full_minutes - assumed.balk_from_minutes, 1e-9)
    share = np.clip((expected_minutes - assumed.balk_from_minutes) / span, 0, 1)
    return np.where(world.epoch_minutes >= world.day.opens, share, 0.0)


def book_free_slots(world: World, rng: np.random.Generator, params: StepParams) -> World:
    """Let offered slots that are still ahead be booked; who books one will come, or not, like everybody."""
    assumed, day = params.assumed, world.day
    first = day.period_of(world.epoch_minutes) + 1
    ahead = world.free_slots[..., first:]
    if not ahead.any():
        return world
    share = 1 - np.exp(-assumed.step_minutes / assumed.slot_booking_mean_minutes)
    site_idx, offset = np.nonzero(ahead)
    booked = rng.binomial(ahead[site_idx, offset], share)
    taken = np.zeros_like(world.free_slots)
    taken[site_idx, first + offset] = booked
    site_of_person, period = np.repeat(site_idx, booked), np.repeat(first + offset, booked)
    shows = rng.random(len(site_of_person)) >= day.habits.no_show_share[site_of_person]
    early = rng.normal(day.habits.mean_early_minutes[site_of_person], assumed.early_sd_minutes)
    # Nobody who books now can have come before now.
    soonest = np.floor(world.epoch_minutes - day.midnight) + 1
    minute = np.clip(np.rint(period * PERIOD_MINUTES - early), soonest, DAY_MINUTES - 1).astype(np.int64)
    coming = world.coming_people.copy()
    np.add.at(coming, (site_of_person[shows], minute[shows]), 1)
    return replace(
        world,
        free_slots=world.free_slots - taken,
        booked_people=world.booked_people + taken,
        coming_people=coming,
    )


def _divert(world: World, walked_in: IntArray, rng: np.random.Generator, params: StepParams) -> tuple[World, IntArray]:
    """Walk-ins sent to a neighbour: most go, and come there after the way."""
    diverted = np.zeros_like(walked_in)
    table = world.diversions[(world.diversions["until"] > world.epoch_minutes) & (world.diversions["people"] > 0)]
    if not len(table):
        return (replace(world, diversions=table) if len(world.diversions) else world), diverted
    table, coming = table.copy(), world.coming_people.copy()
    for row in table:
        site = row["from_idx"]
        asked = min(int(row["people"]), int(walked_in[site] - diverted[site]))
        going = rng.binomial(asked, params.assumed.walk_in_follows_share)
        row["people"] -= asked
        diverted[site] += going
        comes_at = world.epoch_minutes - world.day.midnight + row["travel_minutes"]
        coming[row["to_idx"], min(int(comes_at), DAY_MINUTES - 1)] += going
    return replace(world, diversions=table, coming_people=coming), diverted
