"""The city as a Gymnasium vector environment."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.vector import VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from doseflow.errors import ScenarioWrong
from doseflow.simulate.scenario_file import packaged_scenario
from doseflow.simulate.vector_env import FEATURES, LOST_PERSON_MINUTES, CityVectorEnv


@pytest.fixture(scope="module")
def env():
    return CityVectorEnv(packaged_scenario("ordinary_0050"), num_envs=2)


def no_action(env):
    return np.zeros(env.action_space.shape, dtype=np.int64)


def test_a_packaged_scenario_may_be_given_by_its_name(env):
    named = CityVectorEnv("ordinary_0050", num_envs=2)
    assert np.array_equal(named.reset(seed=3)[0], env.reset(seed=3)[0])


def test_what_is_no_scenario_is_refused_with_what_is_wanted():
    with pytest.raises(ScenarioWrong, match=r"scenario: must be one of .*ordinary_0050.*, got 'sunshine'"):
        CityVectorEnv("sunshine")
    with pytest.raises(TypeError, match="scenario: must be a Scenario or the name of a packaged one, got 7"):
        CityVectorEnv(7)


def test_spaces_hold_what_the_environment_gives(env):
    assert isinstance(env, VectorEnv)
    assert isinstance(env.single_observation_space, Box)
    assert isinstance(env.single_action_space, MultiDiscrete)
    observation, _ = env.reset(seed=3)
    assert observation in env.observation_space
    assert observation.shape == (2, 50, len(FEATURES))
    observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    assert observation in env.observation_space
    assert reward.shape == terminated.shape == truncated.shape == (2,)


def test_a_day_ends_and_the_next_step_begins_another(env):
    recorded = RecordEpisodeStatistics(env)
    first, _ = recorded.reset(seed=5)
    terminated, steps = np.array([False]), 0
    while not terminated.any():
        observation, reward, terminated, _, info = recorded.step(no_action(env))
        steps += 1
        assert (reward <= 0).all()
    assert terminated.all()
    assert 100 < steps < 250
    assert info["episode"]["l"].tolist() == [steps, steps]
    assert env.world.totals.served.sum() > 5000
    observation, reward, terminated, _, _ = recorded.step(no_action(env))
    assert not terminated.any()
    assert reward.tolist() == [0, 0]
    assert not np.array_equal(observation, first)


def test_the_same_seed_gives_the_same_days_and_the_environments_differ(env):
    played = []
    for _ in range(2):
        env.reset(seed=9)
        played.append([env.step(no_action(env))[0] for _ in range(60)][-1])
    assert np.array_equal(*played)
    assert not np.array_equal(played[0][0], played[0][1])


def test_an_action_asks_for_one_person_of_one_role_from_one_neighbour(env):
    env.reset(seed=9)
    for _ in range(60):
        env.step(no_action(env))
    actions = no_action(env)
    actions[1, 4] = 1 + 2 * 4 + 2
    env.step(actions)
    asked = env._decision(actions).people_asked
    assert asked.sum() == 1
    assert asked[1, 4, 2, 2] == 1


def test_the_reward_is_what_the_totals_say_of_waiting_and_of_people_lost(env):
    env.reset(seed=11)
    rewards = sum(env.step(env.action_space.sample())[1] for _ in range(110))
    totals = env.world.totals
    lost = (totals.balked + totals.left + totals.turned_away).sum(axis=1)
    assert (lost > 0).all()
    minutes = totals.waited_minutes.sum(axis=(1, 2)) + LOST_PERSON_MINUTES * lost
    assert rewards == pytest.approx(-minutes / 60 / 50)


def test_every_environment_may_have_its_own_seed(env):
    played = []
    for seeds in ([3, 77], [3, 4]):
        env.reset(seed=seeds)
        played.append(env.world.coming_people)
    assert np.array_equal(played[0][0], played[1][0])
    assert not np.array_equal(played[0][1], played[1][1])


@pytest.mark.parametrize("action", [-1, 9999])
def test_an_action_that_does_not_exist_is_refused_with_its_bound(env, action):
    env.reset(seed=3)
    with pytest.raises(ValueError, match=r"actions: must be whole numbers in 0\.\.\d+"):
        env.step(np.full(env.action_space.shape, action))
