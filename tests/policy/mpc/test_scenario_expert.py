"""The expert that is imitated says what the solver says of its programme where nobody may be sent."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from fluid_samples import all_arcs, all_may_go, stakes_of, tiny_city, whole_programme
from rules_city import city_of, forecast_of, random_state

from doseflow.policy.mpc.highs_lp import solve
from doseflow.policy.mpc.time_grid import TimeGrid
from doseflow.policy.rules_policy import RulesPolicy
from doseflow.policy.site_values import NUM_VALUES, TRAVELS_MINUTES
from doseflow.train.scenario_expert import ScenarioExpert, objective, values_of

LONG = TimeGrid((5.0, 5.0, 10.0, 10.0, 30.0, 60.0), (0, 1), set_out_minutes=8.0, begin_minutes=8.0)


def busy_city(seed):
    rng = np.random.default_rng(seed)
    people = np.column_stack([rng.integers(1, 4, (3, 3)), np.full(3, 20)])
    return tiny_city(LONG, people, rng.integers(0, 12, (3, 3)), rng.uniform(0.2, 0.8, 3), futures=3, rng=rng)


def stakes_with_margins(city):
    targets = np.random.default_rng(5).uniform(0, 4, (2, *city.most_people.shape))
    missing = np.array([[7.0, 5.0, 3.0, 0.0], [2.0, 0.0, 4.0, 0.0]])
    return stakes_of(city, all_arcs(city), targets=targets, missing_minutes=missing)


def solver_minutes(city, stakes):
    """The programme's optimum; nobody may go, so every site keeps all it has."""
    model = whole_programme(city, all_arcs(city), all_may_go(city, keep=1000.0), stakes)
    return solve(model.programme, 10.0).objective


def share_after(block, minutes):
    start, length = sum(LONG.block_minutes[:block]), LONG.block_minutes[block]
    return min(max(start + length - minutes, 0.0), length) / length


@pytest.mark.parametrize("seed", range(5))
def test_with_nobody_to_send_the_recursion_is_the_optimum_of_the_programme(seed):
    city = busy_city(seed)
    stakes = stakes_with_margins(city)
    by_site = objective(city, stakes.waiting_minutes, stakes.margins)
    assert by_site.sum() == pytest.approx(solver_minutes(city, stakes))
    assert (by_site > 0).any()


@pytest.mark.parametrize("value", [0, 6, 14, 17, 18, 20, 21, 27])
def test_a_value_is_what_the_solver_finds_the_change_to_add(value):
    city, site = busy_city(2), 1
    stakes = stakes_with_margins(city)
    present, arrivals = city.present_people.copy(), city.arrivals_people.copy()
    for block in range(len(LONG.block_minutes)):
        if value < 16:
            role, travel = value % 4, TRAVELS_MINUTES[value // 4]
            present[site, role, block] += share_after(block, 16.0 + travel)
        elif value < 20:
            present[site, value - 16, block] -= share_after(block, 8.0)
    if value >= 20:
        # Two people evenly over a quarter hour, in the blocks that it lies in.
        starts = np.cumsum([0.0, *LONG.block_minutes])
        for minute in range(15 * (value - 20), 15 * (value - 19)):
            block = int(np.searchsorted(starts, minute, side="right")) - 1
            if block < len(LONG.block_minutes):
                arrivals[:, site, block] += 2 / 15
    changed = replace(city, present_people=present, arrivals_people=arrivals)
    added = solver_minutes(changed, stakes) - solver_minutes(city, stakes)
    values = values_of(city, stakes.waiting_minutes, stakes.margins)
    assert values.shape == (3, NUM_VALUES)
    assert values[site, value] == pytest.approx(added, abs=1e-6)


def test_more_people_never_cost_and_fewer_never_save_where_all_is_known():
    for seed in range(3):
        state, forecast = random_state(10, seed)
        situation = RulesPolicy().survey(state, forecast)
        values = ScenarioExpert().values(situation, np.arange(10))
        assert (values[:, :16] <= 1e-6).all()
        assert (values[:, 16:] >= -1e-6).all()
        assert (values != 0).any()


def test_a_site_that_the_programme_does_not_know_is_worth_nothing_and_is_a_number():
    state, _ = random_state(5, 1, unknown_share=1.0)
    situation = RulesPolicy().survey(state, forecast_of(state, np.nan, np.nan))
    assert (ScenarioExpert().values(situation, np.arange(5)) == 0).all()
    assert city_of(5).num_sites == 5
