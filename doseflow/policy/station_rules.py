"""Station changes: as many open as there are people for and the load can use; none that nobody staffs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove, StationChange, Why
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX, STAGE_TO_IDX, STAGES, VACCINATION_IDX
from doseflow.domain.state import CityState
from doseflow.policy.situation import Situation


def station_changes(
    situation: Situation, moves: Sequence[StaffMove], useful_people: FloatArray | float
) -> list[StationChange]:
    """
    Changes of stations once `moves` have left; people on their way count only when they have arrived.

    A station opens for everybody on duty up to `useful_people`, (S, R), and closes only when nobody is left to staff it
    or its site is suspended: between the two numbers nothing changes.
    """
    state, standing = situation.state, situation.standing
    now, limits = state.stations_open, state.limits
    people = situation.heads.now_people - _leaving_people(state, moves)
    most = np.minimum(people, _possible_stations(state))
    # A site that vaccinates needs every role: the first vaccination station opens only with a whole team.
    lacks_team = (people < state.city.minimum_team_people).any(axis=1) & (now[:, VACCINATION_IDX] == 0)
    most[lacks_team, VACCINATION_IDX] = 0.0
    wanted = np.clip(useful_people, np.minimum(now, most), most)
    wanted = np.clip(wanted, now - limits.max_station_changes, now + limits.max_station_changes)
    may_change = standing.alterable & standing.operating & standing.stations_fresh & standing.staff_fresh
    wanted = _steadied(situation, np.where(may_change[:, None], wanted, now), most)
    wanted[standing.suspended] = 0.0
    return _changes(situation, wanted, people)


def _leaving_people(state: CityState, moves: Sequence[StaffMove]) -> FloatArray:
    leaving = np.zeros(state.stations_open.shape)
    for move in moves:
        leaving[state.city.site_to_idx[move.from_site_id], ROLE_TO_IDX[move.role]] += move.people
    return leaving


def _possible_stations(state: CityState) -> FloatArray:
    """Stations that could be open, (S, R): no vaccination beyond the seats that it fills (Little's law)."""
    possible = np.fmax(state.stations_possible, state.stations_open)
    service_minutes, stay_minutes = (state.city.service_minutes[idx] for idx in (VACCINATION_IDX, OBSERVATION_IDX))
    seated_stations = np.floor(state.seats_possible * service_minutes / stay_minutes + 1e-9)
    vaccinating = np.fmin(possible[:, VACCINATION_IDX], seated_stations)
    possible[:, VACCINATION_IDX] = np.maximum(vaccinating, state.stations_open[:, VACCINATION_IDX])
    return possible


def _steadied(situation: Situation, wanted: FloatArray, most: FloatArray) -> FloatArray:
    """What is wanted, but what was sent before where that is staffed and within one station of it."""
    steadied = wanted.copy()
    for sent in situation.orders.sent_of(StationChange):
        cell = situation.state.city.site_to_idx[sent.site_id], STAGE_TO_IDX[sent.stage]
        if sent.open_stations <= most[cell] and abs(sent.open_stations - wanted[cell]) <= 1:
            steadied[cell] = sent.open_stations
    return steadied


def _changes(situation: Situation, wanted: FloatArray, people: FloatArray) -> list[StationChange]:
    """One decision for each site and stage that differs, and what is pinned there instead."""
    sites, orders, now = situation.state.city.sites, situation.orders, situation.state.stations_open
    changes = {}
    for pin in orders.pinned_of(StationChange):
        open_before = now[situation.state.city.site_to_idx[pin.site_id], STAGE_TO_IDX[pin.stage]]
        if np.isfinite(open_before) and open_before != pin.open_stations:
            changes[pin.key] = replace(pin, open_before=int(open_before))
    pinned_keys = {pin.key for pin in orders.pinned_of(StationChange)}
    for site_idx, stage_idx in np.argwhere(np.isfinite(wanted - now) & (wanted != now)).tolist():
        before, after = int(now[site_idx, stage_idx]), int(wanted[site_idx, stage_idx])
        if situation.standing.suspended[site_idx]:
            why = Why("suspended")
        else:
            code = "stations_to_staff" if after > before else "unstaffed_station"
            why = Why(code, {"people": float(max(people[site_idx, stage_idx], 0.0))})
        change = StationChange(sites[site_idx].site_id, STAGES[stage_idx], before, after, why)
        if change.key not in orders.barred_keys | pinned_keys:
            changes[change.key] = change
    return list(changes.values())
