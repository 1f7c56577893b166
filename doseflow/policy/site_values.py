"""
Site values: what people and arrivals are worth at every site, by a net that has lived such hours many times.

The net is asked about all sites once a cycle, and anew about those that a move has touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.site_view import site_view, value_scale_minutes, view_features
from doseflow.policy.situation import Situation
from doseflow.policy.time_ahead import share_after

TRAVELS_MINUTES: FloatArray = np.array([0.0, 15.0, 30.0, 60.0])
"""Travels for which the gain of one person more is said; between two of them it is taken to lie on the line."""
POSTS = tuple((role, works_as) for role in range(NUM_ROLES) for works_as in range(NUM_ROLES) if role != works_as)
"""Changes of post within a site, in the order in which the net says their worth."""
ADDED_PEOPLE = 2
"""Arrivals whose cost the net says, of each quarter hour."""
_NUM_GAINS = len(TRAVELS_MINUTES) * NUM_ROLES
NUM_VALUES = _NUM_GAINS + NUM_ROLES + len(POSTS) + BOOKING_BINS


class ValueNet(Protocol):
    """Person-minutes that each change adds, (N, V), from features, (N, F), and scales, (N,)."""

    def __call__(self, features: NDArray[np.float32], scale: NDArray[np.float32]) -> FloatArray:
        """Ask the net."""


class SiteValues:
    """
    Person-minutes of waiting that one person more saves and one fewer costs, a change of post saves, an arrival costs.

    Parameters
    ----------
    least_gain_minutes
        Sites at which nobody can save so much are not looked at as takers.
    """

    def __init__(
        self, situation: Situation, net: ValueNet, params: LookAheadParams, least_gain_minutes: float = 0.0
    ) -> None:
        self._view = site_view(situation, look_ahead(situation, params))
        self._net, self._departure_minutes = net, params.departure_minutes
        self._counts: BoolArray = self._view.counted_minutes.sum(axis=0) > 0
        num_sites = len(self._counts)
        self._values = np.zeros((num_sites, NUM_VALUES))
        self._is_known: BoolArray = ~self._counts
        self._ask(np.arange(num_sites))
        self.may_gain: BoolArray = -self._values[:, :_NUM_GAINS].min(axis=1) >= least_gain_minutes

    def gain(self, to_idx: IntArray, travel_minutes: FloatArray) -> FloatArray:
        """What one person more of each role saves who is sent now, (P, R), to sites and over travels, (P,)."""
        self._ask(to_idx)
        saved = -self._values[to_idx, :_NUM_GAINS].reshape(-1, len(TRAVELS_MINUTES), NUM_ROLES)
        after = np.clip(np.searchsorted(TRAVELS_MINUTES, travel_minutes), 1, len(TRAVELS_MINUTES) - 1)
        low, high = TRAVELS_MINUTES[after - 1], TRAVELS_MINUTES[after]
        part = np.clip((travel_minutes - low) / (high - low), 0.0, 1.0)[:, None]
        rows = np.arange(len(to_idx))
        gain: FloatArray = (1 - part) * saved[rows, after - 1] + part * saved[rows, after]
        return gain

    def loss(self, from_idx: IntArray) -> FloatArray:
        """What one person fewer of each role costs who is sent away now, (P, R)."""
        self._ask(from_idx)
        return self._values[from_idx, _NUM_GAINS : _NUM_GAINS + NUM_ROLES]

    def post(self, site_idx: IntArray) -> FloatArray:
        """What one person saves who changes post, (P, R, R) by role and role worked as; minus infinity for the same."""
        self._ask(site_idx)
        saved = np.full((len(site_idx), NUM_ROLES, NUM_ROLES), -np.inf)
        first = _NUM_GAINS + NUM_ROLES
        for place, (role, works_as) in enumerate(POSTS):
            saved[:, role, works_as] = -self._values[site_idx, first + place]
        return saved

    def arrival_minutes(self) -> FloatArray:
        """What one arrival more costs everybody in each coming quarter hour, (S, 8), at least 0."""
        self._ask(np.arange(len(self._counts)))
        cost: FloatArray = np.maximum(self._values[:, -BOOKING_BINS:] / ADDED_PEOPLE, 0.0)
        return cost

    def move(
        self, from_idx: int, to_idx: int, role_idx: int, works_as_idx: int, travel_minutes: float, people: int = 1
    ) -> None:
        """Count people as sent."""
        gone, there = (
            share_after(np.array([self._departure_minutes + travel]))[:, 0] for travel in (0.0, travel_minutes)
        )
        self._view.people[:, role_idx, from_idx] -= people * gone
        self._view.people[:, works_as_idx, to_idx] += people * there
        self._is_known[[from_idx, to_idx]] = ~self._counts[[from_idx, to_idx]]

    def _ask(self, site_idx: IntArray) -> None:
        sites = np.unique(site_idx[~self._is_known[site_idx]])
        if len(sites):
            view = self._view.of(sites)
            self._values[sites] = self._net(view_features(view), value_scale_minutes(view).astype(np.float32))
            self._is_known[sites] = True


def checked_values(outputs: Mapping[str, NDArray[Any]], num_sites: int) -> FloatArray | None:
    """The net's answer, (N, V), or None where it cannot be right."""
    values = outputs.get("value_minutes")
    if values is None or values.shape != (num_sites, NUM_VALUES) or not np.isfinite(values).all():
        return None
    return values.astype(np.float64)
