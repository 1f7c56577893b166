"""The desk where staff moves are decided one by one, with everybody counted where they will be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.roles import ROLE_TO_IDX, ROLES
from doseflow.policy.situation import Situation
from doseflow.policy.staff_pool import StaffPool
from doseflow.units import datetime_from_epoch_minutes, epoch_minutes_from_datetime


class MoveDesk:
    """
    Moves decided so far.

    Parameters
    ----------
    kept_people
        People whom no site gives away, (S, R); as the rules need them unless given.

    Attributes
    ----------
    kept
        Earlier moves that stand as they were.
    new
        Moves decided now, by key; the reason is still to be given.
    present_people
        People by site and role once all moves have arrived, (S, R).
    may_receive
        Sites that may be sent anybody, (S,).
    """

    def __init__(self, situation: Situation, *, kept_people: FloatArray | None = None) -> None:
        self.situation = situation
        self._city = situation.state.city
        self._as_of_minutes = epoch_minutes_from_datetime(situation.state.as_of)
        self.present_people = situation.heads.staying_people + situation.heads.coming_people
        standing = situation.standing
        self.may_receive: BoolArray = standing.operating & standing.alterable & standing.staff_fresh
        self._taken_keys = set(situation.orders.barred_keys)
        self.pool = StaffPool(situation, kept_people)
        self.kept: list[StaffMove] = []
        self.new: dict[tuple[str, ...], StaffMove] = {}

    def keep(self, move: StaffMove) -> None:
        """Count an earlier move as it stands."""
        from_idx, to_idx = self.ends_of(move)
        self.pool.take_group(self._group_of(move), from_idx, move.people)
        self.present_people[to_idx, ROLE_TO_IDX[move.works_as]] += move.people
        self._taken_keys.add(move.key)
        self.kept.append(move)

    def keep_pinned(self) -> None:
        """Count what people in command want, as it stands."""
        for move in self.situation.orders.pinned_of(StaffMove):
            self.keep(move)

    def can_keep(self, move: StaffMove) -> bool:
        """Whether a move sent before may still be made: the way is open and the giver can still go without."""
        from_idx, to_idx = self.ends_of(move)
        travel = self._city.travel_by_pair.get((from_idx, to_idx), np.inf)
        return self.is_reachable(to_idx, travel) and self.pool.can_keep(
            self._group_of(move), from_idx, move.people, travel
        )

    def is_reachable(self, to_idx: int, travel_minutes: float) -> bool:
        """Whether a trip of so many minutes to a site is allowed, and worth it."""
        limits = self._city.limits
        stays_open = self.situation.state.open_minutes_left.item(to_idx) >= travel_minutes + limits.min_stay_minutes
        return bool(self.may_receive[to_idx] and travel_minutes <= limits.max_travel_minutes and stays_open)

    def send(
        self,
        from_idx: int,
        to_idx: int,
        works_as_idx: int,
        people: float,
        travel_minutes: float,
        role_idx: int | None = None,
    ) -> int:
        """
        Send up to so many whole people, as far as they can be spared, and say how many go.

        Those whose own role it is go first, then those with the longest shift; `role_idx` asks for one role alone.
        """
        missing = people
        for row in self.pool.rows_for(from_idx, works_as_idx, travel_minutes, role_idx):
            move = self._move(row, from_idx, to_idx, works_as_idx, travel_minutes)
            if move.key in self._taken_keys:
                continue
            taken = self.pool.take_up_to(row, from_idx, missing)
            if taken:
                before = self.new.get(move.key)
                self.new[move.key] = replace(move, people=taken + (before.people if before else 0))
                self.present_people[to_idx, works_as_idx] += taken
                missing -= taken
            if missing < 1:
                break
        return int(people - missing)

    def ends_of(self, move: StaffMove) -> tuple[int, int]:
        """Positions of the giving and the receiving site."""
        return self._city.site_to_idx[move.from_site_id], self._city.site_to_idx[move.to_site_id]

    def _group_of(self, move: StaffMove) -> list[int]:
        from_idx = self._city.site_to_idx[move.from_site_id]
        shift_left = epoch_minutes_from_datetime(move.shift_ends_at) - self._as_of_minutes
        return self.pool.rows_of_group(from_idx, ROLE_TO_IDX[move.role], shift_left, ROLE_TO_IDX[move.works_as])

    def _move(self, row: int, from_idx: int, to_idx: int, works_as_idx: int, travel: float) -> StaffMove:
        staff = self.situation.state.staff
        return StaffMove(
            from_site_id=self._city.sites[from_idx].site_id,
            to_site_id=self._city.sites[to_idx].site_id,
            role=ROLES[staff.role_idx[row]],
            works_as=ROLES[works_as_idx],
            shift_ends_at=datetime_from_epoch_minutes(float(staff.shift_ends_epoch_minutes[row])),
            people=0,
            travel_minutes=travel,
            why=Why("understaffed"),
        )
