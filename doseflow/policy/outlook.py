"""What waits will be once this cycle's moves and station changes have taken effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove, StationChange
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX, STAGE_TO_IDX
from doseflow.policy.situation import Situation, serving_people


@dataclass(frozen=True, slots=True)
class WaitOutlook:
    """
    By site, NaN where anything is unknown.

    `wait_minutes` is (S, T), of the slowest stage; `served_per_minute` (S,), what that stage can serve.
    """

    wait_minutes: FloatArray
    served_per_minute: FloatArray

    @property
    def peak_minutes(self) -> FloatArray:
        """Longest wait of the coming two hours, (S,)."""
        peak: FloatArray = self.wait_minutes.max(axis=1)
        return peak


def wait_outlook(situation: Situation, moves: Sequence[StaffMove], changes: Sequence[StationChange]) -> WaitOutlook:
    """Waits of the coming two hours, everybody counted where these decisions and orders in force will put them."""
    state = situation.state
    sites = state.city.site_to_idx
    people, stations = situation.heads.now_people.copy(), state.stations_open.copy()
    arriving = situation.heads.coming_people.copy()
    for move in moves:
        people[sites[move.from_site_id], ROLE_TO_IDX[move.role]] -= move.people
        arriving[sites[move.to_site_id], ROLE_TO_IDX[move.works_as]] += move.people
    for change in changes:
        stations[sites[change.site_id], STAGE_TO_IDX[change.stage]] = change.open_stations
    serving = serving_people(people, stations, situation.standing.staff_fresh)
    # Whoever arrives opens a station of their own, as far as there are any.
    servers = np.fmin(serving + arriving, np.fmax(state.stations_possible, stations))
    service_minutes = np.array(state.city.service_minutes[:OBSERVATION_IDX])
    return WaitOutlook(
        wait_minutes=situation.wait_minutes(servers).max(axis=1),
        served_per_minute=(servers[:, :OBSERVATION_IDX] / service_minutes).min(axis=1),
    )
