"""Views of sites on simulated days, as they are and a little changed, for a net that values people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import IntArray
from doseflow.domain.state import CityState
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.person_values import PersonValues
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.site_values import TRAVELS_MINUTES
from doseflow.policy.site_view import SITE_FIELDS, SiteView, site_view, value_scale_minutes, view_features
from doseflow.policy.situation import Situation, survey
from doseflow.train.by_processes import by_processes
from doseflow.train.city_days import live_day
from doseflow.train.scenario_expert import ScenarioExpert
from doseflow.train.site_change import SiteChange, drawn_change
from doseflow.train.training_scenarios import training_scenario

Rows = dict[str, NDArray[np.float32]]
"""Features, (N, F), scale, (N,), the fields of `SiteView`, sites first, and an expert's labels, (N, V); all float32."""
_ROUND_THE_DAY_SEED = 72
LIVES, PROGRAMME = "lives", "programme"
TEACHERS = (LIVES, PROGRAMME)


@dataclass(frozen=True)
class ViewOrder:
    """Which day is wanted, every how many cycles it is looked at, and how often each view is changed."""

    seed: int
    stride: int = 6
    copies: int = 2
    with_fluid: bool = False
    """Whether the rows also say what the fluid queue gives for the same changes."""
    teacher: str = LIVES
    """Whose labels the rows get: `lives` gives none, since they are lived later, and `programme` those of an expert."""


def rows_of_day(order: ViewOrder) -> Rows:
    """Rows of the sites of a day where anything counts."""
    rng = np.random.default_rng([order.seed, _ROUND_THE_DAY_SEED])
    forecaster, seen, cycles = BookingsFirst(), list[Rows](), iter(range(10_000))
    expert = ScenarioExpert() if order.teacher == PROGRAMME else None

    def taught(view: SiteView, situation: Situation, sites: IntArray, change: SiteChange | None) -> Rows:
        if expert is None:
            return {}
        scale = value_scale_minutes(view if change is None else change.of(view))
        return {"labels": (expert.values(situation, sites, change) / scale[:, None]).astype(np.float32)}

    def look(state: CityState) -> None:
        if (next(cycles) + order.seed) % order.stride:
            return
        situation = survey(state, forecaster(state), NeedParams())
        view = site_view(situation, look_ahead(situation, LookAheadParams()))
        sites = np.flatnonzero(view.counted_minutes.sum(axis=0) > 0)
        view = view.of(sites)
        fluid = {"fluid": fluid_values(situation, sites)} if order.with_fluid else {}
        seen.append(rows_of_view(view) | fluid | taught(view, situation, sites, None))
        for _ in range(0 if order.with_fluid else order.copies):
            change = drawn_change(view, rng)
            seen.append(rows_of_view(change.of(view)) | taught(view, situation, sites, change))

    live_day(training_scenario(order.seed), order.seed, look)
    return joined(seen)


def fluid_values(situation: Situation, sites: IntArray) -> NDArray[np.float32]:
    """What the fluid queue says of one person more, by travel and role, and of one fewer, (N, 20), in minutes."""
    values = PersonValues(situation, LookAheadParams())
    gains = [-values.gain(sites, np.full(len(sites), travel)) for travel in TRAVELS_MINUTES]
    return np.concatenate([*gains, values.loss(sites)], axis=1).astype(np.float32)


def rows_of_view(view: SiteView) -> Rows:
    """A view as rows, and what a net is shown of it."""
    rows = {name: np.moveaxis(np.asarray(getattr(view, name)), -1, 0).astype(np.float32) for name in SITE_FIELDS}
    return rows | {"features": view_features(view), "scale": value_scale_minutes(view).astype(np.float32)}


def made_rows(orders: Sequence[ViewOrder], workers: int | None, on_day: Callable[[], None] = lambda: None) -> Rows:
    """Rows of all orders, one day after the other."""
    return joined(by_processes(rows_of_day, orders, workers, on_day))


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
