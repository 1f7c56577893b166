"""Marginal values of the look-ahead, reckoned only where they are asked for and kept until a move changes them."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.roles import NUM_ROLES
from doseflow.policy.fluid_line import FluidLine
from doseflow.policy.look_ahead import LookAhead, LookAheadParams, look_ahead
from doseflow.policy.situation import Situation
from doseflow.policy.time_ahead import share_after

_TRAVEL_GRID_MINUTES = np.array([0.0, 15.0, 30.0, 60.0, 120.0])
"""Travels for which gains are reckoned; between two of them they are taken to lie on the line."""


class PersonValues:
    """
    Person-minutes of waiting that one person more saves, and one fewer costs, at every site.

    Parameters
    ----------
    least_gain_minutes
        Gains below it need not be told apart: a site with less waiting than that cannot gain so much.
    """

    def __init__(self, situation: Situation, params: LookAheadParams, least_gain_minutes: float = 0.0) -> None:
        self._ahead: LookAhead = look_ahead(situation, params)
        self._people = self._ahead.people.copy()
        self._departure_minutes = params.departure_minutes
        num_sites = situation.state.city.num_sites
        self._leaving = share_after(np.array([params.departure_minutes]))
        self._arriving = share_after(params.departure_minutes + _TRAVEL_GRID_MINUTES)[:, :, None]
        self.may_gain: BoolArray = self._line(np.arange(num_sites)).waiting_minutes >= least_gain_minutes
        self._gain = np.zeros((len(_TRAVEL_GRID_MINUTES), NUM_ROLES, num_sites))
        self._loss = np.zeros((NUM_ROLES, num_sites))
        self._has_gain: BoolArray = np.zeros(num_sites, dtype=bool)
        self._has_loss: BoolArray = np.zeros(num_sites, dtype=bool)

    def gain(self, to_idx: IntArray, travel_minutes: FloatArray) -> FloatArray:
        """What one person more of each role saves who is sent now, (P, R), to sites and over travels, (P,)."""
        self._reckon_gains(np.unique(to_idx[~self._has_gain[to_idx]]))
        after = np.clip(np.searchsorted(_TRAVEL_GRID_MINUTES, travel_minutes), 1, len(_TRAVEL_GRID_MINUTES) - 1)
        low, high = _TRAVEL_GRID_MINUTES[after - 1], _TRAVEL_GRID_MINUTES[after]
        part = np.clip((travel_minutes - low) / (high - low), 0.0, 1.0)[:, None]
        gain: FloatArray = (1 - part) * self._gain[after - 1, :, to_idx] + part * self._gain[after, :, to_idx]
        return gain

    def loss(self, from_idx: IntArray) -> FloatArray:
        """What one person fewer of each role costs who is sent away now, (P, R)."""
        self._reckon_losses(np.unique(from_idx[~self._has_loss[from_idx]]))
        loss: FloatArray = self._loss[:, from_idx].T
        return loss

    def move(
        self, from_idx: int, to_idx: int, role_idx: int, works_as_idx: int, travel_minutes: float, people: int = 1
    ) -> None:
        """Count people as sent."""
        arriving = share_after(np.array([self._departure_minutes + travel_minutes]))[:, 0]
        self._people[:, role_idx, from_idx] -= people * self._leaving[:, 0]
        self._people[:, works_as_idx, to_idx] += people * arriving
        self._has_gain[[from_idx, to_idx]] = self._has_loss[[from_idx, to_idx]] = False

    def _line(self, sites: IntArray) -> FluidLine:
        return FluidLine(self._ahead, sites, self._people[:, :, sites])

    def _reckon_gains(self, sites: IntArray) -> None:
        if not len(sites):
            return
        line = self._line(sites)
        for role_idx in range(NUM_ROLES):
            self._gain[:, role_idx, sites] = line.waiting_minutes - line.with_people({role_idx: self._arriving})
        self._has_gain[sites] = True

    def _reckon_losses(self, sites: IntArray) -> None:
        if not len(sites):
            return
        line = self._line(sites)
        for role_idx in range(NUM_ROLES):
            self._loss[role_idx, sites] = line.with_people({role_idx: -self._leaving[:, :, None]})[0]
        self._loss[:, sites] -= line.waiting_minutes
        self._has_loss[sites] = True
