"""
Lanes: the servers of all sites and stages, one after the other in one axis, since sites differ so much in size.

A cell is one stage at one site; cells follow each other site by site, stage by stage. Axes: L lanes, S sites, N stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from doseflow.simulate.arrays import namespace
from doseflow.simulate.draws import Array


@dataclass(frozen=True)
class Lanes:
    """
    Which lanes are whose.

    Parameters
    ----------
    cell_of_lane
        Position of each lane's cell, (L,).
    start, end
        The lanes of each cell, from `start` to before `end`, (S * N,).
    shape
        (S, N).
    """

    cell_of_lane: Array
    start: Array
    end: Array
    shape: tuple[int, int]

    @property
    def num_lanes(self) -> int:
        """All lanes."""
        return int(self.cell_of_lane.shape[0])

    def sum_by_cell(self, of_lane: Array) -> Array:
        """Sums over each cell's lanes, (B, L) -> (B, S, N), in the array's own type."""
        xp = namespace(of_lane)
        up_to = xp.cumulative_sum(of_lane, axis=-1, dtype=of_lane.dtype, include_initial=True)
        sums = xp.take(up_to, self.end, axis=-1) - xp.take(up_to, self.start, axis=-1)
        return xp.reshape(sums, (*of_lane.shape[:-1], *self.shape))

    def rank(self, of_lane: Array) -> Array:
        """Of lanes marked 1, which one of its cell each is, counted from 1; int32, (B, L)."""
        xp = namespace(of_lane)
        up_to = xp.cumulative_sum(of_lane, axis=-1, dtype=of_lane.dtype, include_initial=True)
        before_cell = xp.take(up_to, self.start, axis=-1)
        return up_to[..., 1:] - xp.take(before_cell, self.cell_of_lane, axis=-1)

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
    counts = [servers for row in rows for servers in row]
    cells = [cell for cell, servers in enumerate(counts) for _ in range(servers)] or [0]
    ends, total = [], 0
    for servers in counts:
        total += servers
        ends.append(total)
    return Lanes(
        cell_of_lane=xp.asarray(cells, dtype=xp.int64, device=on),
        start=xp.asarray([end - servers for end, servers in zip(ends, counts, strict=True)], dtype=xp.int64, device=on),
        end=xp.asarray(ends, dtype=xp.int64, device=on),
        shape=(len(rows), len(rows[0])),
    )
