"""
Proportional to the forecast: the city's people of each role are shared as the load is.

Moves go from the site most over its share to the one most under it, over the shortest way where several are equal, and
none within a dead band, so that plans do not flap.

References
----------
N. Gans, G. Koole and A. Mandelbaum, Telephone call centers: tutorial, review, and research prospects, Manufacturing and
Service Operations Management 5(2), 2003, doi:10.1287/msom.5.2.79.16071: the offered load that people are shared by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.policy.exchange import ExchangeParams, exchange_moves
from doseflow.policy.situation import Situation
from doseflow.units import MINUTES_PER_HOUR


@dataclass(frozen=True, slots=True)
class ProportionalParams:
    """How the load is reckoned, and from which distance on somebody moves."""

    dead_band_people: float = 3.0
    """Giver's surplus and receiver's shortage together, from which on somebody moves; a move takes 2 off it."""
    clear_queue_minutes: float = float(MINUTES_PER_HOUR)
    """Time in which the queue of the moment is to be worked off."""

    def __post_init__(self) -> None:
        if not 1 < self.dead_band_people <= 100:
            raise ValueError(f"dead_band_people: must lie in 1..100, 1 excluded, got {self.dead_band_people}")
        if not 1 <= self.clear_queue_minutes <= 240:
            raise ValueError(f"clear_queue_minutes: must lie in 1..240, got {self.clear_queue_minutes}")


def proportional_moves(situation: Situation, params: ProportionalParams) -> list[StaffMove]:
    """Moves that bring people to where the load is."""
    worth = DistanceFromShare(situation, shares_people(situation, params))
    exchange = ExchangeParams(least_net=params.dead_band_people, kept_net=1.0)
    return exchange_moves(situation, worth, exchange)


def shares_people(situation: Situation, params: ProportionalParams) -> FloatArray:
    """
    People whom each site should have, (S, R), in fractions, but no more than it has places for.

    Sites that do not operate, or whose arrivals or people are unknown, are left out with what they have.
    """
    state, standing = situation.state, situation.standing
    present = situation.heads.staying_people + situation.heads.coming_people
    known = np.asarray(standing.operating & standing.staff_fresh & np.isfinite(situation.rate_per_minute))
    load = np.where(known, situation.rate_per_minute, 0.0)[:, None] * np.array(state.city.service_minutes)
    waiting = np.cumsum(np.nan_to_num(state.waiting_people[:, :OBSERVATION_IDX]), axis=1)
    service_minutes = np.array(state.city.service_minutes[:OBSERVATION_IDX])
    load[:, :OBSERVATION_IDX] += waiting * service_minutes / params.clear_queue_minutes
    load[~known] = 0.0
    city_people = present[known].sum(axis=0)
    total = load.sum(axis=0)
    shares = np.where(total > 0, load * city_people / np.where(total > 0, total, 1.0), present)
    places = np.fmax(state.stations_possible, state.city.minimum_team_people)
    return np.where(known[:, None], np.fmin(shares, places), present)


class DistanceFromShare:
    """People by whom each site is off its share, fewer and fewer as somebody moves."""

    def __init__(self, situation: Situation, shares: FloatArray) -> None:
        self._missing = shares - situation.heads.staying_people - situation.heads.coming_people
        self.may_gain: BoolArray = np.asarray((self._missing > 0).any(axis=1))

    def gain(self, to_idx: IntArray, travel_minutes: FloatArray) -> FloatArray:  # noqa: ARG002 - of all worths alike
        """People missing, (P, R)."""
        missing: FloatArray = self._missing[to_idx]
        return missing

    def loss(self, from_idx: IntArray) -> FloatArray:
        """People missing at the giver, below 0 where there are too many, (P, R)."""
        missing: FloatArray = self._missing[from_idx]
        return missing

    def move(
        self,
        from_idx: int,
        to_idx: int,
        role_idx: int,
        works_as_idx: int,
        travel_minutes: float,  # noqa: ARG002 - of all worths alike
        people: int = 1,
    ) -> None:
        """Count people as sent."""
        self._missing[from_idx, role_idx] += people
        self._missing[to_idx, works_as_idx] -= people
