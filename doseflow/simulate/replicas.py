"""Many copies of one world side by side, in any array library: what training and large what-ifs step at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from doseflow.simulate.draws import Array
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Table
from doseflow.simulate.world import World

_SHARED = ("day", "lot_numbers", "epoch_minutes")
"""What all replicas have in common: the day as it was planned, and the clock."""
_SITE_COLUMNS = ("to_idx", "from_idx")


def replicated(world: World, num_replicas: int) -> World:
    """A numpy world (S, ...) as so many replicas of itself, (B, S, ...); each then goes its own way."""
    num_sites = world.stations_open.shape[0]

    def of(value: Any) -> Any:
        if isinstance(value, Table):
            return _replicated_table(value, num_replicas, num_sites)
        if isinstance(value, np.ndarray):
            return np.broadcast_to(value, (num_replicas, *value.shape)).copy()
        if isinstance(value, tuple):
            return tuple(of(item) for item in value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: of(getattr(value, f.name)) for f in fields(value) if f.name != "lanes"})
        return value

    return replace(world, **{f.name: of(getattr(world, f.name)) for f in fields(world) if f.name not in _SHARED})


def _replicated_table(table: Table, num_replicas: int, num_sites: int) -> Table:
    replica = np.repeat(np.arange(num_replicas), len(table))
    columns = {name: np.tile(column, num_replicas) for name, column in table.columns.items()}
    for name in _SITE_COLUMNS:
        if name in columns:
            columns[name] = columns[name] + replica * num_sites
    return Table(columns)


def converted(thing: Any, convert: Callable[[Array], Array]) -> Any:
    """
    A world, parameters, or any part of them with every array handed to `convert`, such as `torch.as_tensor`.

    Numbers that are no arrays stay as they are.
    """
    if isinstance(thing, np.ndarray):
        return convert(thing)
    if isinstance(thing, Table):
        return Table({name: convert(column) for name, column in thing.columns.items()})
    if isinstance(thing, tuple):
        return tuple(converted(item, convert) for item in thing)
    if isinstance(thing, World | StepParams) or (is_dataclass(thing) and not isinstance(thing, type)):
        changed = {f.name: converted(getattr(thing, f.name), convert) for f in fields(thing) if f.init}
        return replace(thing, **{name: value for name, value in changed.items() if value is not getattr(thing, name)})
    return thing
