"""One period of many cities: the same path in numpy and torch, and nothing lost under any decision."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_worlds import live

from doseflow.simulate.decision_arrays import neighbourhood, no_decision
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.period import decided, transition
from doseflow.simulate.replicas import converted, replicated

torch = pytest.importorskip("torch")
REPLICAS = 3


class Recording:
    """Draws of numpy, kept in the order they were asked for."""

    def __init__(self, seed):
        self._draws, self.drawn = NumpyDraws(np.random.default_rng(seed)), []

    def uniform(self, shape):
        self.drawn.append(self._draws.uniform(shape))
        return self.drawn[-1]


class Replaying:
    """The same numbers again, for torch; another shape than before is an error."""

    def __init__(self, drawn):
        self._drawn = iter(drawn)

    def uniform(self, shape):
        numbers = next(self._drawn)
        assert numbers.shape == tuple(shape)
        return torch.as_tensor(numbers)


@pytest.fixture(scope="module")
def around(small_city):
    return neighbourhood(small_city)


def some_decision(world, around, rng):
    nothing = no_decision(world, around)
    return replace(
        nothing,
        people_asked=rng.poisson(0.1, nothing.people_asked.shape),
        vials_asked=rng.poisson(0.3, nothing.vials_asked.shape),
        walk_ins_sent=rng.poisson(0.2, nothing.walk_ins_sent.shape),
        set_point_celsius=rng.uniform(3, 7, world.fridges.volume_litres.shape),
    )


def same(one, other):
    return np.array_equal(np.asarray(one), np.asarray(other))


def test_numpy_and_torch_give_the_same_day_from_the_same_draws(fresh_world, small_params, small_city, around):
    numpy_world, rng, recorded, decisions = (
        replicated(fresh_world, REPLICAS),
        np.random.default_rng(3),
        Recording(4),
        [],
    )
    for _ in range(100):
        decisions.append(some_decision(numpy_world, around, rng))
        numpy_world = transition(numpy_world, decisions[-1], recorded, small_params, around)
    given = (replicated(fresh_world, REPLICAS), small_params, around)
    torch_world, torch_params, torch_around = (converted(thing, torch.as_tensor) for thing in given)
    replayed = Replaying(recorded.drawn)
    for decision in decisions:
        decision = converted(decision, torch.as_tensor)
        torch_world = transition(torch_world, decision, replayed, torch_params, torch_around)
    for item in fields(numpy_world.totals):
        one, other = getattr(numpy_world.totals, item.name), getattr(torch_world.totals, item.name)
        assert np.asarray(other) == pytest.approx(one, abs=1e-3), item.name
    for name in ("queued_people", "in_service_people", "seated_people", "coming_people", "staff_people"):
        assert same(getattr(numpy_world, name), getattr(torch_world, name)), name
    assert same(numpy_world.lots.unopened_doses, torch_world.lots.unopened_doses)
    assert numpy_world.totals.diverted.sum() > 0
    assert numpy_world.totals.served.sum() > 1000
    assert (numpy_world.vans.busy_until > 0).any()
    assert (numpy_world.staff_people[..., 1] > 0).any()


def test_replicas_with_their_own_draws_live_different_days(morning, small_params, around):
    world = replicated(morning, 2)
    draws = NumpyDraws(np.random.default_rng(1))
    for _ in range(12):
        world = transition(world, no_decision(world, around), draws, small_params, around)
    assert not same(world.totals.started[0], world.totals.started[1])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_people_staff_and_doses_are_conserved_to_the_last_unit(morning, small_params, around, seed, periods):
    rng, draws = np.random.default_rng(seed), NumpyDraws(np.random.default_rng(seed))
    world = start = replicated(morning, REPLICAS)
    for _ in range(periods):
        people = rng.choice([0.0, 0.2, 30.0])
        decision = some_decision(world, around, rng)
        decision = replace(decision, people_asked=rng.poisson(people, decision.people_asked.shape) - 1)
        world = transition(world, decision, draws, small_params, around)
        totals = world.totals
        gone = totals.balked + totals.left + totals.turned_away + totals.served
        assert (totals.arrived == gone + world.inside_people).all()
        assert staff_of(world) == staff_of(start)
        assert (world.staff_people >= 0).all()
        assert doses_of(world) == doses_of(start)
        assert (world.lots.unopened_doses >= 0).all()
        assert same(world.on_duty_people, world.staff_people.sum(axis=(-4, -1)))


def staff_of(world):
    """People on duty or travelling, by the role they have at home; no shift changes in the tests that use it."""
    by_home = world.staff_people.sum(axis=(0, 1, 3, 4, 5)).tolist()
    for home, people in zip(world.staff_trips["home_idx"], world.staff_trips["people"], strict=True):
        by_home[home] += int(people)
    return by_home


def doses_of(world):
    totals, lots = world.totals, world.lots
    gone = totals.doses_given + totals.doses_wasted + totals.doses_expired + totals.doses_discarded
    return int(
        (lots.unopened_doses + lots.open_doses).sum()
        + gone.sum()
        + world.dose_trips["doses"].sum()
        - world.owed_doses.sum()
    )


def test_a_giver_keeps_its_minimum_team_and_gives_no_more_than_its_share(morning, small_params, around):
    asked = no_decision(morning, around)
    greedy = replace(asked, people_asked=np.full_like(asked.people_asked, 50))
    after = decided(morning, greedy, small_params, around)
    before_people, after_people = (world.on_duty_people.sum(axis=-1) for world in (morning, after))
    left = before_people - after_people
    assert left.sum() > 0
    allowed = np.maximum(np.floor(before_people * around.max_moved_share), 1)
    assert (left <= np.minimum(allowed, np.maximum(before_people - around.minimum_team_people, 0))).all()


def test_people_arrive_where_they_were_asked_for_after_the_way(morning, small_params, around):
    spare = np.argwhere(morning.staff_people[..., 0].sum(axis=(2, 3))[:, 2] > around.minimum_team_people[0, 2])
    giver = int(spare[0, 0])
    asker, slot = around.asker[giver, 0], around.asker_slot[giver, 0]
    decision = no_decision(morning, around)
    decision.people_asked[asker, slot, 2] = 1
    sent = decided(morning, decision, small_params, around)
    assert sent.staff_trips["to_idx"].tolist() == [asker]
    way = around.travel_minutes[asker, slot]
    on_the_way, there = live(sent, int(way), small_params), live(sent, int(way) + 1, small_params)
    moved = [world.staff_people[asker, :, 2, :, 1].sum() for world in (on_the_way, there)]
    assert moved == [0, 1]


def test_vials_go_whole_from_the_first_lot_to_expire_by_a_van_that_stands_there(morning, small_params, around):
    giver = int(morning.vans.site_idx[0])
    asker, slot = around.asker[giver, 0], around.asker_slot[giver, 0]
    decision = no_decision(morning, around)
    decision.vials_asked[asker, slot] = 2
    sent = decided(morning, decision, small_params, around)
    assert sent.vans.site_idx[0] == -1
    assert sent.vans.heading_to_idx[0] == asker
    taken = morning.lots.unopened_doses[giver] - sent.lots.unopened_doses[giver]
    place = int(np.flatnonzero(taken)[0])
    assert taken[place] == 2 * small_params.doses_per_vial[morning.lots.product_idx[giver, place]]
    soon = morning.epoch_minutes + around.travel_minutes[asker, slot] + around.min_lot_life_minutes
    could = (morning.lots.unopened_doses[giver] > 0) & (morning.lots.expires[giver] >= soon)
    assert morning.lots.expires[giver, place] == morning.lots.expires[giver][could].min()
