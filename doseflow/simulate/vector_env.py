"""
The city as a Gymnasium vector environment, so that reinforcement learning code from anywhere runs on it unchanged.

One environment is one day of a scenario; a step is a decision period of five minutes. Needs `doseflow[environment]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from doseflow.domain.roles import NUM_ROLES
from doseflow.simulate.decision_arrays import DecisionArrays
from doseflow.simulate.draws import Draws, NumpyDraws
from doseflow.simulate.duty import people_at_work
from doseflow.simulate.period import transition
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_file import packaged_scenario
from doseflow.simulate.scenario_worlds import ScenarioWorlds, scenario_worlds
from doseflow.simulate.vials import is_usable, usable_doses
from doseflow.simulate.world import NUM_SERVED, World
from doseflow.units import PERIOD_MINUTES

AHEAD_PERIODS = 24
FEATURES = (
    *(f"queued_{stage}" for stage in ("registration", "screening", "vaccination")),
    *(f"in_service_{stage}" for stage in ("registration", "screening", "vaccination")),
    "seated",
    *(f"at_work_{role}" for role in ("registrar", "screener", "vaccinator", "observer")),
    *(f"travelling_here_{role}" for role in ("registrar", "screener", "vaccinator", "observer")),
    *(f"booked_in_quarter_{k + 1}" for k in range(AHEAD_PERIODS // 3)),
    "usable_doses",
    "minutes_to_closing",
)
"""What is seen of each site, in this order: the last axis of an observation."""
LOST_PERSON_MINUTES = 60.0
"""A person who leaves unserved costs as much as so many minutes of waiting; assumed, sweep 0 to 240."""


class CityVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """
    Days of a scenario side by side.

    Observation: (envs, S, F), float32, unscaled, F as in `FEATURES`. Action: for every site either 0, nothing, or one
    person of one role from one neighbour: 1 + neighbour * 4 + role, (envs, S). What may not be done is left undone.
    Reward: minus the waiting of the period in hours, a lost person counted as `LOST_PERSON_MINUTES`, divided by the
    sites. All days end together, a step after the last site has closed and emptied or at midnight. There are no
    reports and no referee between the agent and the city, as there are where planners are evaluated.

    Parameters
    ----------
    scenario
        Of any suite, or the name of a packaged one; those to learn on are the suite `training`. One of your own:
        `scenario_file.scenario_from_file(path)`.
    num_envs
        Days at once.

    Raises
    ------
    ScenarioWrong
        No packaged scenario has the name; the text gives those that there are.
    """

    def __init__(self, scenario: Scenario | str, num_envs: int = 1) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs: must be at least 1, got {num_envs}")
        if isinstance(scenario, str):
            scenario = packaged_scenario(scenario)
        if not isinstance(scenario, Scenario):
            raise TypeError(f"scenario: must be a Scenario or the name of a packaged one, got {scenario!r}")
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
        self._scenario = scenario
        self._worlds, self._world, self._draws, self._lost = self._new_days(range(num_envs))
        self._next_seed, self._is_over = 0, False
        sites, slots = self._worlds.around.neighbour_idx.shape
        shape = sites, len(FEATURES)
        self.single_observation_space = gymnasium.spaces.Box(0.0, np.inf, shape, np.float32)
        self.single_action_space = gymnasium.spaces.MultiDiscrete(np.full(sites, 1 + slots * NUM_ROLES))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def world(self) -> World:
        """The worlds, (envs, S, ...), for code that wants to see more than an observation."""
        return self._world

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """
        Begin new days; the same seed begins the same ones, and environment k has the days of seed + k.

        A list gives each environment its own seed; without any, the days after the last ones begin.
        """
        del options
        if isinstance(seed, list):
            seeds = [self._next_seed + k if one is None else int(one) for k, one in enumerate(seed)]
        else:
            first = self._next_seed if seed is None else int(seed)
            seeds = list(range(first, first + self.num_envs))
        self._next_seed = max(seeds) + 1
        self._worlds, self._world, self._draws, self._lost = self._new_days(seeds)
        self._is_over = False
        return self._observation(), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Live one period; after the day's last one, the next call begins new days and ignores its actions."""
        never = np.zeros(self.num_envs, dtype=bool)
        if self._is_over:
            observation, _ = self.reset()
            return observation, np.zeros(self.num_envs), never, never.copy(), {}
        before = self._world.totals
        worlds = self._worlds
        self._world = transition(self._world, self._decision(actions), self._draws, worlds.params, worlds.around)
        lost, waited = _lost_people(self._world), self._world.totals.waited_minutes.sum(axis=(-2, -1))
        new_wait = waited - before.waited_minutes.sum(axis=(-2, -1))
        cost_minutes = new_wait + (lost - self._lost) * LOST_PERSON_MINUTES
        self._lost = lost
        self._is_over = self._day_is_over()
        reward = -cost_minutes / 60 / self._world.stations_open.shape[-2]
        info = {"waited_minutes": new_wait, "lost_people": lost}
        return self._observation(), reward, np.full(self.num_envs, self._is_over), never, info

    def _new_days(self, seeds: Sequence[int]) -> tuple[ScenarioWorlds, World, Draws, NDArray[np.int64]]:
        worlds = scenario_worlds(self._scenario, seeds)
        draws = NumpyDraws(np.random.default_rng([*seeds, 1]))
        return worlds, worlds.world, draws, _lost_people(worlds.world)

    def _decision(self, actions: NDArray[np.int64]) -> DecisionArrays:
        slots = self._worlds.around.neighbour_idx.shape[-1]
        if not self.action_space.contains(np.asarray(actions)):
            choices = slots * NUM_ROLES
            raise ValueError(f"actions: must be whole numbers in 0..{choices}, of shape {self.action_space.shape}")
        shape = (*actions.shape, slots, NUM_ROLES)
        people = np.zeros((*actions.shape, slots * NUM_ROLES + 1), dtype=np.int64)
        np.put_along_axis(people, np.asarray(actions, dtype=np.int64)[..., None], 1, axis=-1)
        nothing = np.zeros((*actions.shape, slots), dtype=np.int64)
        return DecisionArrays(people[..., 1:].reshape(shape), vials_asked=nothing, walk_ins_sent=nothing)

    def _day_is_over(self) -> bool:
        day, now = self._world.day, self._world.epoch_minutes
        ends = float(day.closes.max()) + self._worlds.params.assumed.overtime_minutes
        return bool(now >= day.midnight + 1435 or (now >= ends and not self._world.inside_people.any()))

    def _observation(self) -> NDArray[np.float32]:
        world, params = self._world, self._worlds.params
        usable = usable_doses(world.lots, is_usable(world.lots, world.epoch_minutes, params))
        to_closing = np.maximum(world.day.closes - world.epoch_minutes, 0)
        columns = (
            world.queued_people,
            world.in_service_people[..., :NUM_SERVED],
            world.seated_people[..., None],
            people_at_work(world, params),
            _travelling(world),
            _booked_by_quarter(world),
            usable[..., None],
            np.broadcast_to(to_closing, usable.shape)[..., None],
        )
        return np.concatenate(columns, axis=-1).astype(np.float32)


def _lost_people(world: World) -> NDArray[np.int64]:
    totals = world.totals
    lost: NDArray[np.int64] = (totals.balked + totals.left + totals.turned_away).sum(axis=-1)
    return lost


def _travelling(world: World) -> NDArray[np.int64]:
    """People on their way to each site by the role they will work as, (envs, S, R)."""
    people = np.zeros(world.stations_open.shape, dtype=np.int64)
    trips = world.staff_trips
    np.add.at(people.reshape(-1, NUM_ROLES), (trips["to_idx"], trips["works_as_idx"]), trips["people"])
    return people


def _booked_by_quarter(world: World) -> NDArray[np.int64]:
    """Appointments in each coming quarter hour, (envs, S, 8)."""
    first = world.minute_of_day // PERIOD_MINUTES
    ahead = world.booked_people[..., first : first + AHEAD_PERIODS]
    missing = AHEAD_PERIODS - ahead.shape[-1]
    padded = np.pad(ahead, [(0, 0)] * (ahead.ndim - 1) + [(0, missing)])
    booked: NDArray[np.int64] = padded.reshape(*ahead.shape[:-1], -1, 3).sum(axis=-1)
    return booked
