"""
The expert that may be imitated: what the programme of `scenario_mpc` says that people are worth at a site.

Its objective with one person more or fewer, or people more who come, less its objective as it is, while nobody is sent
anywhere: what one move is worth to the programme before it makes any. With nobody to send the programme falls apart
into sites, and its least queues are the recursion of `cumulative_queue`, so that no solver is needed. Two-stage experts
teach better than those who know the future (arXiv 2601.05383), which is why the five futures are kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES, VACCINATION_IDX
from doseflow.policy.mpc.fluid_city import FluidCity
from doseflow.policy.mpc.fluid_queue import cumulative_queue
from doseflow.policy.mpc.margins import Margins
from doseflow.policy.mpc.mpc_staffing import scenario_staffing
from doseflow.policy.mpc.params import ScenarioParams
from doseflow.policy.site_values import ADDED_PEOPLE, TRAVELS_MINUTES
from doseflow.policy.situation import Situation
from doseflow.policy.walk_in_worth import BIN_MINUTES
from doseflow.train.site_change import MOST_PEOPLE_OF_A_ROLE, SiteChange


class ScenarioExpert:
    """The programme of `scenario_mpc` with its own parameters, asked about single sites."""

    def __init__(self) -> None:
        self._staffing = scenario_staffing(ScenarioParams())

    def values(self, situation: Situation, sites: IntArray, change: SiteChange | None = None) -> FloatArray:
        """
        Person-minutes that each change of `SiteValues` adds at these sites, (N, V).

        0 at a site that the programme does not model, since something of it is unknown.
        """
        city, waiting_minutes, margins = self._staffing.reads(situation)
        city, margins = _at(city, sites), replace(margins, target_people=margins.target_people[:, sites])
        if change is not None:
            city = changed_city(city, change)
        return values_of(city, waiting_minutes[sites], margins)


def values_of(city: FluidCity, waiting_minutes: FloatArray, margins: Margins) -> FloatArray:
    """What each change of `SiteValues` adds to the objective of a city in which nobody is sent, (S, V)."""
    grid = city.grid
    as_it_is = objective(city, waiting_minutes, margins)
    there = grid.in_effect_share(grid.set_out_minutes + grid.begin_minutes + np.array(TRAVELS_MINUTES))
    gone = grid.in_effect_share(np.array(grid.set_out_minutes))
    changed = [_with_people(city, role_idx, share) for share in there for role_idx in range(NUM_ROLES)]
    changed += [_with_people(city, role_idx, -gone) for role_idx in range(NUM_ROLES)]
    changed += [_with_arrivals(city, bin_idx) for bin_idx in range(BOOKING_BINS)]
    added = np.stack([objective(one, waiting_minutes, margins) - as_it_is for one in changed], axis=1)
    return np.where(city.known[:, None], added, 0.0)


def objective(city: FluidCity, waiting_minutes: FloatArray, margins: Margins) -> FloatArray:
    """Least person-minutes of each site while nobody is sent, (S,): weighted queues, and people missing at margins."""
    capacity = city.capacity(np.maximum(city.present_people, 0.0))
    queue = cumulative_queue(city.queue_people, city.arrivals_people, capacity)[..., VACCINATION_IDX, :]
    missing = np.maximum(margins.target_people - city.present_people[..., -1], 0.0)
    queued_minutes: FloatArray = (queue * waiting_minutes).sum(axis=-1).mean(axis=0)
    missing_minutes: FloatArray = (missing * margins.missing_minutes[:, None]).sum(axis=(0, 2))
    return queued_minutes + missing_minutes


def changed_city(city: FluidCity, change: SiteChange) -> FluidCity:
    """The fluid city of sites that are other than they were seen."""
    share = city.grid.in_effect_share(change.from_minutes.T)
    present = np.clip(city.present_people + change.more_people.T[..., None] * share, 0.0, MOST_PEOPLE_OF_A_ROLE)
    return replace(
        city,
        queue_people=np.cumsum(change.queue_people, axis=0).T,
        arrivals_people=city.arrivals_people * change.arrivals_factor[:, None],
        present_people=present,
        most_people=np.maximum(city.most_people, change.least_places.T),
    )


def _with_people(city: FluidCity, role_idx: int, share: FloatArray) -> FluidCity:
    """A person more of a role, or fewer, for so much of each block, (B,)."""
    present = city.present_people.copy()
    present[:, role_idx] += share
    return replace(city, present_people=present)


def _with_arrivals(city: FluidCity, bin_idx: int) -> FluidCity:
    """People more who come evenly over a quarter hour."""
    grid = city.grid
    starts, ends = bin_idx * BIN_MINUTES, (bin_idx + 1) * BIN_MINUTES
    inside = np.minimum(grid.starts + grid.lengths, ends) - np.maximum(grid.starts, starts)
    more = ADDED_PEOPLE * np.maximum(inside, 0.0) / BIN_MINUTES
    return replace(city, arrivals_people=city.arrivals_people + more)


def _at(city: FluidCity, sites: IntArray) -> FluidCity:
    return replace(
        city,
        known=city.known[sites],
        queue_people=city.queue_people[sites],
        arrivals_people=city.arrivals_people[:, sites],
        present_people=city.present_people[sites],
        most_people=city.most_people[sites],
        served_per_person=city.served_per_person[sites],
    )
