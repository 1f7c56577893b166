"""Views of sites on simulated days, as they are and a little changed, for a net that values people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import IntArray
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.person_values import PersonValues
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.site_values import TRAVELS_MINUTES
from doseflow.policy.site_view import SITE_FIELDS, SiteView, site_view, value_scale_minutes, view_features
from doseflow.policy.situation import Situation, survey
from doseflow.policy.time_ahead import share_after
from doseflow.train.by_processes import by_processes
from doseflow.train.city_days import live_day
from doseflow.train.training_scenarios import training_scenario

Rows = dict[str, NDArray[np.float32]]
"""Features, (N, F), scale, (N,), and the fields of `SiteView`, sites first; all float32."""
MOST_PEOPLE_OF_A_ROLE = 30.0
_ROUND_THE_DAY_SEED = 72


@dataclass(frozen=True)
class ViewOrder:
    """Which day is wanted, every how many cycles it is looked at, and how often each view is changed."""

    seed: int
    stride: int = 6
    copies: int = 2
    with_fluid: bool = False
    """Whether the rows also say what the fluid queue gives for the same changes."""


def rows_of_day(order: ViewOrder) -> Rows:
    """Rows of the sites of a day where anything counts."""
    rng = np.random.default_rng([order.seed, _ROUND_THE_DAY_SEED])
    forecaster, seen, cycles = BookingsFirst(), list[Rows](), iter(range(10_000))

    def look(state: CityState) -> None:
        if (next(cycles) + order.seed) % order.stride:
            return
        situation = survey(state, forecaster(state), NeedParams())
        view = site_view(situation, look_ahead(situation, LookAheadParams()))
        sites = np.flatnonzero(view.counted_minutes.sum(axis=0) > 0)
        view = view.of(sites)
        fluid = {"fluid": fluid_values(situation, sites)} if order.with_fluid else {}
        seen.append(rows_of_view(view) | fluid)
        if not order.with_fluid:
            seen.extend(rows_of_view(changed(view, rng)) for _ in range(order.copies))

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


def changed(view: SiteView, rng: np.random.Generator) -> SiteView:
    """The same sites with other queues, arrivals and people, as they might be after moves or on a worse day."""
    num_sites = len(view.open_minutes)
    factor = np.exp(rng.normal(0, 0.3, num_sites))
    queue = view.queue_people * np.exp(rng.normal(0, 0.7, view.queue_people.shape))
    burst = rng.exponential(3.0, num_sites) * (rng.random(num_sites) < 0.4)
    people = view.people.copy()
    for role_idx in range(NUM_ROLES):
        more = rng.choice([-1, 0, 0, 1, 1], num_sites)
        people[:, role_idx] += more * share_after(rng.uniform(0, 60, num_sites))
    least_places = np.ceil(people.max(axis=0)) * (rng.random(num_sites) < 0.7)
    return replace(
        view,
        queue_people=np.round(queue + rng.poisson(burst, view.queue_people.shape)),
        arriving_people=view.arriving_people * factor,
        people=np.clip(people, 0.0, MOST_PEOPLE_OF_A_ROLE),
        most_people=np.maximum(view.most_people, least_places),
    )


def made_rows(orders: Sequence[ViewOrder], workers: int | None, on_day: Callable[[], None] = lambda: None) -> Rows:
    """Rows of all orders, one day after the other."""
    return joined(by_processes(rows_of_day, orders, workers, on_day))


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
