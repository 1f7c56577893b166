"""The parts of the planners by linear programme."""

from __future__ import annotations

import numpy as np
import pytest
from fluid_samples import all_arcs, all_may_go, plain_minutes, stakes_of, tiny_city

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.forecast.count_quantiles import count_quantiles
from doseflow.policy.mpc.fluid_queue import cumulative_queue
from doseflow.policy.mpc.futures import paths_from_quantiles
from doseflow.policy.mpc.margins import _BETAS, _slope_steps
from doseflow.policy.mpc.params import FluidParams, MpcParams, MyopicParams, ScenarioParams
from doseflow.policy.mpc.time_grid import TimeGrid
from doseflow.policy.mpc.whole_moves import whole_people
from doseflow.policy.queueing import halfin_whitt_wait_share


def test_a_block_is_counted_from_when_people_are_there():
    grid = TimeGrid((5.0, 10.0, 30.0), (0, 1), set_out_minutes=4.0, begin_minutes=3.0)
    # Sent now they are missed after 4 minutes, and serve after 4 + 8 + 3; sent at the next block 5 minutes later.
    assert grid.gone_share().tolist() == [[0.2, 1.0, 1.0], [0.0, 0.6, 1.0]]
    np.testing.assert_allclose(grid.there_share(np.array([8.0]))[0], [[0.0, 0.0, 1.0], [0.0, 0.0, 25 / 30]])
    assert grid.by_block(np.arange(24.0)).tolist() == [0.0, 3.0, sum(range(3, 9))]


def test_without_delays_whoever_is_sent_is_there_at_once():
    grid = TimeGrid((30.0,), has_delays=False)
    assert grid.gone_share().tolist() == [[1.0]]
    assert grid.there_share(np.array([25.0])).tolist() == [[[1.0]]]


@pytest.mark.parametrize("seed", range(5))
def test_the_added_up_queues_are_those_of_stages_one_after_the_other(seed):
    rng = np.random.default_rng(seed)
    queue, arrivals, capacity = rng.uniform(0, 9, 3), rng.uniform(0, 6, 8), rng.uniform(0, 6, (4, 8))
    expected, stages = [], queue.copy()
    for block in range(8):
        coming = arrivals[block]
        for stage in range(3):
            can = min(capacity[2, block], capacity[3, block]) if stage == 2 else capacity[stage, block]
            there = stages[stage] + coming
            coming = min(there, can)
            stages[stage] = there - coming
        expected.append(np.cumsum(stages))
    np.testing.assert_allclose(cumulative_queue(np.cumsum(queue), arrivals, capacity), np.array(expected).T, atol=1e-9)


def test_the_margin_line_meets_the_curve_at_its_corners():
    steps = _slope_steps()
    queue = [halfin_whitt_wait_share(beta) / beta for beta in _BETAS]
    line = [
        sum(step * max(corner - beta, 0) for step, corner in zip(steps, _BETAS[1:], strict=True)) for beta in _BETAS
    ]
    np.testing.assert_allclose(np.array(line), np.array(queue) - queue[-1], atol=1e-12)
    assert (steps > 0).all()


def quantiles_of(mean_people, dispersion=2.0):
    return count_quantiles(np.full((3, 24), mean_people), dispersion)


def test_futures_have_the_mean_of_the_forecast_and_about_its_spread():
    quantiles = quantiles_of(12.0)
    paths = paths_from_quantiles(quantiles, 4000, 0.9, np.random.default_rng(1))
    mean = 0.3 * quantiles[..., 0] + 0.4 * quantiles[..., 2] + 0.3 * quantiles[..., -1]
    np.testing.assert_allclose(paths.mean(axis=0), mean, rtol=1e-9)
    assert (paths >= 0).all()
    for position, level in enumerate(QUANTILE_LEVELS):
        assert (paths <= quantiles[..., position]).mean() == pytest.approx(level, abs=0.06)


