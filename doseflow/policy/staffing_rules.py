"""Staff moves: whoever falls short calls, and the nearest who can spare somebody sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX, ROLES
from doseflow.policy.queueing import WAIT_CEILING_MINUTES
from doseflow.policy.situation import Situation, serving_people
from doseflow.policy.staff_pool import StaffPool
from doseflow.units import (
    MINUTES_PER_HOUR,
    PERIOD_MINUTES,
    datetime_from_epoch_minutes,
    epoch_minutes_from_datetime,
)

_HOUR_PERIODS = MINUTES_PER_HOUR // PERIOD_MINUTES


@dataclass(frozen=True, slots=True)
class StaffingParams:
    """See docs/background/forecast-and-rules.md."""

    relief_wait_minutes: float = 10.0
    """Mean wait of the coming hour from which a move is said to relieve a queue, not to fill a gap."""

    def __post_init__(self) -> None:
        if not 0 <= self.relief_wait_minutes <= WAIT_CEILING_MINUTES:
            raise ValueError(
                f"relief_wait_minutes: must lie in 0..{WAIT_CEILING_MINUTES:g}, got {self.relief_wait_minutes}"
            )


class Shortage(NamedTuple):
    """A site and role short of `people`."""

    site_idx: int
    role_idx: int
    people: float


def staff_moves(situation: Situation, params: StaffingParams) -> list[StaffMove]:
    """
    Moves that bring short sites to their target.

    What was pinned or sent and is still wanted stands as it was. Then the worst shortage first: below the minimum team,
    then the longest wait, then the largest share missing; each takes from the nearest sites that can spare somebody.
    """
    waits = _hour_waits(situation)
    desk = _MoveDesk(situation)
    for move in situation.orders.pinned_of(StaffMove):
        desk.keep(move)
    for move in situation.orders.sent_of(StaffMove):
        if desk.is_still_wanted(move):
            desk.keep(move)
    for shortage in desk.shortages(waits):
        if desk.pool.is_exhausted:
            break
        desk.fill(shortage)
    return [*desk.kept, *_with_reasons(situation, params, waits, list(desk.new.values()))]


def _hour_waits(situation: Situation) -> FloatArray:
    """Mean fluid wait of the coming hour by stage, (S, R); 0 for observation and where it is unknown."""
    servers = _serving_now(situation)
    waits = np.zeros(servers.shape)
    by_period = situation.wait_minutes(servers)[..., :_HOUR_PERIODS]
    waits[:, :OBSERVATION_IDX] = np.nan_to_num(by_period.mean(axis=-1))
    return waits


def _serving_now(situation: Situation) -> FloatArray:
    state = situation.state
    return serving_people(situation.heads.now_people, state.stations_open, situation.standing.staff_fresh)


class _MoveDesk:
    """Moves decided so far, with people counted where they will be."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._city = situation.state.city
        self._as_of_minutes = epoch_minutes_from_datetime(situation.state.as_of)
        self._present = situation.heads.staying_people + situation.heads.coming_people
        standing = situation.standing
        self._may_receive = standing.operating & standing.alterable & standing.staff_fresh
        self._taken_keys = set(situation.orders.barred_keys)
        self.pool = StaffPool(situation)
        self.kept: list[StaffMove] = []
        self.new: dict[tuple[str, ...], StaffMove] = {}

    def is_still_wanted(self, move: StaffMove) -> bool:
        """Whether the receiver is still under its target and the giver can still go without."""
        from_idx, to_idx = self._city.site_to_idx[move.from_site_id], self._city.site_to_idx[move.to_site_id]
        works_as_idx = ROLE_TO_IDX[move.works_as]
        travel = self._travel_minutes(from_idx, to_idx)
        return (
            self._is_reachable(to_idx, travel)
            and self._present[to_idx, works_as_idx] < self._situation.needs.target_people[to_idx, works_as_idx]
            and self.pool.can_keep(self._group_of(move), from_idx, move.people, travel)
        )

    def keep(self, move: StaffMove) -> None:
        """Count an earlier move as it stands."""
        from_idx, to_idx = self._city.site_to_idx[move.from_site_id], self._city.site_to_idx[move.to_site_id]
        self.pool.take_group(self._group_of(move), from_idx, move.people)
        self._present[to_idx, ROLE_TO_IDX[move.works_as]] += move.people
        self._taken_keys.add(move.key)
        self.kept.append(move)

    def shortages(self, waits: FloatArray) -> Iterator[Shortage]:
        """Sites and roles under the level at which they call for help, the worst first."""
        needs = self._situation.needs
        # The padding -1 of the neighbour table points at the False put at the end.
        gives = np.append(self.pool.gives, False)
        has_giver = gives[self._city.neighbour_idx].any(axis=1)
        short = (self._present < needs.call_people) & (self._may_receive & has_giver)[:, None]
        site_idx, role_idx = np.nonzero(short)
        missing = (needs.target_people - self._present)[site_idx, role_idx]
        below_minimum = (self._present < self._city.minimum_team_people)[site_idx, role_idx]
        share = missing / np.maximum(needs.target_people[site_idx, role_idx], 1.0)
        order = np.lexsort((role_idx, site_idx, -share, -waits[site_idx, role_idx], ~below_minimum))
        for position in order.tolist():
            yield Shortage(int(site_idx[position]), int(role_idx[position]), float(missing[position]))

    def fill(self, shortage: Shortage) -> None:
        """Take the people from the nearest sites that have them to spare."""
        to_idx, works_as_idx, missing = shortage
        for travel, from_idx in self._givers_nearest_first(to_idx):
            for row in self.pool.rows_for(from_idx, works_as_idx, travel):
                move = self._move(row, from_idx, to_idx, works_as_idx, travel)
                if move.key in self._taken_keys:
                    continue
                people = self.pool.take_up_to(row, from_idx, missing)
                if people:
                    before = self.new.get(move.key)
                    self.new[move.key] = replace(move, people=people + (before.people if before else 0))
                    self._present[to_idx, works_as_idx] += people
                    missing -= people
                if missing < 1:
                    return

    def _givers_nearest_first(self, to_idx: int) -> list[tuple[float, int]]:
        # Nobody is taken from where people are seen to wait longer.
        observed, gives = self._situation.state.observed_wait_minutes, self.pool.gives
        return [
            (travel, from_idx)
            for travel, from_idx in self._situation.reach.to_site[to_idx]
            if gives[from_idx] and self._is_reachable(to_idx, travel) and not observed[from_idx] > observed[to_idx]
        ]

    def _is_reachable(self, to_idx: int, travel_minutes: float) -> bool:
        limits = self._city.limits
        stays_open = self._situation.state.open_minutes_left[to_idx] >= travel_minutes + limits.min_stay_minutes
        return bool(self._may_receive[to_idx] and travel_minutes <= limits.max_travel_minutes and stays_open)

    def _travel_minutes(self, from_idx: int, to_idx: int) -> float:
        return self._city.travel_by_pair.get((from_idx, to_idx), np.inf)

    def _group_of(self, move: StaffMove) -> list[int]:
        from_idx = self._city.site_to_idx[move.from_site_id]
        shift_left = epoch_minutes_from_datetime(move.shift_ends_at) - self._as_of_minutes
        return self.pool.rows_of_group(from_idx, ROLE_TO_IDX[move.role], shift_left, ROLE_TO_IDX[move.works_as])

    def _move(self, row: int, from_idx: int, to_idx: int, works_as_idx: int, travel: float) -> StaffMove:
        staff = self._situation.state.staff
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


