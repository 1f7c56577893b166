"""The numbers of the fluid model, read off a Situation: who waits, who comes, who serves, and how fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX, VACCINATION_IDX
from doseflow.domain.state import CityState
from doseflow.policy.mpc.fluid_queue import alone_queue, cumulative_queue
from doseflow.policy.mpc.params import FluidParams
from doseflow.policy.mpc.time_grid import TimeGrid
from doseflow.policy.situation import Situation
from doseflow.units import MINUTES_PER_HOUR

BREAK_AWAY_SHARE = 0.5
"""Of the coming hour, somebody whose break falls due in it is away for half: a break is 30 minutes."""


@dataclass(frozen=True)
class FluidCity:
    """
    Axes: K futures, S sites, R roles, B blocks.

    Parameters
    ----------
    known
        Sites of which everything needed is known and that are running, (S,); of the others nothing is modelled.
    queue_people
        Everybody waiting for each served stage or one before it, (S, R - 1).
    arrivals_people
        (K, S, B).
    present_people
        Where people will be if nobody is sent any more, (S, R, B).
    most_people
        People of each role for whom there are stations or seats, (S, R).
    served_per_person
        People whom one person serves in each block, (S, R, B); 0 outside the hours.
    """

    grid: TimeGrid
    known: BoolArray
    queue_people: FloatArray
    arrivals_people: FloatArray
    present_people: FloatArray
    most_people: FloatArray
    served_per_person: FloatArray

    def capacity(self, people: FloatArray) -> FloatArray:
        """People that so many people, (..., S, R, B), can serve in each block."""
        capacity: FloatArray = self.served_per_person * np.minimum(people, self.most_people[..., None])
        return capacity

    def queue(self) -> FloatArray:
        """Cumulative queue by stage if nobody is sent any more, (K, S, R - 1, B)."""
        return cumulative_queue(self.queue_people, self.arrivals_people, self.capacity(self.present_people))

    def queued_alone_minutes(self, people: FloatArray, waiting_minutes: FloatArray) -> FloatArray:
        """Person-minutes of waiting, weighted by (S, B), with people (S, R, B), if each role were alone, (S, R)."""
        alone = alone_queue(self.queue_people, self.arrivals_people, self.capacity(people))
        minutes: FloatArray = (alone * waiting_minutes[:, None]).sum(axis=-1).mean(axis=0) * self.known[:, None]
        return minutes

    def need_minutes(self, waiting_minutes: FloatArray) -> FloatArray:
        """Person-minutes that more people of a role would save at the most, if enough came at once, (S, R)."""
        need = self.queued_alone_minutes(self.present_people, waiting_minutes)
        at_stage = (np.diff(self.queue(), axis=-2, prepend=0.0) * waiting_minutes[:, None]).sum(axis=-1)
        need[:, :OBSERVATION_IDX] = np.maximum(need[:, :OBSERVATION_IDX], at_stage.mean(axis=0))
        return need * self.known[:, None]

    def room_people(self) -> FloatArray:
        """How many more people find a station or seats, (S, R); below 0 where there are too many already."""
        room: FloatArray = self.most_people - self.present_people.max(axis=-1)
        return room

    def with_moves(self, moves: Sequence[StaffMove], state: CityState) -> FluidCity:
        """The city once these moves have been decided at this moment."""
        present = self.present_people.copy()
        for move in moves:
            add_move(present, move, state, self.grid, gone_from=0.0, there_from=self._delay(move.travel_minutes))
        return replace(self, present_people=present)

    def _delay(self, travel_minutes: float) -> float:
        grid = self.grid
        return grid.set_out_minutes + travel_minutes + grid.begin_minutes if grid.has_delays else 0.0


def add_move(
    present: FloatArray,
    move: StaffMove,
    state: CityState,
    grid: TimeGrid,
    *,
    gone_from: float | None,
    there_from: float,
) -> None:
    """Take the people of a move off one site, unless they have left, and put them on the other; both in minutes."""
    sites = state.city.site_to_idx
    if gone_from is not None:
        leave = gone_from + (grid.set_out_minutes if grid.has_delays else 0.0)
        gone = move.people * grid.in_effect_share(np.array(leave))
        present[sites[move.from_site_id], ROLE_TO_IDX[move.role]] -= gone
    there = move.people * grid.in_effect_share(np.array(there_from))
    present[sites[move.to_site_id], ROLE_TO_IDX[move.works_as]] += there


def fluid_city(situation: Situation, arrivals_people: FloatArray, grid: TimeGrid, params: FluidParams) -> FluidCity:
    """
    Read the model off a situation.

    Whoever's shift ends before the site closes is taken to be relieved by somebody else: the state knows no rosters.

    Parameters
    ----------
    arrivals_people
        By future, site and period, (K, S, T).
    """
    state = situation.state
    waiting = np.cumsum(state.waiting_people[:, :OBSERVATION_IDX], axis=1)
    arrivals = grid.by_block(arrivals_people)
    present, most = _present_people(situation, grid), _most_people(situation)
    known = situation.standing.operating & situation.standing.staff_fresh
    known &= np.isfinite(waiting).all(axis=1) & np.isfinite(arrivals).all(axis=(0, 2)) & np.isfinite(most).all(axis=1)
    return FluidCity(
        grid=grid,
        known=known,
        queue_people=np.nan_to_num(waiting),
        arrivals_people=np.nan_to_num(arrivals),
        present_people=present,
        most_people=np.nan_to_num(most),
        served_per_person=_served_per_person(state, grid, params),
    )


def _present_people(situation: Situation, grid: TimeGrid) -> FloatArray:
    state = situation.state
    in_hour = 1.0 - grid.in_effect_share(np.array(float(MINUTES_PER_HOUR)))
    away = BREAK_AWAY_SHARE * np.nan_to_num(state.breaks_due_people)
    present = np.maximum(situation.heads.now_people[..., None] - away[..., None] * in_hour, 0.0)
    acknowledged = {id(decision) for decision in state.commitments.acknowledged}
    for move in situation.orders.bound_of(StaffMove):
        # Nobody tells when those on their way have left: half the way is the best guess.
        has_left = id(move) not in acknowledged
        travel = move.travel_minutes / 2 if has_left else grid.set_out_minutes / 2 + move.travel_minutes
        there_from = travel + grid.begin_minutes if grid.has_delays else 0.0
        # Those who have not left are reserved already, and so not counted as present.
        add_move(present, move, state, grid, gone_from=None, there_from=there_from)
    return present


def _most_people(situation: Situation) -> FloatArray:
    state = situation.state
    most = np.fmax(state.stations_possible, state.stations_open).astype(np.float64)
    seats = state.seats_possible / state.city.seats_per_observer
    most[:, OBSERVATION_IDX] = np.fmin(most[:, OBSERVATION_IDX], seats)
    return most


def _served_per_person(state: CityState, grid: TimeGrid, params: FluidParams) -> FloatArray:
    per_minute = 1.0 / np.array(state.city.service_minutes)
    per_minute[OBSERVATION_IDX] *= state.city.seats_per_observer
    per_minute[: VACCINATION_IDX + 1] *= params.usable_share
    open_share = 1.0 - grid.in_effect_share(state.open_minutes_left)
    served: FloatArray = per_minute[None, :, None] * (open_share * grid.lengths)[:, None, :]
    return served
