"""Moves worth a variable: from who could give somebody to who is short, over the ways there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX
from doseflow.policy.mpc.givers import Givers
from doseflow.policy.situation import Situation


@dataclass(frozen=True)
class Ways:
    """Every known way between two sites, within the city's longest travel; columns by way, (ways,)."""

    city: City
    from_idx: IntArray
    to_idx: IntArray
    travel_minutes: FloatArray


@dataclass(frozen=True)
class Arcs:
    """Possible moves, columns by arc, (J,): who leaves where as what, goes where and works there as what."""

    from_idx: IntArray
    role_idx: IntArray
    to_idx: IntArray
    as_idx: IntArray
    travel_minutes: FloatArray
    most_people: FloatArray

    def __len__(self) -> int:
        return len(self.from_idx)

    @property
    def giver_cells(self) -> IntArray:
        """Position of the cell that gives in a table (S, R) read row by row, (J,)."""
        cells: IntArray = self.from_idx * NUM_ROLES + self.role_idx
        return cells

    @property
    def taker_cells(self) -> IntArray:
        """Position of the cell that takes, (J,)."""
        cells: IntArray = self.to_idx * NUM_ROLES + self.as_idx
        return cells


def ways_of(city: City) -> Ways:
    """The ways of a city, which do not change."""
    pairs = [
        (*pair, travel) for pair, travel in city.travel_by_pair.items() if travel <= city.limits.max_travel_minutes
    ]
    table = np.array(sorted(pairs), dtype=np.float64).reshape(-1, 3)
    return Ways(city, table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2])


MOST_GIVERS = 8
"""Nearest givers looked at for each cell that is short and each role they come from."""


def arcs_between(
    situation: Situation,
    ways: Ways,
    givers: Givers,
    need_minutes: FloatArray,
    least_minutes: float,
    may_receive: BoolArray,
) -> Arcs:
    """
    Possible moves to cells whose need, (S, R), is above a least one, at sites that `may_receive`, (S,).

    A cell with such a need gives nobody. As under the rules, nobody is taken from where people are seen to wait longer,
    or so late that it is not worth it.
    """
    state, stay = situation.state, situation.state.city.limits.min_stay_minutes
    observed, from_all, to_all = state.observed_wait_minutes, ways.from_idx, ways.to_idx
    short: BoolArray = np.asarray(need_minutes > least_minutes)
    gives: BoolArray = np.asarray((givers.people >= 1) & ~short)
    helped, helping = np.asarray(short.any(axis=1)), np.asarray(gives.any(axis=1))
    usable = may_receive[to_all] & helped[to_all] & helping[from_all]
    usable &= state.open_minutes_left[to_all] >= ways.travel_minutes + stay
    usable &= ~(observed[from_all] > observed[to_all])
    kept = np.flatnonzero(usable)
    from_idx, to_idx, travel = from_all[kept], to_all[kept], ways.travel_minutes[kept]
    possible = gives[from_idx][:, :, None] & short[to_idx][:, None, :]
    possible &= givers.qualified_people[from_idx] >= 1
    possible &= givers.shift_left_minutes[from_idx] >= (travel + stay)[:, None, None]
    _bar(possible, situation, from_idx, to_idx)
    way, role, works_as = np.nonzero(possible)
    nearest = _nearest_ranks(to_idx[way], role, works_as, travel[way]) < MOST_GIVERS
    way, role, works_as = way[nearest], role[nearest], works_as[nearest]
    most = np.minimum(givers.qualified_people[from_idx[way], role, works_as], givers.people[from_idx[way], role])
    return Arcs(from_idx[way], role, to_idx[way], works_as, travel[way], most)


def _nearest_ranks(to_idx: IntArray, role: IntArray, works_as: IntArray, travel_minutes: FloatArray) -> IntArray:
    """Rank of each arc by travel among those to the same cell from the same role, 0 for the nearest, (J,)."""
    group = (to_idx * NUM_ROLES + works_as) * NUM_ROLES + role
    order = np.lexsort((travel_minutes, group))
    first = np.searchsorted(group[order], group[order], side="left")
    ranks = np.empty(len(group), dtype=np.int64)
    ranks[order] = np.arange(len(group)) - first
    return ranks


def _bar(possible: BoolArray, situation: Situation, from_idx: IntArray, to_idx: IntArray) -> None:
    """Take out what binds already or was refused within the hour."""
    commitments, sites = situation.state.commitments, situation.state.city.site_to_idx
    for move in (*situation.orders.binding, *commitments.refused):
        if isinstance(move, StaffMove) and move.from_site_id in sites and move.to_site_id in sites:
            is_way = (from_idx == sites[move.from_site_id]) & (to_idx == sites[move.to_site_id])
            possible[is_way, ROLE_TO_IDX[move.role], ROLE_TO_IDX[move.works_as]] = False
