"""The programme against enumeration, against plain Python, and against a second solver."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from fluid_samples import (
    GRID,
    all_arcs,
    all_may_go,
    plain_minutes,
    stakes_of,
    tiny_city,
    whole_programme,
)
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from doseflow.policy.mpc.highs_lp import solve
from doseflow.policy.mpc.programme import FluidProgramme, modelled_cells
from doseflow.policy.mpc.time_grid import TimeGrid


def random_city(seed, num_sites=3, grid=GRID, futures=1, low=1, high=5):
    rng = np.random.default_rng(seed)
    people = rng.integers(low, high, (num_sites, 4))
    people[:, 3] = 20
    waiting = rng.integers(0, 12, (num_sites, 3)) * (rng.random((num_sites, 1)) < 0.6)
    return tiny_city(grid, people, waiting, rng.uniform(0.1, 1.0, num_sites), futures=futures, rng=rng)


def solved(model):
    answer = solve(model.programme, 10.0)
    assert answer.values is not None
    return answer


def constraint_of(programme):
    return LinearConstraint(programme.matrix, programme.row_lower, programme.row_upper)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_whole_moves_are_those_that_enumeration_finds(seed):
    grid = TimeGrid((5.0, 5.0), (0,))
    city = random_city(seed, num_sites=2, grid=grid, high=3)
    arcs, givers = all_arcs(city, roles=(0, 2)), all_may_go(city)
    stakes = stakes_of(city, arcs)
    model = whole_programme(city, arcs, givers, stakes)
    whole_columns = (np.arange(len(model.programme.costs)) < len(arcs)).astype(int)
    best = milp(
        model.programme.costs,
        constraints=constraint_of(model.programme),
        bounds=Bounds(model.programme.lower, model.programme.upper),
        integrality=whole_columns,
    )
    limits = [int(givers.people[arcs.from_idx[arc], arcs.role_idx[arc]]) for arc in range(len(arcs))]
    enumerated = min(
        plain_minutes(city, arcs, stakes, np.array(sent, dtype=float).reshape(1, -1, 1))
        for sent in product(*(range(limit + 1) for limit in limits))
    )
    assert best.fun == pytest.approx(enumerated, abs=1e-6)
    assert solved(model).objective <= enumerated + 1e-6


def test_where_one_whole_person_is_missing_the_relaxed_optimum_is_the_whole_one():
    city = tiny_city(GRID, [[2, 4, 4, 9], [4, 4, 4, 9]], [[10, 0, 0], [0, 0, 0]], [0.5, 0.5])
    arcs = all_arcs(city, roles=(0,))
    model = whole_programme(city, arcs, all_may_go(city), stakes_of(city, arcs, move_minutes=0.5))
    answer = solved(model)
    # Site 1 needs 2 of its 4 registrars for 0.5 people a minute; site 0 can use both others at once.
    assert model.sent_now(answer.values).tolist() == pytest.approx([0.0, 2.0])


@pytest.mark.parametrize("futures", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_objective_is_what_plain_python_counts_for_the_same_moves(seed, futures):
    city = random_city(seed, futures=futures)
    city.most_people[0] = city.present_people[0, :, 0] - 0.5
    arcs = all_arcs(city)
    stakes = stakes_of(city, arcs)
    model = whole_programme(city, arcs, all_may_go(city), stakes)
    answer = solved(model)
    sent = model.sent_later(answer.values)
    assert sent.sum() > 0
    assert answer.objective == pytest.approx(plain_minutes(city, arcs, stakes, sent), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_leaving_out_cells_that_nobody_misses_changes_nothing(seed):
    city = random_city(seed, num_sites=4, high=8)
    stakes_for = stakes_of(city, all_arcs(city))
    need = city.need_minutes(stakes_for.waiting_minutes)
    every = all_arcs(city)
    kept = (need[every.to_idx, every.as_idx] > 0) & (need[every.from_idx, every.role_idx] == 0)
    arcs = type(every)(*(getattr(every, name)[kept] for name in every.__dataclass_fields__))
    givers, stakes = all_may_go(city, keep=1), stakes_of(city, arcs)
    cells = modelled_cells(city, givers, arcs, need)
    assert not cells.all()
    small, full = FluidProgramme(city, arcs, givers, cells, stakes), whole_programme(city, arcs, givers, stakes)
    sent = small.sent_later(solved(small).values)
    assert plain_minutes(city, arcs, stakes, sent) == pytest.approx(solved(full).objective, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_another_algorithm_finds_the_same_optimum(seed):
    city = random_city(seed, num_sites=4, futures=2)
    arcs = all_arcs(city)
    targets = np.full((1, 4, 4), 3.0)
    stakes = stakes_of(city, arcs, targets=targets, missing_minutes=np.full((1, 4), 7.0))
    programme = whole_programme(city, arcs, all_may_go(city), stakes).programme
    rows = np.concatenate([programme.matrix.toarray(), -programme.matrix.toarray()])
    right = np.concatenate([programme.row_upper, -programme.row_lower])
    bounds = np.stack([programme.lower, programme.upper], axis=1)
    other = linprog(
        programme.costs,
        A_ub=rows[np.isfinite(right)],
        b_ub=right[np.isfinite(right)],
        bounds=bounds,
        method="highs-ipm",
    )
    assert solve(programme, 10.0).objective == pytest.approx(other.fun, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_who_sees_and_decides_further_is_never_worse(seed):
    far = TimeGrid((5.0,) * 6, (0, 1, 2, 3, 4, 5))
    near = TimeGrid((5.0,) * 6, (0, 1, 2))
    values = {}
    for grid in (far, near):
        city = random_city(seed, grid=grid)
        arcs = all_arcs(city)
        stakes = stakes_of(city, arcs)
        values[grid] = solved(whole_programme(city, arcs, all_may_go(city), stakes)).objective
    assert values[far] <= values[near] + 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_moves_planned_on_a_short_horizon_cost_at_least_as_much_over_the_long_one(seed):
    long, short = TimeGrid((5.0,) * 6, (0, 1, 2)), TimeGrid((5.0,) * 3, (0, 1, 2))
    city = random_city(seed, grid=long)
    near = random_city(seed, grid=short)
    near.arrivals_people[:] = city.arrivals_people[..., :3]
    arcs = all_arcs(city)
    stakes = stakes_of(city, arcs)
    planned = whole_programme(near, arcs, all_may_go(near), stakes_of(near, arcs))
    sent = planned.sent_later(solved(planned).values)
    best = solved(whole_programme(city, arcs, all_may_go(city), stakes)).objective
    assert best <= plain_minutes(city, arcs, stakes, sent) + 1e-6


def test_futures_that_do_not_differ_are_one_future():
    one, many = random_city(2), random_city(2, futures=1)
    many = type(many)(**{**many.__dict__, "arrivals_people": np.repeat(many.arrivals_people, 4, axis=0)})
    arcs = all_arcs(one)
    answers = [
        solved(whole_programme(city, arcs, all_may_go(city), stakes_of(city, arcs))).objective for city in (one, many)
    ]
    assert answers[0] == pytest.approx(answers[1], rel=1e-6)


def test_nobody_is_sent_beyond_what_a_site_has_or_has_room_for():
    city = random_city(5, num_sites=4)
    city.most_people[:] = city.present_people[..., 0] + 1
    arcs, givers = all_arcs(city), all_may_go(city, keep=1)
    model = whole_programme(city, arcs, givers, stakes_of(city, arcs, move_minutes=0.01, most=3.0))
    values = solved(model).values
    sent = model.sent_later(values)[0].sum(axis=1)
    given, taken = np.zeros(city.most_people.size), np.zeros(city.most_people.size)
    np.add.at(given, arcs.giver_cells, sent)
    np.add.at(taken, arcs.taker_cells, sent)
    assert (given <= givers.people.ravel() + 1e-6).all()
    assert (taken <= 1 + 1e-6).all()
    assert 0 < model.sent_now(values).sum() <= 3 + 1e-6


def test_a_site_lets_go_no_more_at_once_than_one_cycle_allows():
    city = tiny_city(GRID, [[1, 4, 4, 9], [6, 4, 4, 9]], [[20, 0, 0], [0, 0, 0]], [0.5, 0.2])
    arcs, free = all_arcs(city, roles=(0,)), all_may_go(city)
    stakes = stakes_of(city, arcs, move_minutes=0.1)
    bound = replace(free, now_people=np.minimum(free.people, 1.0))
    sent = {}
    for name, givers in {"free": free, "bound": bound}.items():
        model = whole_programme(city, arcs, givers, stakes)
        sent[name] = model.sent_now(solved(model).values).sum()
    assert sent["free"] > 1.5
    assert sent["bound"] == pytest.approx(1.0)


def test_a_thin_margin_keeps_people_where_water_would_let_them_go():
    city = tiny_city(GRID, [[2, 4, 4, 9], [3, 4, 4, 9]], [[6, 0, 0], [0, 0, 0]], [0.5, 0.5])
    arcs = all_arcs(city, roles=(0,))
    targets = np.zeros((1, 2, 4))
    targets[0, 1, 0] = 3.0
    free = whole_programme(city, arcs, all_may_go(city), stakes_of(city, arcs))
    held = stakes_of(city, arcs, targets=targets, missing_minutes=np.full((1, 4), 1000.0))
    assert free.sent_now(solved(free).values).sum() > 0.5
    kept = whole_programme(city, arcs, all_may_go(city), held)
    assert kept.sent_now(solved(kept).values).sum() == pytest.approx(0.0, abs=1e-6)
