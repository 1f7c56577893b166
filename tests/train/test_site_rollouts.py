"""Lives of sites against queueing theory, and against what must be the same or nothing."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX, Role
from doseflow.policy.queueing import mean_wait_minutes
from doseflow.policy.site_values import ADDED_PEOPLE, NUM_VALUES, TRAVELS_MINUTES
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES
from doseflow.simulate.flow import FlowRules
from doseflow.train.site_rollouts import Change, Views, World, all_changes, costs, packaged_world

NUM_STEPS = len(GRID_MINUTES)
VACCINATOR_IDX = ROLE_TO_IDX[Role.VACCINATOR]
NEVER = 1e6


def world_of(**given):
    """Nobody turns or leaves, only vaccination takes time, eight minutes, and that as theory has it."""
    rules = FlowRules(1.0, (0.0, 0.0, 0.0), (0.01, 0.01, 8.0), 1, 1, 0.0, 60, 0.0)
    return replace(World(rules, 1000.0, 0.0, NEVER, 2 * NEVER, 0.0, 30.0), **given)


def views_of(num_sites, per_minute=0.5, people=(9, 9, 5, 9), queue=0.0, counted_from_minutes=0.0):
    """Sites with steady arrivals and people; who waits counts from a moment on."""
    on = {"dtype": torch.float32}
    counted = torch.as_tensor(np.where(counted_from_minutes < GRID_ENDS_MINUTES, GRID_MINUTES, 0.0), **on)
    arriving = torch.as_tensor(per_minute * GRID_MINUTES, **on)
    return Views(
        queue_people=torch.tensor([[0.0, 0.0, queue]]).repeat(num_sites, 1),
        seated_people=torch.zeros(num_sites),
        seats_possible=torch.full((num_sites,), 1e6),
        arriving_people=arriving.repeat(num_sites, 1),
        people=torch.tensor(people, **on).repeat(num_sites, NUM_STEPS, 1),
        most_people=torch.full((num_sites, NUM_ROLES), 20.0),
        open_minutes=torch.full((num_sites,), 1e4),
        counted_minutes=counted.repeat(num_sites, 1),
        last_minutes=torch.zeros(num_sites, NUM_STEPS),
    )


def lived(views, changes, world=None, seed=1):
    return costs(views, world or world_of(), changes, torch.Generator().manual_seed(seed)).double().numpy()


MORE, FEWER = Change("more", VACCINATOR_IDX, 1), Change("fewer", VACCINATOR_IDX, -1)
AS_IT_IS = Change("as_it_is")


def test_under_a_steady_load_waiting_and_the_worth_of_a_person_are_those_of_erlang():
    views = views_of(400, people=(9, 9, 6, 9), queue=1.0, counted_from_minutes=120.0)
    cost = lived(views, [AS_IT_IS, MORE, FEWER]).mean(axis=1)
    minutes = float(views.counted_minutes[0].sum())
    # By Little's law so many wait, of half a person a minute.
    expected = np.array([0.5 * mean_wait_minutes(servers, 4.0, 8.0) for servers in (6, 7, 5)]) * minutes
    np.testing.assert_allclose(cost, expected, rtol=0.15)
    assert cost[0] - cost[1] == pytest.approx(expected[0] - expected[1], rel=0.15)


def test_a_queue_that_nobody_joins_is_served_as_arithmetic_says():
    # 45 people before 5 vaccinators of 8 minutes: after the first 5, one fewer every 1.6 minutes.
    views = views_of(200, per_minute=0.0, queue=45.0)
    cost = lived(views, [AS_IT_IS, replace(MORE, from_minutes=0.0)]).mean(axis=1)
    assert cost[0] == pytest.approx(40 * 41 / 2 * 8 / 5, rel=0.05)
    assert cost[1] == pytest.approx(39 * 40 / 2 * 8 / 6, rel=0.05)


def test_where_nobody_comes_and_nobody_waits_nothing_is_worth_anything():
    changes = [change for change in all_changes() if change.bin_idx is None]
    assert not lived(views_of(4, per_minute=0.0), changes).any()


def test_where_nothing_counts_nothing_costs():
    views = views_of(4, per_minute=3.0, queue=20.0, counted_from_minutes=1e6)
    assert not lived(views, all_changes()).any()


def test_an_arrival_more_costs_its_service_where_a_queue_stands_all_day():
    # Two more stand there to the end of the day, since the server is never free before.
    views = views_of(50, per_minute=0.2, people=(9, 9, 1, 9), queue=20.0)
    steady = world_of(rules=FlowRules(1.0, (0.0, 0.0, 8.0), (0.01, 0.01, 0.0), 1, 1, 0.0, 60, 0.0))
    cost = lived(views, [AS_IT_IS, Change("arrival_0", bin_idx=0)], steady).mean(axis=1)
    until_the_end = GRID_ENDS_MINUTES[-1] - 7.5
    assert cost[1] - cost[0] == pytest.approx(ADDED_PEOPLE * until_the_end, rel=0.03)


def test_people_who_turn_or_leave_count_and_do_not_wait():
    views = views_of(100, per_minute=1.0, queue=60.0)
    patient = lived(views, [AS_IT_IS]).mean()
    impatient = world_of(balk_from_minutes=0.0, balk_full_minutes=1.0, lost_person_minutes=0.0)
    assert lived(views, [AS_IT_IS], impatient).mean() < patient / 3
    told = replace(impatient, lost_person_minutes=1000.0)
    assert lived(views, [AS_IT_IS], told).mean() > patient


def test_too_few_seats_keep_people_waiting():
    few = replace(views_of(50), seats_possible=torch.full((50,), 1.0))
    long_rest = world_of()
    long_rest = replace(long_rest, rules=replace(long_rest.rules, observation_steps=15, long_observation_steps=30))
    assert lived(few, [AS_IT_IS], long_rest).mean() > 3 * lived(views_of(50), [AS_IT_IS], long_rest).mean()


def test_a_seed_gives_its_lives():
    views = views_of(5)
    first, again, other = (lived(views, [AS_IT_IS, MORE], seed=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_changes_stand_where_the_values_are_read():
    names = [change.name for change in all_changes()]
    assert names[0] == "as_it_is"
    assert len(names) == 1 + NUM_VALUES
    assert names[1 : 1 + NUM_ROLES] == [f"gain_{role}_0" for role in Role]
    gains = all_changes()[1 : 1 + len(TRAVELS_MINUTES) * NUM_ROLES]
    assert [change.from_minutes - 10 for change in gains[::NUM_ROLES]] == list(TRAVELS_MINUTES)
    losses = all_changes()[1 + len(gains) : 1 + len(gains) + NUM_ROLES]
    assert [(change.role_idx, change.more_people) for change in losses] == [(idx, -1) for idx in range(NUM_ROLES)]
    assert [change.bin_idx for change in all_changes()[-BOOKING_BINS:]] == list(range(BOOKING_BINS))


def test_the_world_is_that_of_the_packaged_defaults():
    world = packaged_world()
    assert world.rules.mean_minutes == pytest.approx((4.43, 3.0, 4.0))
    assert (world.balk_from_minutes, world.standing_share, world.seats_per_observer) == (60.0, 0.2, 15.0)
