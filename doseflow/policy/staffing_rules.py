"""Staff moves: whoever falls short calls, and the nearest who can spare somebody sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX, ROLE_TO_IDX, ROLES
from doseflow.policy.queueing import WAIT_CEILING_MINUTES, fluid_queue_people, wait_of_queue_minutes
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
    """Wait of the moment from which a move is said to relieve a queue, not to fill a gap."""

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
    return [*desk.kept, *_with_reasons(situation, params, list(desk.new.values()))]


def _hour_waits(situation: Situation) -> FloatArray:
    """Mean fluid wait of the coming hour by stage, (S, R); 0 for observation and where it is unknown."""
    servers = _serving_now(situation)
    waits = np.zeros(servers.shape)
    by_period = situation.wait_minutes(servers, num_periods=_HOUR_PERIODS)
    waits[:, :OBSERVATION_IDX] = np.nan_to_num(by_period.mean(axis=-1))
    return waits


def _waits_now(situation: Situation) -> FloatArray:
    """Wait of who joins the queue of each stage now, (S, R); 0 for observation and where it is unknown."""
    waits = np.zeros((situation.state.city.num_sites, NUM_ROLES))
    queue = np.cumsum(situation.state.waiting_people[:, :OBSERVATION_IDX], axis=1)
    service_minutes = np.array(situation.state.city.service_minutes[:OBSERVATION_IDX])
    servers = _serving_now(situation)[:, :OBSERVATION_IDX]
    waits[:, :OBSERVATION_IDX] = np.nan_to_num(wait_of_queue_minutes(queue, servers / service_minutes))
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
        # The padding -1 of the neighbour table points at the row put at the end.
        may_offer = np.concatenate([self.pool.may_offer, np.zeros((1, NUM_ROLES), dtype=bool)])
        has_giver = may_offer[self._city.neighbour_idx].any(axis=1)
        short = (self._present < needs.call_people) & self._may_receive[:, None] & has_giver
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
        for travel, from_idx in self._givers_nearest_first(to_idx, works_as_idx):
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

    def _givers_nearest_first(self, to_idx: int, works_as_idx: int) -> list[tuple[float, int]]:
        # Nobody is taken from where people are seen to wait longer.
        observed, may_offer = self._situation.state.observed_wait_minutes, self.pool.may_offer
        return [
            (travel, from_idx)
            for travel, from_idx in self._situation.reach.to_site(to_idx)
            if may_offer.item(from_idx, works_as_idx)
            and self._is_reachable(to_idx, travel)
            and not observed.item(from_idx) > observed.item(to_idx)
        ]

    def _is_reachable(self, to_idx: int, travel_minutes: float) -> bool:
        limits = self._city.limits
        stays_open = self._situation.state.open_minutes_left.item(to_idx) >= travel_minutes + limits.min_stay_minutes
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


def _with_reasons(situation: Situation, params: StaffingParams, moves: list[StaffMove]) -> list[StaffMove]:
    """The same moves with the figures behind them; what people wait is the wait now, not the one that is feared."""
    if not moves:
        return []
    waits = _waits_now(situation)
    sites = situation.state.city.site_to_idx
    cells = np.array([(sites[move.to_site_id], ROLE_TO_IDX[move.works_as]) for move in moves])
    to_idx, role_idx = cells.T
    wait = waits[to_idx, role_idx].round(1).tolist()
    giver_wait = waits[[sites[move.from_site_id] for move in moves]].max(axis=1).round(1).tolist()
    saving = (
        _saved_person_minutes(situation, to_idx, role_idx, np.array([move.people for move in moves])).round(1).tolist()
    )
    needed = situation.needs.target_people[to_idx, role_idx].tolist()
    on_duty = situation.heads.staying_people[to_idx, role_idx].tolist()
    reasoned = []
    for position, move in enumerate(moves):
        if waits[to_idx[position], role_idx[position]] >= params.relief_wait_minutes:
            facts = {"wait_minutes": wait, "giver_wait_minutes": giver_wait, "expected_saving_minutes": saving}
            code = "queue_relief"
        else:
            facts, code = {"needed_people": needed, "on_duty_people": on_duty}, "understaffed"
        reasoned.append(replace(move, why=Why(code, {name: values[position] for name, values in facts.items()})))
    return reasoned


def _saved_person_minutes(situation: Situation, to_idx: IntArray, role_idx: IntArray, arriving: IntArray) -> FloatArray:
    """
    Waiting of the coming two hours that so many more people save, the area between two fluid queues, (moves,).

    It is 0 for observers, since nobody queues for a seat, and where the queue is unknown.
    """
    stage_idx = np.minimum(role_idx, OBSERVATION_IDX - 1)
    queue = np.cumsum(situation.state.waiting_people[to_idx], axis=1)[np.arange(len(to_idx)), stage_idx]
    servers = _serving_now(situation)[to_idx, stage_idx]
    per_period = PERIOD_MINUTES / np.array(situation.state.city.service_minutes)[stage_idx]
    arrivals = situation.arrivals_people[to_idx]
    before, after = (
        fluid_queue_people(queue, arrivals, people * per_period).sum(axis=-1) * PERIOD_MINUTES
        for people in (servers, servers + arriving)
    )
    return np.where(role_idx < OBSERVATION_IDX, np.nan_to_num(before - after), 0.0)
