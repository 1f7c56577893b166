"""
Lanes: the servers of all sites and stages, one after the other in one axis, since sites differ so much in size.

A cell is one stage at one site; cells follow each other site by site, stage by stage. Axes: L lanes, S sites, N stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from doseflow.simulate.arrays import namespace, summed_at
from doseflow.simulate.draws import Array


@dataclass(frozen=True)
class Lanes:
    """
    Which lanes are whose.

    Parameters
    ----------
    cell_of_lane
        Position of each lane's cell, (L,).
    start_of_lane
        First lane of each lane's cell, (L,).
    shape
        (S, N).
    """

    cell_of_lane: Array
    start_of_lane: Array
    shape: tuple[int, int]

    @property
    def num_lanes(self) -> int:
        """All lanes."""
        return int(self.cell_of_lane.shape[0])

    def rank(self, marked: Array) -> Array:
        """Of lanes marked 1, the others 0, int32: how many of a cell are marked up to and with each, (B, L)."""
        xp = namespace(marked)
        up_to = xp.cumulative_sum(marked, axis=-1, dtype=marked.dtype, include_initial=True)
        return up_to[..., 1:] - xp.take(up_to, self.start_of_lane, axis=-1)

    def cell_at(self, lane: Array, num_replicas: int) -> Array:
        """The cell of some lanes, both counted over all replicas one after the other, (n,)."""
        if num_replicas == 1:
            return self.cell_of_lane[lane]
        cells = self.shape[0] * self.shape[1]
        return lane // self.num_lanes * cells + self.cell_of_lane[lane % self.num_lanes]

    def sum_at(self, like: Array, cell: Array, amount: Array) -> Array:
        """Amounts added up where they belong, float64, in the shape of `like`, (B, S, N)."""
        return summed_at(tuple(like.shape), cell, amount)

    def to_lanes(self, of_cell: Array) -> Array:
        """A value of a cell at each of its lanes, (B, S, N) -> (B, L)."""
        xp = namespace(of_cell)
        flat = xp.reshape(of_cell, (*of_cell.shape[:-2], -1))
        return xp.take(flat, self.cell_of_lane, axis=-1)


def lanes_of(xp: Any, num_servers: Array, on: Any = None) -> Lanes:
    """
    Lanes for so many servers of each site and stage, (S, N); at least one lane in all.

    `on` is the device.
    """
    rows = [[max(int(servers), 0) for servers in row] for row in num_servers]
    cells: list[int] = []
    starts: list[int] = []
    for cell, servers in enumerate(servers for row in rows for servers in row):
        starts += [len(cells)] * servers
        cells += [cell] * servers
    return Lanes(
        cell_of_lane=xp.asarray(cells or [0], dtype=xp.int64, device=on),
        start_of_lane=xp.asarray(starts or [0], dtype=xp.int64, device=on),
        shape=(len(rows), len(rows[0])),
    )