def _with_reasons(
    situation: Situation, params: StaffingParams, waits: FloatArray, moves: list[StaffMove]
) -> list[StaffMove]:
    """The same moves with the figures behind them."""
    if not moves:
        return []
    sites, heads = situation.state.city.site_to_idx, situation.heads
    to_idx = np.array([sites[move.to_site_id] for move in moves])
    role_idx = np.array([ROLE_TO_IDX[move.works_as] for move in moves])
    arriving = np.array([move.people for move in moves], dtype=np.float64)
    saved = _saved_minutes(situation, to_idx, role_idx, arriving)
    reasoned = []
    for position, move in enumerate(moves):
        site, role, giver = to_idx[position], role_idx[position], sites[move.from_site_id]
        if waits[site, role] >= params.relief_wait_minutes:
            why = Why(
                "queue_relief",
                {
                    "wait_minutes": round(float(waits[site, role]), 1),
                    "giver_wait_minutes": round(float(waits[giver].max()), 1),
                    "expected_saving_minutes": round(float(saved[position]), 1),
                },
            )
        else:
            needed, on_duty = situation.needs.target_people[site, role], heads.staying_people[site, role]
            why = Why("understaffed", {"needed_people": float(needed), "on_duty_people": float(on_duty)})
        reasoned.append(replace(move, why=why))
    return reasoned


def _saved_minutes(situation: Situation, to_idx: np.ndarray, role_idx: np.ndarray, arriving: FloatArray) -> FloatArray:
    """Mean wait of the coming two hours that so many more people save, (moves,); unknown counts as nothing saved."""
    servers = _serving_now(situation)[to_idx]
    more = servers.copy()
    more[np.arange(len(to_idx)), role_idx] += arriving
    before, after = (situation.wait_minutes(people, to_idx).mean(axis=-1) for people in (servers, more))
    saved = np.zeros(before.shape[0])
    in_line = role_idx < OBSERVATION_IDX
    saved[in_line] = (before - after)[in_line, role_idx[in_line]]
    return np.nan_to_num(saved)
