"""Who can still be sent: the bookkeeping that keeps every giver at its need, and the city within its limits."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.policy.rows_by_site import RowsBySite
from doseflow.policy.situation import Situation
from doseflow.units import epoch_minutes_from_datetime


class StaffPool:
    """
    People free to go, by row of the staff table, fewer and fewer as they are taken.

    Invariants: no row gives more than it has free and movable; no site and role gives more than its surplus, its share of
    one cycle, or so many that more stations would have to close than one cycle may; the city gives no more than its limit.
    """

    def __init__(self, situation: Situation) -> None:
        state, limits = situation.state, situation.state.city.limits
        staff = state.staff
        free = np.maximum(staff.people - staff.reserved_people, 0) * (staff.moves_today < limits.max_moves_per_shift)
        shift_left = staff.shift_ends_epoch_minutes - epoch_minutes_from_datetime(state.as_of)
        self._free: list[int] = free.astype(np.int64).tolist()
        self._shift_left: list[float] = shift_left.tolist()
        self._role_idx: list[int] = staff.role_idx.tolist()
        self._qualified: list[list[bool]] = staff.qualified.tolist()
        self._rows_of = RowsBySite(staff.site_idx, state.city.num_sites)
        self._spare: list[list[float]] = _spare_people(situation, situation.needs.give_people).tolist()
        self._spare_at_call: list[list[float]] = _spare_people(situation, situation.needs.call_people).tolist()
        self._may_leave: list[list[float]] = _may_leave(situation).tolist()
        self.gives: list[bool] = [max(by_role) >= 1 for by_role in self._spare]
        """Whether each site can still spare somebody of any role."""
        self._city_left = limits.max_city_moved_people
        self._min_stay_minutes = limits.min_stay_minutes

    @property
    def is_exhausted(self) -> bool:
        """Whether the city has sent as many as it may in one cycle."""
        return self._city_left <= 0

    def rows_for(self, site_idx: int, works_as_idx: int, travel_minutes: float) -> list[int]:
        """Rows of a site whose people may fill a role and have shift enough left: own role first, longest shift first."""
        rows = [
            row
            for row in self._rows_of(site_idx)
            if self._qualified[row][works_as_idx]
            and self._covers(row, travel_minutes)
            and self._available(row, site_idx)
        ]
        return sorted(rows, key=lambda row: (self._role_idx[row] != works_as_idx, -self._shift_left[row]))

    def take_up_to(self, row: int, site_idx: int, people: float) -> int:
        """Take as many of a row as are asked for and can be spared."""
        taken = min(int(people), self._available(row, site_idx))
        self._book(row, site_idx, taken)
        return taken

    def can_keep(self, rows: list[int], site_idx: int, people: int, travel_minutes: float) -> bool:
        """Whether an order sent before may stand: its giver need only stay above the level at which it calls for help."""
        if not rows or sum(self._free[row] for row in rows if self._covers(row, travel_minutes)) < people:
            return False
        role_idx = self._role_idx[rows[0]]
        return people <= min(
            self._spare_at_call[site_idx][role_idx], self._may_leave[site_idx][role_idx], self._city_left
        )

    def take_group(self, rows: list[int], site_idx: int, people: int) -> None:
        """Take people off the rows of one group, whether its site can spare them or not."""
        for row in rows:
            taken = min(people, self._free[row])
            self._book(row, site_idx, taken)
            people -= taken

    def rows_of_group(self, site_idx: int, role_idx: int, shift_left_minutes: float, works_as_idx: int) -> list[int]:
        """Rows of the group that an order names by role and end of shift, whose people may work as asked."""
        return [
            row
            for row in self._rows_of(site_idx)
            if self._role_idx[row] == role_idx
            and self._qualified[row][works_as_idx]
            and abs(self._shift_left[row] - shift_left_minutes) < 1 / 60
        ]

    def _covers(self, row: int, travel_minutes: float) -> bool:
        return self._shift_left[row] >= travel_minutes + self._min_stay_minutes

    def _available(self, row: int, site_idx: int) -> int:
        role_idx = self._role_idx[row]
        spare = min(self._spare[site_idx][role_idx], self._may_leave[site_idx][role_idx], self._city_left)
        return max(0, min(self._free[row], int(spare)))

    def _book(self, row: int, site_idx: int, people: int) -> None:
        role_idx = self._role_idx[row]
        self._free[row] -= people
        for table in (self._spare, self._spare_at_call, self._may_leave):
            table[site_idx][role_idx] -= people
        self.gives[site_idx] = max(self._spare[site_idx]) >= 1
        self._city_left -= people


def _spare_people(situation: Situation, kept_people: FloatArray) -> FloatArray:
    """
    People that sites can spare while keeping `kept_people`, (S, R), at least 0.

    Nobody is spared by a site that is frozen or closed for the day, whose staff reading is not fresh, or of which nobody
    knows how many stations stand open.
    """
    standing = situation.standing
    may_give = standing.alterable & standing.staff_fresh & (standing.operating | standing.suspended)
    spare = np.maximum(situation.heads.staying_people - kept_people, 0.0)
    return np.where(may_give[:, None] & np.isfinite(situation.state.stations_open), spare, 0.0)


def _may_leave(situation: Situation) -> FloatArray:
    """People that may leave a site and role in one cycle, (S, R): one always may, and closing stations is limited too."""
    limits = situation.state.city.limits
    now_people = situation.heads.now_people
    share = np.maximum(np.floor(limits.max_moved_share * now_people + 1e-9), 1.0)
    unneeded = np.maximum(now_people - np.nan_to_num(situation.state.stations_open), 0.0)
    by_closing = np.where(situation.standing.suspended[:, None], np.inf, unneeded + limits.max_station_changes)
    may_leave: FloatArray = np.minimum(share, by_closing)
    return may_leave