def test_surprises_last():
    paths = paths_from_quantiles(quantiles_of(12.0), 2000, 0.9, np.random.default_rng(1))
    near = np.corrcoef(paths[:, 0, 3], paths[:, 0, 4])[0, 1]
    far = np.corrcoef(paths[:, 0, 3], paths[:, 0, 18])[0, 1]
    assert near == pytest.approx(0.9, abs=0.05)
    assert far == pytest.approx(0.9**15, abs=0.06)


def test_an_empty_forecast_has_empty_futures():
    assert not paths_from_quantiles(np.zeros((2, 24, 5)), 3, 0.9, np.random.default_rng(0)).any()


def test_no_whole_person_goes_whose_going_costs_more_than_it_saves():
    grid = TimeGrid((5.0, 5.0, 30.0), (0,))
    # Each site has just enough registrars; half of one would help site 0, a whole one hurts site 1 more.
    city = tiny_city(grid, [[2, 4, 4, 9], [2, 4, 4, 9]], [[3, 0, 0], [0, 0, 0]], [0.5, 0.5])
    arcs = all_arcs(city, roles=(0,))
    sent = np.where(arcs.to_idx == 0, 0.5, 0.0)
    assert not whole_people(sent, city, arcs, all_may_go(city), stakes_of(city, arcs)).any()


@pytest.mark.parametrize("seed", range(4))
def test_no_one_more_or_fewer_would_be_better_says_plain_python(seed):
    rng = np.random.default_rng(seed)
    grid = TimeGrid((5.0, 5.0, 30.0), (0,))
    people = rng.integers(4, 8, (3, 4))
    people[0, :3], people[:, 3] = rng.integers(1, 4, 3), 20
    waiting = np.zeros((3, 3))
    waiting[0] = rng.integers(3, 15, 3)
    city = tiny_city(grid, people, waiting, [0.7, 0.2, 0.4])
    arcs = all_arcs(city)
    stakes = stakes_of(city, arcs)
    whole = whole_people(np.where(arcs.to_idx == 0, 1.4, 0.0), city, arcs, all_may_go(city, keep=1), stakes)
    assert whole.sum() > 0
    assert whole.max() <= 2
    best = plain_minutes(city, arcs, stakes, whole[None, :, None])
    assert best < plain_minutes(city, arcs, stakes, 0 * whole[None, :, None])
    for arc, step in [(arc, step) for arc in np.flatnonzero(arcs.to_idx == 0) for step in (-1, 1)]:
        other = whole.copy()
        other[arc] += step
        if 0 <= other[arc] <= 2:
            assert plain_minutes(city, arcs, stakes, other[None, :, None]) > best - 1e-9


def test_two_roles_that_only_help_together_go_together():
    grid = TimeGrid((5.0, 5.0, 30.0), (0,))
    city = tiny_city(grid, [[2, 4, 2, 9], [6, 4, 6, 9]], [[12, 0, 0], [0, 0, 0]], [0.5, 0.2])
    arcs = all_arcs(city, roles=(0, 2))
    sent = np.where(arcs.to_idx == 0, 1.0, 0.0)
    assert whole_people(sent, city, arcs, all_may_go(city), stakes_of(city, arcs)).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: FluidParams(usable_share=0.0), "usable_share"),
        (lambda: FluidParams(move_minutes=-1), "move_minutes"),
        (lambda: FluidParams(time_limit_seconds=0), "time_limit_seconds"),
        (lambda: MyopicParams(block_minutes=1), "block_minutes"),
        (lambda: MyopicParams(block_minutes=125), "block_minutes"),
        (lambda: MpcParams(num_periods=25), "num_periods"),
        (lambda: MpcParams(tail_block_minutes=(305.0,)), "tail_block_minutes"),
        (lambda: ScenarioParams(num_futures=0), "num_futures"),
        (lambda: ScenarioParams(block_minutes=(5.0, 7.0)), "block_minutes"),
        (lambda: ScenarioParams(block_minutes=(300.0, 90.0)), "block_minutes"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(make, field):
    with pytest.raises(ValueError, match=f"^{field}"):
        make()
