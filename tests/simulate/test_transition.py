"""The transition: conservation, determinism, limits."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from simulated_worlds import begin, live

from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.duty import usable_seats
from doseflow.simulate.opening import begin_day
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.step_params import step_params
from doseflow.simulate.table import table_of
from doseflow.simulate.transition import step
from doseflow.simulate.world import DOSE_TRIP, NUM_SERVED

STANDING = SimulationParams().standing_share


def draws(seed):
    return NumpyDraws(np.random.default_rng(seed))


def arrays_of(thing, path=""):
    """Every array inside a world, by its path."""
    for item in fields(thing):
        value = getattr(thing, item.name)
        if isinstance(value, np.ndarray):
            yield f"{path}{item.name}", value
        elif is_dataclass(value):
            yield from arrays_of(value, f"{path}{item.name}.")


def people_missing(world):
    totals = world.totals
    gone = totals.balked + totals.left + totals.turned_away + totals.served
    return totals.arrived - gone - world.inside_people


def doses_accounted(world):
    totals, lots = world.totals, world.lots
    on_hand = (lots.unopened_doses + lots.open_doses).sum()
    gone = (totals.doses_given + totals.doses_wasted + totals.doses_expired + totals.doses_discarded).sum()
    return int(on_hand + gone + world.dose_trips["doses"].sum() - world.owed_doses.sum())


def test_everybody_who_came_is_inside_served_or_gone_at_every_step(fresh_world, small_params):
    world, rng = fresh_world, draws(3)
    for _ in range(920):
        world = step(world, rng, small_params)
        assert (people_missing(world) == 0).all()
    assert world.totals.served.sum() > 1000
    assert world.totals.left.sum() + world.totals.balked.sum() > 0
    assert world.inside_people.sum() == 0


def test_every_dose_is_on_hand_on_its_way_given_or_wasted(fresh_world, small_params):
    total = doses_accounted(fresh_world)
    assert total > 0
    assert doses_accounted(live(fresh_world, 400, small_params)) == total
    assert doses_accounted(live(fresh_world, 900, small_params)) == total


def test_a_dose_is_drawn_for_everybody_who_is_taken_for_vaccination(morning):
    assert morning.totals.doses_given.tolist() == morning.totals.started[:, 2].tolist()


def test_the_same_seed_gives_the_same_path_and_another_seed_another(fresh_world, small_params):
    first, again = (live(fresh_world, 200, small_params, seed=5) for _ in range(2))
    assert all(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        for (_, one), (_, other) in zip(arrays_of(first), arrays_of(again), strict=True)
    )
    other = live(fresh_world, 200, small_params, seed=6)
    assert not np.array_equal(first.flow.left_minutes, other.flow.left_minutes)


def test_a_step_never_writes_to_the_world_it_was_given(morning, small_params):
    before = {path: array.copy() for path, array in arrays_of(morning)}
    live(morning, 30, small_params)
    for path, array in arrays_of(morning):
        assert np.array_equal(before[path], array, equal_nan=array.dtype.kind == "f"), path


def test_nobody_is_taken_without_a_staffed_open_station(fresh_world, small_params):
    world, rng = fresh_world, draws(4)
    for _ in range(500):
        before = world
        world = step(world, rng, small_params)
        # What sites can do is made anew at a period's end: a step is judged by what it began or ended with.
        posts = np.maximum(world.ready.posts, before.ready.posts) if before.ready else world.ready.posts
        staffed = posts[:, :NUM_SERVED]
        started = world.totals.started - before.totals.started
        # Who was already being served may be more than the staff after a shift change; newcomers may not add to that.
        assert ((world.in_service_people <= staffed) | (started == 0)).all()
        room = np.ceil(usable_seats(posts, small_params) * (1 + STANDING))
        needles = world.seated_people + world.in_service_people[:, 2]
        assert ((needles <= room) | (started[:, 2] == 0)).all()
        assert before.epoch_minutes < world.epoch_minutes


def test_no_station_serves_before_opening_and_nobody_starts_after_overtime(fresh_world, small_params):
    world, rng = fresh_world, draws(4)
    for _ in range(900):
        before, world = world, step(world, rng, small_params)
        outside = (world.epoch_minutes < world.day.opens) | (
            world.epoch_minutes >= world.day.closes + small_params.assumed.overtime_minutes
        )
        assert ((world.totals.started - before.totals.started)[outside] == 0).all()


def test_the_queues_are_what_lies_between_the_curves_of_joining_and_going(fresh_world, small_params):
    world, rng = fresh_world, draws(4)
    for _ in range(400):
        world = step(world, rng, small_params)
        assert np.array_equal(world.totals.joined - world.totals.gone, world.queued_people)


def test_the_waiting_of_all_is_the_area_under_the_queue_less_what_is_handed_over(fresh_world, small_params):
    world, rng, area = fresh_world, draws(4), 0.0
    for _ in range(400):
        world = step(world, rng, small_params)
        area = area + world.queued_people.sum(axis=0)
    waited = world.totals.waited_minutes.sum(axis=0)
    assert (waited <= area).all()
    # Nobody is handed more than a step, and only who had queued is handed any.
    assert (waited >= area - world.totals.started.sum(axis=0)).all()


def test_what_a_planner_does_leaves_chance_alone(fresh_world, small_params):
    closed = replace(fresh_world, stations_open=np.zeros_like(fresh_world.stations_open))
    first, second = draws(5), draws(5)
    for world, stream in ((fresh_world, first), (closed, second)):
        for _ in range(200):
            world = step(world, stream, small_params)
    assert np.array_equal(first.uniform((5,)), second.uniform((5,)))


def test_without_doses_nobody_is_vaccinated_and_the_queue_at_the_needle_grows(fresh_world, small_params):
    empty = replace(
        fresh_world,
        lots=replace(fresh_world.lots, unopened_doses=np.zeros_like(fresh_world.lots.unopened_doses)),
        dose_trips=table_of(DOSE_TRIP),
    )
    world = live(empty, 300, small_params)
    assert world.totals.doses_given.sum() == 0
    assert world.queued_people[:, 2].sum() > 50


def test_full_seats_stop_the_needles(fresh_world, small_params, small_city):
    crowded = replace(small_params, seats_possible=np.full_like(small_params.seats_possible, 1))
    few, many = live(fresh_world, 300, crowded), live(fresh_world, 300, small_params)
    assert few.totals.doses_given.sum() < 0.5 * many.totals.doses_given.sum()
    assert (few.seated_people <= 2).all()


def test_shifts_begin_and_end_with_their_people(fresh_world, small_params):
    day = fresh_world.day
    world = fresh_world
    for _ in range(16):
        world = live(world, 60, small_params)
        on = (day.shift_starts <= world.epoch_minutes) & (world.epoch_minutes < day.shift_ends)
        expected = (day.rostered_people * on).sum(axis=(1, 2))
        assert world.staff_people.sum(axis=(1, 2, 3, 4)).tolist() == expected.tolist()


def test_what_is_on_its_way_at_midnight_still_arrives(fresh_world, small_city, small_params):
    trip = table_of(DOSE_TRIP, [(3, 0, 0, 0, 12, np.inf, 0.0, fresh_world.epoch_minutes + 2)])
    travelling = replace(fresh_world, dose_trips=trip)
    rng = np.random.default_rng(1)
    next_day = begin_day(travelling, small_city, fresh_world.day, small_params, rng)
    arrived = live(next_day, 3, small_params)
    held = arrived.lots.unopened_doses[3].sum() - fresh_world.lots.unopened_doses[3].sum()
    assert held == 12


def test_a_finer_step_gives_about_the_same_day(small_city):
    waits = []
    for step_minutes in (1.0, 0.5):
        params = step_params(small_city, replace(SimulationParams(), step_minutes=step_minutes))
        totals = live(begin(small_city, params), round(480 / step_minutes), params).totals
        waits.append(totals.waited_minutes.sum() / totals.arrived.sum())
    assert waits[0] == pytest.approx(waits[1], rel=0.1)


def test_overtime_is_the_work_done_after_closing(fresh_world, small_params):
    world, rng, worked = fresh_world, draws(4), 0.0
    for _ in range(900):
        before, world = world, step(world, rng, small_params)
        busy = (world.totals.busy_minutes - before.totals.busy_minutes).sum(axis=-1)
        worked += busy[world.epoch_minutes >= world.day.closes].sum()
    assert worked > 0
    assert (world.totals.overtime_minutes - fresh_world.totals.overtime_minutes).sum() == pytest.approx(worked)
