"""
The staffing of the coming blocks as a linear programme, in sparse arrays.

Columns: people sent now, one for each arc and the same in every future; then, future by future, everybody waiting at
each modelled stage, people at work where there are fewer stations than people, people given and taken in all, people
missing at each margin, and people sent later. The rows of `fluid_queue` bound the queues from below; the least sum of
weighted queues, missing people and moves is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX, VACCINATION_IDX
from doseflow.policy.mpc.arcs import Arcs
from doseflow.policy.mpc.fluid_city import FluidCity
from doseflow.policy.mpc.givers import Givers
from doseflow.policy.mpc.highs_lp import LinearProgramme
from doseflow.policy.mpc.margins import Margins
from doseflow.policy.mpc.triplets import Triplets

NUM_SERVED = OBSERVATION_IDX
_NOWHERE = -1


@dataclass(frozen=True)
class Stakes:
    """
    What counts for how much.

    Parameters
    ----------
    move_minutes
        Person-minutes that sending one person over each arc costs, (J,).
    waiting_minutes
        Minutes for which each person waiting at the end of a block counts, (S, B).
    margins
        What thin teams cost beside the queues that the fluid model sees.
    city_people
        People that may be sent now, city-wide.
    """

    move_minutes: FloatArray
    waiting_minutes: FloatArray
    margins: Margins
    city_people: float


def modelled_cells(city: FluidCity, givers: Givers, arcs: Arcs, need_minutes: FloatArray) -> BoolArray:
    """
    Cells whose capacity bounds a queue that moves can change, (S, R).

    All of a site that may be sent somebody; of a giver those that it could miss, and those that are short already.
    """
    num_sites = len(city.known)
    takers, givers_by_role = np.zeros(num_sites, dtype=bool), np.zeros(num_sites * NUM_ROLES, dtype=bool)
    takers[arcs.to_idx] = True
    givers_by_role[arcs.giver_cells] = True
    gives = givers_by_role.reshape(num_sites, NUM_ROLES)
    left = np.maximum(city.present_people - (givers.people * gives)[..., None], 0.0)
    missed: BoolArray = np.asarray((city.queued_alone_minutes(left, np.ones((num_sites, left.shape[-1]))) > 0) & gives)
    touched = np.asarray(missed.any(axis=1))[:, None] & (missed | (need_minutes > 0))
    cells: BoolArray = np.asarray((takers[:, None] | touched) & city.known[:, None])
    return cells


class FluidProgramme:
    """
    The programme, built once at its making.

    Attributes
    ----------
    programme
        What the solver takes.
    """

    def __init__(self, city: FluidCity, arcs: Arcs, givers: Givers, cells: BoolArray, stakes: Stakes) -> None:
        self._city, self._arcs, self._givers, self._stakes = city, arcs, givers, stakes
        self._num_blocks, self._num_futures = len(city.grid.lengths), len(city.arrivals_people)
        self._lay_out(cells)
        self._entries = Triplets()
        self._row_lower = np.full(self._num_rows, -np.inf)
        self._row_upper = np.full(self._num_rows, np.inf)
        self._bound_queues()
        self._tie_stages()
        self._bound_people_at_work()
        self._bound_moves()
        self._count_missing()
        self.programme = LinearProgramme(
            costs=self._costs(),
            lower=np.zeros(self._num_columns),
            upper=self._upper(),
            matrix=self._entries.matrix(self._num_rows, self._num_columns),
            row_lower=self._row_lower,
            row_upper=self._row_upper,
        )

    @property
    def num_arcs(self) -> int:
        """Moves that the programme may make now."""
        return len(self._arcs)

    def sent_now(self, values: FloatArray) -> FloatArray:
        """People sent now over each arc, (J,), out of a solution."""
        return values[: len(self._arcs)]

    def sent_later(self, values: FloatArray) -> FloatArray:
        """People sent over each arc at each decision, the first included, in each future, (K, J, D)."""
        sent = np.zeros((self._num_futures, *self._move_columns.shape[1:]))
        sent[self._move_columns >= 0] = values[self._move_columns[self._move_columns >= 0]]
        return sent

    def _lay_out(self, cells: BoolArray) -> None:
        """Give every column and row its position; queues, work and rows are counted within one future."""
        city, arcs, blocks = self._city, self._arcs, self._num_blocks
        self._cell_site, self._cell_role = np.nonzero(cells)
        self._cell_of: IntArray = np.full(cells.shape, _NOWHERE)
        self._cell_of[cells] = np.arange(len(self._cell_site))
        has_stage = cells[:, :NUM_SERVED].copy()
        has_stage[:, VACCINATION_IDX] |= cells[:, OBSERVATION_IDX]
        self._stage_site, self._stage_idx = np.nonzero(has_stage)
        self._stage_of = np.full(has_stage.shape, _NOWHERE)
        self._stage_of[has_stage] = np.arange(len(self._stage_site))
        # Where there are more people than stations, the first to go are not missed.
        most = city.most_people[self._cell_site, self._cell_role]
        present = city.present_people[self._cell_site, self._cell_role]
        self._crowded = np.flatnonzero((present > most[:, None]).any(axis=1))
        self._tied = np.flatnonzero(self._stage_site[1:] == self._stage_site[:-1]) + 1
        self._giver_ids, self._giver_of = np.unique(arcs.giver_cells, return_inverse=True)
        self._taker_ids, self._taker_of = np.unique(arcs.taker_cells, return_inverse=True)

        self._there = city.grid.there_share(arcs.travel_minutes)
        self._gone = city.grid.gone_share()
        self._margin_ids = np.union1d(self._giver_ids, self._taker_ids)
        num_queue, num_work = len(self._stage_site) * blocks, len(self._crowded) * blocks
        num_hinges = len(self._stakes.margins.missing_minutes)
        num_missing = num_hinges * len(self._margin_ids)
        is_later: BoolArray = np.asarray((self._there > 0).any(axis=2))
        is_later[:, 0] = False
        num_later = int(is_later.sum())
        num_givers, num_takers = len(self._giver_ids), len(self._taker_ids)
        first_missing = num_queue + num_work + num_givers + num_takers
        per_future = first_missing + num_missing + num_later
        starts = len(arcs) + per_future * np.arange(self._num_futures)
        self._num_columns = len(arcs) + per_future * self._num_futures
        self._queue_columns = starts[:, None, None] + np.arange(num_queue).reshape(-1, blocks)
        self._work_columns = starts[:, None, None] + num_queue + np.arange(num_work).reshape(-1, blocks)
        self._given_columns = starts[:, None] + num_queue + num_work + np.arange(num_givers)
        self._taken_columns = starts[:, None] + num_queue + num_work + num_givers + np.arange(num_takers)
        missing = first_missing + np.arange(num_missing).reshape(num_hinges, -1)
        self._missing_columns = starts[:, None, None] + missing
        self._move_columns = np.full((self._num_futures, *is_later.shape), _NOWHERE)
        self._move_columns[:, :, 0] = np.arange(len(arcs))
        self._move_columns[:, is_later] = starts[:, None] + per_future - num_later + np.arange(num_later)
        self._lay_out_rows()

    def _lay_out_rows(self) -> None:
        blocks = self._num_blocks
        sizes = [len(self._cell_site) * blocks, len(self._tied) * blocks, len(self._crowded) * blocks]
        sizes += [len(self._giver_ids), len(self._taker_ids), self._missing_columns[0].size]
        firsts = np.concatenate([[0], np.cumsum(sizes)])
        futures = (firsts[-1] * np.arange(self._num_futures))[:, None, None]
        self._capacity_rows, self._tie_rows, self._work_rows = (
            futures + first + np.arange(size).reshape(-1, blocks)
            for first, size in zip(firsts[:3], sizes[:3], strict=True)
        )
        self._giver_rows = futures[:, 0] + firsts[3] + np.arange(sizes[3])
        self._taker_rows = futures[:, 0] + firsts[4] + np.arange(sizes[4])
        missing = np.arange(sizes[5]).reshape(self._missing_columns.shape[1:])
        self._missing_rows = futures + firsts[5] + missing
        shared = firsts[-1] * self._num_futures
        self._now_rows = shared + np.arange(len(self._giver_ids))
        self._city_row = shared + len(self._giver_ids)
        self._num_rows = self._city_row + 1

    def _bound_queues(self) -> None:
        """Who waits at a block's end: at least who waited before and who came, less who could be served."""
        city, rows = self._city, self._capacity_rows
        site, role = self._cell_site, self._cell_role
        queue = self._queue_columns[:, self._stage_of[site, np.minimum(role, VACCINATION_IDX)]]
        self._entries.add(rows, queue, 1.0)
        self._entries.add(rows[..., 1:], queue[..., :-1], -1.0)
        served = city.served_per_person[site, role]
        is_crowded = np.zeros(len(site), dtype=bool)
        is_crowded[self._crowded] = True
        fixed = np.where(is_crowded[:, None], 0.0, served * city.present_people[site, role])
        bound = city.arrivals_people[:, site] - fixed
        bound[..., 0] += city.queue_people[site, np.minimum(role, VACCINATION_IDX)]
        self._row_lower[rows] = bound
        self._entries.add(rows[:, self._crowded], self._work_columns, served[self._crowded])
        self._add_moves(np.where(is_crowded, _NOWHERE, np.arange(len(site))), rows, served)

    def _bound_people_at_work(self) -> None:
        """No more than are there, where stations limit them: a bound of the column is the number of stations."""
        rows, city = self._work_rows, self._city
        cells = np.full(len(self._cell_site), _NOWHERE)
        cells[self._crowded] = np.arange(len(self._crowded))
        self._entries.add(rows, self._work_columns, -1.0)
        site, role = self._cell_site[self._crowded], self._cell_role[self._crowded]
        self._row_lower[rows] = -city.present_people[site, role]
        self._add_moves(cells, rows, np.ones((len(self._crowded), self._num_blocks)))

    def _add_moves(self, row_of_cell: IntArray, rows: IntArray, factor: FloatArray) -> None:
        """Count people who come and who leave into the rows (K, cells, B) of modelled cells, times a factor."""
        arcs, moves = self._arcs, self._move_columns[..., None]
        for site, role, share in (
            (arcs.to_idx, arcs.as_idx, self._there),
            (arcs.from_idx, arcs.role_idx, -np.broadcast_to(self._gone, self._there.shape)),
        ):
            cell = self._cell_of[site, role]
            position = np.where(cell >= 0, row_of_cell[cell], _NOWHERE)
            kept = np.flatnonzero(position >= 0)
            position = position[kept]
            values = share[kept] * factor[position][:, None, :]
            self._entries.add(rows[:, position][:, :, None, :], moves[:, kept], values)

    def _tie_stages(self) -> None:
        """Who waits for a stage or before it is at least who waits for an earlier one or before that."""
        self._entries.add(self._tie_rows, self._queue_columns[:, self._tied], 1.0)
        self._entries.add(self._tie_rows, self._queue_columns[:, self._tied - 1], -1.0)
        self._row_lower[self._tie_rows] = 0.0

    def _bound_moves(self) -> None:
        """Add up who is given and taken, now and in all; the sums' bounds are bounds of their columns."""
        moves = self._move_columns
        for rows, of_arc, sums in (
            (self._giver_rows, self._giver_of, self._given_columns),
            (self._taker_rows, self._taker_of, self._taken_columns),
        ):
            self._entries.add(rows[:, of_arc, None], moves, 1.0)
            self._entries.add(rows, sums, -1.0)
            self._row_lower[rows] = self._row_upper[rows] = 0.0
        now = np.arange(len(self._arcs))
        self._entries.add(self._now_rows[self._giver_of], now, 1.0)
        self._row_upper[self._now_rows] = self._givers.now_people.ravel()[self._giver_ids]
        self._entries.add(np.array(self._city_row), now, 1.0)
        self._row_upper[self._city_row] = self._stakes.city_people

    def _count_missing(self) -> None:
        """People missing at a margin once all moves have been made: none, or the margin less who is there."""
        margins, rows = self._stakes.margins, self._missing_rows
        self._entries.add(rows, self._missing_columns, 1.0)
        for ids, sums, sign in (
            (self._taker_ids, self._taken_columns, 1.0),
            (self._giver_ids, self._given_columns, -1.0),
        ):
            position = np.searchsorted(self._margin_ids, ids)
            self._entries.add(rows[:, :, position], sums[:, None], sign)
        present = self._city.present_people[..., -1].ravel()[self._margin_ids]
        target = margins.target_people.reshape(len(margins.target_people), -1)[:, self._margin_ids]
        self._row_lower[rows] = target - present

    def _costs(self) -> FloatArray:
        costs = np.zeros(self._num_columns)
        share = 1.0 / self._num_futures
        is_last = np.append(self._stage_site[1:] != self._stage_site[:-1], True)[: len(self._stage_site)]
        costs[self._queue_columns] = share * is_last[:, None] * self._stakes.waiting_minutes[self._stage_site]
        missing = self._stakes.margins.missing_minutes[:, self._margin_ids % NUM_ROLES]
        costs[self._missing_columns] = share * missing
        later = self._move_columns[:, :, 1:]
        minutes = np.broadcast_to(share * self._stakes.move_minutes[:, None], later.shape)
        costs[later[later >= 0]] = minutes[later >= 0]
        costs[: len(self._arcs)] = self._stakes.move_minutes
        return costs

    def _upper(self) -> FloatArray:
        upper = np.full(self._num_columns, np.inf)
        site, role = self._cell_site[self._crowded], self._cell_role[self._crowded]
        upper[self._work_columns] = self._city.most_people[site, role][:, None]
        upper[self._given_columns] = self._givers.people.ravel()[self._giver_ids]
        upper[self._taken_columns] = np.maximum(self._city.room_people(), 0.0).ravel()[self._taker_ids]
        upper[: len(self._arcs)] = self._arcs.most_people
        return upper
