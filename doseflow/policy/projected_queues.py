"""Queues as they will be when somebody who is sent now has been there a while: what index rules of queues look at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX, VACCINATION_IDX
from doseflow.policy.fluid_line import reflected
from doseflow.policy.look_ahead import EXPECTED_CASE, LookAheadParams, look_ahead
from doseflow.policy.situation import Situation
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES, share_after

QueuePrice = Callable[[FloatArray], FloatArray]
"""Worth of somebody serving each stage, (R - 1, N), from the queues of the stages, (R - 1, N)."""


class ProjectedWorth:
    """
    Worth of people by the queues that the fluid line projects.

    Parameters
    ----------
    price
        What somebody is worth where such queues wait.
    review_minutes
        Time at work after which the queue is looked at; a queue that is gone by then needs nobody.
    """

    def __init__(
        self, situation: Situation, look_ahead_params: LookAheadParams, price: QueuePrice, review_minutes: float
    ) -> None:
        self._ahead = look_ahead(situation, look_ahead_params)
        self._people = self._ahead.people.copy()
        self._price, self._review_minutes = price, review_minutes
        self._departure_minutes = look_ahead_params.departure_minutes
        num_sites = situation.state.city.num_sites
        self._gain_prices = np.zeros((len(GRID_MINUTES), NUM_ROLES, num_sites))
        self._loss_prices = np.zeros((NUM_ROLES, num_sites))
        self._is_known: BoolArray = np.zeros(num_sites, dtype=np.bool_)
        self._reckon(np.arange(num_sites))
        self.may_gain: BoolArray = self._gain_prices.max(axis=(0, 1)) > 0

    def gain(self, to_idx: IntArray, travel_minutes: FloatArray) -> FloatArray:
        """Price at the stage of each role when who is sent now has been there a while, (P, R)."""
        self._reckon_unknown(to_idx)
        prices: FloatArray = self._gain_prices[self._step_at(travel_minutes), :, to_idx]
        return prices

    def loss(self, from_idx: IntArray) -> FloatArray:
        """Price at the stage of each role had one left some time ago, (P, R)."""
        self._reckon_unknown(from_idx)
        prices: FloatArray = self._loss_prices[:, from_idx].T
        return prices

    def move(
        self, from_idx: int, to_idx: int, role_idx: int, works_as_idx: int, travel_minutes: float, people: int = 1
    ) -> None:
        """Count people as sent."""
        leaving, arriving = share_after(self._departure_minutes + np.array([0.0, travel_minutes])).T
        self._people[:, role_idx, from_idx] -= people * leaving
        self._people[:, works_as_idx, to_idx] += people * arriving
        self._is_known[[from_idx, to_idx]] = False

    def _step_at(self, travel_minutes: FloatArray) -> IntArray:
        looked_at = self._departure_minutes + travel_minutes + self._review_minutes
        return np.minimum(np.searchsorted(GRID_ENDS_MINUTES, looked_at), len(GRID_MINUTES) - 1)

    def _reckon_unknown(self, sites: IntArray) -> None:
        unknown = np.unique(sites[~self._is_known[sites]])
        if len(unknown):
            self._reckon(unknown)

    def _reckon(self, sites: IntArray) -> None:
        people = self._people[:, :, sites]
        self._gain_prices[:, :, sites] = self._prices(sites, people)
        step = int(self._step_at(np.zeros(1))[0])
        leaving = share_after(np.array([self._departure_minutes]))
        for role_idx in range(NUM_ROLES):
            fewer = people.copy()
            fewer[:, role_idx] -= leaving
            self._loss_prices[role_idx, sites] = self._prices(sites, fewer)[step, role_idx]
        self._is_known[sites] = True

    def _prices(self, sites: IntArray, people: FloatArray) -> FloatArray:
        """(G, R, N); where seats hold up the needles, an observer is worth what a vaccinator would be, and not he."""
        served = np.clip(people, 0.0, self._ahead.most_people[:, sites])
        served *= self._ahead.per_minute[:, None] * GRID_MINUTES[:, None, None]
        seats_bind = served[:, OBSERVATION_IDX] < served[:, VACCINATION_IDX]
        served[:, VACCINATION_IDX] = served[:, [VACCINATION_IDX, OBSERVATION_IDX]].min(axis=1)
        queues = self._queues(sites, np.cumsum(served[:, :OBSERVATION_IDX], axis=0))
        prices = np.zeros(people.shape)
        counts = self._ahead.counted_minutes[:, None, sites] > 0
        prices[:, :OBSERVATION_IDX] = self._price(queues) * counts
        prices[:, OBSERVATION_IDX] = np.where(seats_bind, prices[:, VACCINATION_IDX], 0.0)
        prices[:, VACCINATION_IDX] = np.where(seats_bind, 0.0, prices[:, VACCINATION_IDX])
        return prices

    def _queues(self, sites: IntArray, can_serve: FloatArray) -> FloatArray:
        """Waiting at each stage at the end of each step, as many coming as expected, (G, R - 1, N)."""
        come = self._ahead.come_people[:, EXPECTED_CASE, sites]
        queues = np.empty_like(can_serve)
        for stage_idx in range(OBSERVATION_IDX):
            come = come + self._ahead.queue_people[stage_idx, sites]
            queues[:, stage_idx] = reflected(come - can_serve[:, stage_idx])
            come = come - queues[:, stage_idx]
        return queues
