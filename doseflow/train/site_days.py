"""Views of sites on simulated days, as they are and a little changed, for a net that values people."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.site_view import SITE_FIELDS, SiteView, site_view, value_scale_minutes, view_features
from doseflow.policy.situation import survey
from doseflow.policy.time_ahead import share_after
from doseflow.train.city_days import live_day
from doseflow.train.training_scenarios import training_scenario

Rows = dict[str, NDArray[np.float32]]
"""Features, scale and the fields of `SiteView`, sites first."""
MOST_PEOPLE_OF_A_ROLE = 30.0


@dataclass(frozen=True)
class ViewOrder:
    """Which day is wanted, every how many cycles it is looked at, and how often each view is changed."""

    seed: int
    stride: int = 6
    copies: int = 2


def rows_of_day(order: ViewOrder) -> Rows:
    """Views of the day of an order."""
    rng = np.random.default_rng([order.seed, 72])
    forecaster, seen, cycles = BookingsFirst(), [], iter(range(10_000))

    def look(state: CityState) -> None:
        if (next(cycles) + order.seed) % order.stride:
            return
        situation = survey(state, forecaster(state), NeedParams())
        view = site_view(situation, look_ahead(situation, LookAheadParams()))
        sites = np.flatnonzero(view.counted_minutes.sum(axis=0) > 0)
        if not len(sites):
            return
        view = view.of(sites)
        fluid = fluid_values(situation, sites)
        seen.append(rows_of_view(view) | {"fluid": fluid})
        for _ in range(order.copies):
            seen.append(rows_of_view(changed(view, rng)) | {"fluid": np.full_like(fluid, np.nan)})

    live_day(training_scenario(order.seed), order.seed, look)
    return {name: np.concatenate([one[name] for one in seen]) for name in seen[0]}


def fluid_values(situation, sites):
    from doseflow.policy.person_values import PersonValues
    from doseflow.train.site_rollouts import TRAVELS_MINUTES
    values = PersonValues(situation, LookAheadParams())
    gains = [-values.gain(sites, np.full(len(sites), t)) for t in TRAVELS_MINUTES]
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
    queue = queue + rng.poisson(rng.exponential(3.0, num_sites) * (rng.random(num_sites) < 0.4), view.queue_people.shape)
    people = view.people.copy()
    for role_idx in range(NUM_ROLES):
        more = rng.choice([-1, 0, 0, 1, 1], num_sites)
        people[:, role_idx] += more * share_after(rng.uniform(0, 60, num_sites))
    return replace(
        view,
        queue_people=np.round(queue),
        arriving_people=view.arriving_people * factor,
        people=np.clip(people, 0.0, MOST_PEOPLE_OF_A_ROLE),
        most_people=np.maximum(view.most_people, np.ceil(people.max(axis=0)) * (rng.random(num_sites) < 0.7)),
    )


def made_rows(orders: Sequence[ViewOrder], workers: int | None = None, on_day: Callable[[], None] = lambda: None) -> Rows:
    """Rows of all orders, in their order, by several processes of one thread each."""
    workers = workers or len(os.sched_getaffinity(0))
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    context = multiprocessing.get_context("spawn")
    days: dict[int, Rows] = {}
    with ProcessPoolExecutor(max_workers=workers, mp_context=context) as pool:
        futures = {pool.submit(rows_of_day, order): place for place, order in enumerate(orders)}
        for future in as_completed(futures):
            days[futures[future]] = future.result()
            on_day()
    return {name: np.concatenate([days[place][name] for place in range(len(orders))]) for name in days[0]}
