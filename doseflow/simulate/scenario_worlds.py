"""Many days of one scenario side by side: a replica a seed, each with its own people, staff and troubles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from doseflow.domain.city import City
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.decision_arrays import Neighbourhood, neighbourhood
from doseflow.simulate.opening import initial_world
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_city import scenario_day
from doseflow.simulate.step_params import StepParams, step_params
from doseflow.simulate.table import Table
from doseflow.simulate.world import World

_OPENING = 77
"""Names the stream of chance that stock and comers are drawn from."""
_OF_THE_CITY = frozenset({"lanes", "shift_starts", "shift_ends", "midnight", "opens", "closes", "today"})
"""What is the same on all days of a city, and stays without a replica axis."""
_SITE_COLUMNS = ("to_idx", "from_idx")
_MOMENTS = (
    *("midnight", "opens", "closes", "shift_starts", "shift_ends", "fridge_fails_at", "power_off_from"),
    *("power_off_until", "surge_from", "surge_until", "closed_from", "closed_until"),
)


@dataclass(frozen=True)
class ScenarioWorlds:
    """The mornings, (B, S, ...), in numpy, with what their steps need."""

    city: City
    world: World
    params: StepParams
    around: Neighbourhood


def scenario_worlds(scenario: Scenario, seeds: Sequence[int]) -> ScenarioWorlds:
    """
    A replica for each seed, at the earliest moment that any of them begins.

    The local date is that of the first seed: replicas share the clock and the calendar, not the day's luck.

    Raises
    ------
    ScenarioWrong
    """
    days = [scenario_day(scenario, seed) for seed in seeds]
    city = days[0].city
    params = step_params(city, scenario.simulation_params())
    midnight = days[0].plan.midnight
    worlds = []
    for seed, day in zip(seeds, days, strict=True):
        plan = _moved(day.plan, midnight - day.plan.midnight)
        worlds.append(initial_world(city, plan, params, np.random.default_rng([seed, _OPENING])))
    return ScenarioWorlds(city, stacked(worlds), params, neighbourhood(city))


def _moved(plan: DayPlan, minutes: float) -> DayPlan:
    """The same day at another date: every moment later by so many minutes."""
    return replace(plan, **{name: getattr(plan, name) + minutes for name in _MOMENTS})


def stacked(worlds: Sequence[World]) -> World:
    """Worlds of one city at one moment as replicas of one world."""
    num_sites = worlds[0].stations_open.shape[0]
    first = worlds[0]
    names = [f.name for f in fields(World) if f.name not in ("epoch_minutes", "lot_numbers")]
    return replace(first, **{name: _stacked([getattr(w, name) for w in worlds], num_sites) for name in names})


def _stacked(parts: Sequence[Any], num_sites: int) -> Any:
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.stack(parts)
    if isinstance(first, Table):
        return _stacked_tables(parts, num_sites)
    if isinstance(first, tuple):
        return tuple(_stacked(items, num_sites) for items in zip(*parts, strict=True))
    if is_dataclass(first) and not isinstance(first, type):
        names = [f.name for f in fields(first) if f.init and f.name not in _OF_THE_CITY]
        return replace(first, **{name: _stacked([getattr(p, name) for p in parts], num_sites) for name in names})
    return first


def _stacked_tables(tables: Sequence[Table], num_sites: int) -> Table:
    columns = {}
    for name in tables[0].columns:
        shift = num_sites if name in _SITE_COLUMNS else 0
        columns[name] = np.concatenate([table[name] + replica * shift for replica, table in enumerate(tables)])
    return Table(columns)
