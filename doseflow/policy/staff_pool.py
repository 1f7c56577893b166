"""Who can still be sent: the bookkeeping that keeps every giver at its need, and the city within its limits."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.decisions import DecisionKind
from doseflow.domain.roles import NUM_ROLES, STAGE_TO_IDX, Stage
from doseflow.policy.rows_by_site import RowsBySite
from doseflow.policy.situation import Situation
from doseflow.units import epoch_minutes_from_datetime


class StaffPool:
    """
    People free to go, by row of the staff table, fewer and fewer as they are taken.

    Invariants: no row gives more than it has free and movable; no site and role gives more than its surplus, its
    share of one cycle, or so many that more stations would have to close than one cycle may; the city gives no more
    than its limit.

    Parameters
    ----------
    kept_people
        People whom no site gives away, (S, R); unless given, those whom the rules keep, and orders sent before may
        stand down to the level at which a site calls.
    """

    def __init__(self, situation: Situation, kept_people: FloatArray | None = None) -> None:
        state, limits = situation.state, situation.state.limits
        staff = state.staff
        free = np.maximum(staff.people - staff.reserved_people, 0) * (staff.moves_today < limits.max_moves_per_shift)
        self._free: IntArray = free.astype(np.int64)
        self._shift_left = staff.shift_ends_epoch_minutes - epoch_minutes_from_datetime(state.as_of)
        self._site_idx, self._role_idx = staff.site_idx, staff.role_idx
        self._qualified = staff.qualified
        self._rows_of = RowsBySite(staff.site_idx, state.city.num_sites)
        needs = situation.needs
        self._spare = _spare_people(situation, needs.give_people if kept_people is None else kept_people)
        self._spare_at_call = _spare_people(situation, needs.call_people if kept_people is None else kept_people)
        self._may_leave = _may_leave(situation)
        self._city_left = limits.max_city_moved_people
        self._min_stay_minutes = limits.min_stay_minutes
        self.may_offer = self._offers(staff.site_idx)
        """Sites that can spare somebody for each role when the cycle begins, (S, R)."""

    def _offers(self, site_idx: IntArray) -> BoolArray:
        spares = (self._free > 0) & (np.minimum(self._spare, self._may_leave)[site_idx, self._role_idx] >= 1)
        cells = site_idx[:, None] * NUM_ROLES + np.arange(NUM_ROLES)
        offers = np.zeros(self._spare.shape, dtype=bool)
        offers.flat[cells[self._qualified & spares[:, None]]] = True
        return offers

    def longest_shift_minutes(self) -> FloatArray:
        """
        Shift left to whoever has most of it among those who may still go, by site, role and role worked as, (S, R, R).

        Where nobody may, it is minus infinity.
        """
        may_go = (self._free > 0) & (np.minimum(self._spare, self._may_leave)[self._site_idx, self._role_idx] >= 1)
        longest = np.full((NUM_ROLES, self._spare.size), -np.inf)
        for works_as_idx in range(NUM_ROLES):
            rows = np.flatnonzero(may_go & self._qualified[:, works_as_idx])
            cells = self._site_idx[rows] * NUM_ROLES + self._role_idx[rows]
            np.fmax.at(longest[works_as_idx], cells, self._shift_left[rows])
        by_role: FloatArray = longest.reshape(NUM_ROLES, *self._spare.shape).transpose(1, 2, 0)
        return by_role

    @property
    def is_exhausted(self) -> bool:
        """Whether the city has sent as many as it may in one cycle."""
        return self._city_left <= 0

    def rows_for(
        self, site_idx: int, works_as_idx: int, travel_minutes: float, role_idx: int | None = None
    ) -> list[int]:
        """
        Rows of a site whose people may fill a role and have shift left: own role first, then the longest shift.

        `role_idx` asks for people of that role alone.
        """
        rows = [
            row
            for row in self._rows_of(site_idx)
            if role_idx in {None, self._role_idx.item(row)}
            and self._qualified.item(row, works_as_idx)
            and self._covers(row, travel_minutes)
            and self._available(row, site_idx)
        ]
        return sorted(rows, key=lambda row: (self._role_idx.item(row) != works_as_idx, -self._shift_left.item(row)))

    def take_up_to(self, row: int, site_idx: int, people: float) -> int:
        """Take as many of a row as are asked for and can be spared."""
        taken = min(int(people), self._available(row, site_idx))
        self._book(row, site_idx, taken)
        return taken

    def can_keep(self, rows: list[int], site_idx: int, people: int, travel_minutes: float) -> bool:
        """Whether an order sent before may stand: its giver need only stay above the level at which it calls."""
        if not rows or sum(self._free.item(row) for row in rows if self._covers(row, travel_minutes)) < people:
            return False
        role_idx = self._role_idx.item(rows[0])
        return people <= min(
            self._spare_at_call.item(site_idx, role_idx), self._may_leave.item(site_idx, role_idx), self._city_left
        )

    def take_group(self, rows: list[int], site_idx: int, people: int) -> None:
        """Take people off the rows of one group, whether its site can spare them or not."""
        for row in rows:
            taken = min(people, self._free.item(row))
            self._book(row, site_idx, taken)
            people -= taken

    def rows_of_group(self, site_idx: int, role_idx: int, shift_left_minutes: float, works_as_idx: int) -> list[int]:
        """Rows of the group that an order names by role and end of shift, whose people may work as asked."""
        return [
            row
            for row in self._rows_of(site_idx)
            if self._role_idx.item(row) == role_idx
            and self._qualified.item(row, works_as_idx)
            and abs(self._shift_left.item(row) - shift_left_minutes) < 1 / 60
        ]

    def _covers(self, row: int, travel_minutes: float) -> bool:
        return self._shift_left.item(row) >= travel_minutes + self._min_stay_minutes

    def _available(self, row: int, site_idx: int) -> int:
        role_idx = self._role_idx.item(row)
        spare = min(self._spare.item(site_idx, role_idx), self._may_leave.item(site_idx, role_idx), self._city_left)
        return max(0, min(self._free.item(row), int(spare)))

    def _book(self, row: int, site_idx: int, people: int) -> None:
        role_idx = self._role_idx.item(row)
        self._free[row] -= people
        for table in (self._spare, self._spare_at_call, self._may_leave):
            table[site_idx, role_idx] -= people
        self._city_left -= people


def _spare_people(situation: Situation, kept_people: FloatArray) -> FloatArray:
    """
    People that sites can spare while keeping `kept_people`, (S, R), at least 0.

    Nobody is spared by a site that is frozen or closed for the day, whose staff reading is not fresh, or of which
    nobody knows how many stations stand open.
    """
    standing = situation.standing
    may_give = standing.alterable & standing.staff_fresh & (standing.operating | standing.suspended)
    spare = np.maximum(situation.heads.staying_people - kept_people, 0.0)
    return np.where(may_give[:, None] & np.isfinite(situation.state.stations_open), spare, 0.0)


def _may_leave(situation: Situation) -> FloatArray:
    """People that may leave a site and role in one cycle, (S, R); the closing of stations is limited too."""
    now_people = situation.heads.now_people
    share = np.maximum(np.floor(situation.state.limits.max_moved_share * now_people + 1e-9), 1.0)
    unneeded = np.maximum(now_people - np.nan_to_num(situation.state.stations_open), 0.0)
    may_leave: FloatArray = np.minimum(share, unneeded + _closable_stations(situation))
    return may_leave


def _closable_stations(situation: Situation) -> FloatArray:
    """Stations that this cycle may close, (S, R): none where a change is begun, was refused or the reading is old."""
    city, standing = situation.state.city, situation.standing
    most = np.where(standing.stations_fresh, float(situation.state.limits.max_station_changes), 0.0)
    closable = np.repeat(np.where(standing.suspended, np.inf, most)[:, None], NUM_ROLES, axis=1)
    for kind, *place in situation.orders.barred_keys:
        if kind == DecisionKind.STATION_CHANGE and place[0] in city.site_to_idx:
            closable[city.site_to_idx[place[0]], STAGE_TO_IDX[Stage(place[1])]] = 0.0
    return closable
