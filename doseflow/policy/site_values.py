"""
Site values: what people and arrivals are worth at every site, by a net that has lived such hours many times.

The net is asked about all sites once a cycle, and anew about those that a move has touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES, ROLES
from doseflow.errors import EngineFailed
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.site_view import site_view, value_scale_minutes, view_features
from doseflow.policy.situation import Situation
from doseflow.policy.time_ahead import share_after
from doseflow.ports import Engine

FEATURES_INPUT, VALUES_OUTPUT = "features", "values"
TRAVELS_MINUTES = (0.0, 15.0, 30.0, 60.0)
"""Travels for which the net says what one person more saves; between two of them it is taken to lie on the line."""
ADDED_PEOPLE = 2
"""Arrivals whose cost together the net says, of each quarter hour: one alone drowns in chance."""
ROWS_OF_A_QUESTION = 256
"""Sites asked about at once: so many fit the processor's own memory, of which more would take twice the time a site."""
_NUM_GAINS = len(TRAVELS_MINUTES) * NUM_ROLES
NUM_VALUES = _NUM_GAINS + NUM_ROLES + BOOKING_BINS
"""One person more by travel and role, one fewer by role, and arrivals by quarter hour, in this order."""


@dataclass(frozen=True, slots=True)
class ValueWeights:
    """How often what the net says one person more saves counts, by role; once as it is."""

    registrar: float = 1.0
    """Of a registrar more."""
    screener: float = 1.0
    """Of a screener more."""
    vaccinator: float = 1.0
    """Of a vaccinator more."""
    observer: float = 1.0
    """Of an observer more."""

    def __post_init__(self) -> None:
        for role in ROLES:
            if not 0.1 <= getattr(self, role) <= 10:
                raise ValueError(f"{role}: must lie in 0.1..10, got {getattr(self, role)}")

    def by_role(self) -> FloatArray:
        """(R,)."""
        return np.array([getattr(self, role) for role in ROLES])


class SiteValues:
    """
    Person-minutes that one person more saves, one person fewer costs, and one arrival more costs, at every site.

    A site where nothing counts any more, since it is closed or its shift ends now, is not asked about: all is 0 there.

    Parameters
    ----------
    engine
        Runs the net: features of sites, (N, F), to what changes add, (N, V), in units of each site's scale.
    least_gain_minutes
        Sites at which nobody can save so much are not looked at as takers.
    weights
        Of gains, by role.

    Raises
    ------
    EngineFailed
        The engine failed or answered what cannot be right; every method that may ask the net raises it too.
    """

    def __init__(
        self,
        situation: Situation,
        engine: Engine,
        params: LookAheadParams,
        least_gain_minutes: float = 0.0,
        weights: ValueWeights | None = None,
    ) -> None:
        self._view = site_view(situation, look_ahead(situation, params))
        self._engine, self._departure_minutes = engine, params.departure_minutes
        self._added_weights = np.ones(NUM_VALUES)
        self._added_weights[:_NUM_GAINS] = np.tile((weights or ValueWeights()).by_role(), len(TRAVELS_MINUTES))
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
        travels = np.array(TRAVELS_MINUTES)
        after = np.clip(np.searchsorted(travels, travel_minutes), 1, len(travels) - 1)
        low, high = travels[after - 1], travels[after]
        part = np.clip((travel_minutes - low) / (high - low), 0.0, 1.0)[:, None]
        rows = np.arange(len(to_idx))
        gain: FloatArray = (1 - part) * saved[rows, after - 1] + part * saved[rows, after]
        return gain

    def loss(self, from_idx: IntArray) -> FloatArray:
        """What one person fewer of each role costs who is sent away now, (P, R)."""
        self._ask(from_idx)
        return self._values[from_idx, _NUM_GAINS : _NUM_GAINS + NUM_ROLES]

    def arrival_minutes(self) -> FloatArray:
        """What one arrival more costs everybody in each coming quarter hour, (S, 8), at least 0."""
        self._ask(np.arange(len(self._counts)))
        cost: FloatArray = np.maximum(self._values[:, -BOOKING_BINS:] / ADDED_PEOPLE, 0.0)
        return cost

    def move(
        self, from_idx: int, to_idx: int, role_idx: int, works_as_idx: int, travel_minutes: float, people: int = 1
    ) -> None:
        """Count people as sent."""
        departs = self._departure_minutes
        self._view.people[:, role_idx, from_idx] -= people * share_after(np.array([departs]))[:, 0]
        self._view.people[:, works_as_idx, to_idx] += people * share_after(np.array([departs + travel_minutes]))[:, 0]
        touched = [from_idx, to_idx]
        self._is_known[touched] = ~self._counts[touched]

    def _ask(self, site_idx: IntArray) -> None:
        if not self._is_known[site_idx].all():
            # All that moves have touched together: a question costs more than a row.
            sites = np.flatnonzero(~self._is_known)
            for start in range(0, len(sites), ROWS_OF_A_QUESTION):
                self._ask_about(sites[start : start + ROWS_OF_A_QUESTION])

    def _ask_about(self, sites: IntArray) -> None:
        view = self._view.of(sites)
        values = checked_values(self._engine.run({FEATURES_INPUT: view_features(view)}), len(sites))
        self._values[sites] = values * value_scale_minutes(view)[:, None] * self._added_weights
        self._is_known[sites] = True


def checked_values(outputs: Mapping[str, NDArray[Any]], num_sites: int) -> FloatArray:
    """
    The net's answer, (N, V).

    Raises
    ------
    EngineFailed
        It cannot be right.
    """
    values = outputs.get(VALUES_OUTPUT)
    if values is None:
        raise EngineFailed(f"{VALUES_OUTPUT}: must be among the outputs, got {', '.join(outputs) or 'none'}")
    if values.shape != (num_sites, NUM_VALUES):
        raise EngineFailed(f"{VALUES_OUTPUT}: must be ({num_sites}, {NUM_VALUES}), got {values.shape}")
    if not np.isfinite(values).all():
        wrong = np.count_nonzero(~np.isfinite(values))
        raise EngineFailed(f"{VALUES_OUTPUT}: must be finite, got {wrong} values that are not")
    return values.astype(np.float64)
