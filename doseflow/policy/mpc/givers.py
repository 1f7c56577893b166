"""How many people each site could let go, before the staff pool has the last word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX
from doseflow.policy.situation import Situation
from doseflow.units import epoch_minutes_from_datetime


@dataclass(frozen=True)
class Givers:
    """
    Parameters
    ----------
    people
        Whom a site could let go in all, (S, R).
    now_people
        Whom it could let go in this cycle, (S, R).
    qualified_people
        Of those on duty, who may move and work as each role, (S, R, R).
    shift_left_minutes
        The longest shift among those, (S, R, R); 0 where there is nobody.
    """

    people: FloatArray
    now_people: FloatArray
    qualified_people: FloatArray
    shift_left_minutes: FloatArray


def kept_people(situation: Situation) -> FloatArray:
    """People whom no site gives away, (S, R): the minimum team, and observers for who sits there."""
    state, needs = situation.state, situation.needs
    kept = np.where(situation.standing.operating[:, None], state.city.minimum_team_people, needs.call_people)
    watching = np.ceil(np.nan_to_num(state.seats_taken) / state.city.seats_per_observer)
    kept[:, OBSERVATION_IDX] = np.maximum(kept[:, OBSERVATION_IDX], watching)
    return kept.astype(np.float64)


def givers(situation: Situation, kept: FloatArray) -> Givers:
    """Whom each site could let go while keeping `kept` people, (S, R)."""
    qualified, shift_left = _movable(situation)
    standing, limits = situation.standing, situation.state.limits
    may_give = standing.alterable & standing.staff_fresh & (standing.operating | standing.suspended)
    may_give = may_give[:, None] & np.isfinite(situation.state.stations_open)
    spare = np.where(may_give, np.maximum(np.floor(situation.heads.staying_people - kept), 0.0), 0.0)
    people = np.minimum(spare, qualified.max(axis=2))
    now_share = np.maximum(np.floor(limits.max_moved_share * situation.heads.now_people + 1e-9), 1.0)
    unneeded = np.maximum(situation.heads.now_people - np.nan_to_num(situation.state.stations_open), 0.0)
    now = np.minimum(np.minimum(people, now_share), unneeded + limits.max_station_changes)
    return Givers(people, now, qualified, shift_left)


def _movable(situation: Situation) -> tuple[FloatArray, FloatArray]:
    """Who may still be moved, by site, role and role they may work as, and their longest shift left, (S, R, R) both."""
    state, staff = situation.state, situation.state.staff
    limits, shape = state.limits, (state.city.num_sites * NUM_ROLES, NUM_ROLES)
    left = np.nan_to_num(staff.shift_ends_epoch_minutes - epoch_minutes_from_datetime(state.as_of))
    free = np.maximum(staff.people - staff.reserved_people, 0) * (staff.moves_today < limits.max_moves_per_shift)
    free = np.where(left >= limits.min_stay_minutes, free, 0)
    cells = staff.site_idx * NUM_ROLES + staff.role_idx
    here = staff.site_idx >= 0
    people, longest = np.zeros(shape), np.zeros(shape)
    may_work = staff.qualified & (free > 0)[:, None] & here[:, None]
    np.add.at(people, cells[here], (free[:, None] * may_work)[here])
    np.maximum.at(longest, cells[here], (left[:, None] * may_work)[here])
    return people.reshape(-1, NUM_ROLES, NUM_ROLES), longest.reshape(-1, NUM_ROLES, NUM_ROLES)
