"""How many people are where: on duty, staying long enough to count on, and promised to come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX
from doseflow.domain.state import CityState
from doseflow.policy.standing_orders import StandingOrders
from doseflow.units import epoch_minutes_from_datetime


@dataclass(frozen=True, slots=True)
class Headcount:
    """
    People by site and role, all (S, R), without those promised to another site.

    `now_people` are on duty at this moment; `staying_people` those of them whose shift lasts a while yet, less the
    breaks that fall due within the hour; `coming_people` are ordered here by orders in force and not yet arrived, in
    the role they will work in.
    """

    now_people: FloatArray
    staying_people: FloatArray
    coming_people: FloatArray


def headcount(state: CityState, orders: StandingOrders, min_remaining_minutes: float) -> Headcount:
    """
    Count people; a break that nobody reported cannot be subtracted.

    `min_remaining_minutes` is the shift time that must be left for a person to count as staying.
    """
    now_people = _by_site_and_role(state, _free_people(state) * (_left_minutes(state) > 0))
    staying_people = long_staying_people(state, min_remaining_minutes)
    coming_people = np.zeros_like(now_people)
    for move in orders.bound_of(StaffMove):
        coming_people[state.city.site_to_idx[move.to_site_id], ROLE_TO_IDX[move.works_as]] += move.people
    return Headcount(
        now_people=now_people,
        staying_people=np.maximum(staying_people - np.nan_to_num(state.breaks_due_people), 0.0),
        coming_people=coming_people,
    )


def long_staying_people(state: CityState, min_remaining_minutes: float) -> FloatArray:
    """Free people with so much of their shift left, (S, R), whether their break falls due or not."""
    return _by_site_and_role(state, _free_people(state) * (_left_minutes(state) >= min_remaining_minutes))


def _free_people(state: CityState) -> IntArray:
    free: IntArray = np.maximum(state.staff.people - state.staff.reserved_people, 0)
    return free


def _left_minutes(state: CityState) -> FloatArray:
    left: FloatArray = state.staff.shift_ends_epoch_minutes - epoch_minutes_from_datetime(state.as_of)
    return left


def _by_site_and_role(state: CityState, people: IntArray) -> FloatArray:
    num_sites = state.city.num_sites
    cells = state.staff.site_idx * NUM_ROLES + state.staff.role_idx
    counted: FloatArray = np.bincount(cells, weights=people.astype(np.float64), minlength=num_sites * NUM_ROLES).astype(
        np.float64
    )
    return counted.reshape(num_sites, NUM_ROLES)
