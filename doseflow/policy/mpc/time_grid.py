"""The horizon in blocks, and the share of each block in which a move is in effect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.units import PERIOD_MINUTES


@dataclass(frozen=True)
class TimeGrid:
    """
    Blocks one after the other, axis B, the first beginning now; whole periods each.

    Parameters
    ----------
    decision_blocks
        Blocks at whose beginning people may be sent, axis D; the first one is the first block.
    has_delays
        Whether leaving and travel take time; otherwise whoever is sent is there at once.
    """

    block_minutes: tuple[float, ...]
    decision_blocks: tuple[int, ...] = (0,)
    set_out_minutes: float = 0.0
    begin_minutes: float = 0.0
    has_delays: bool = True

    @cached_property
    def lengths(self) -> FloatArray:
        """Minutes of each block, (B,)."""
        return np.array(self.block_minutes)

    @cached_property
    def starts(self) -> FloatArray:
        """Minutes from now until each block begins, (B,)."""
        return np.concatenate([[0.0], np.cumsum(self.lengths)[:-1]])

    @cached_property
    def _decided_at(self) -> FloatArray:
        moments: FloatArray = self.starts[list(self.decision_blocks)]
        return moments

    def in_effect_share(self, from_minutes: FloatArray) -> FloatArray:
        """Share of each block that lies after a moment in minutes from now, (..., B)."""
        after = (self.starts + self.lengths - np.asarray(from_minutes)[..., None]) / self.lengths
        return np.clip(after, 0.0, 1.0)

    def gone_share(self) -> FloatArray:
        """Share of each block in which whoever is sent at a decision is missed, (D, B)."""
        delay = self.set_out_minutes if self.has_delays else 0.0
        return self.in_effect_share(self._decided_at + delay)

    def there_share(self, travel_minutes: FloatArray) -> FloatArray:
        """Share of each block in which they serve where they went, (arcs, D, B)."""
        delay = np.zeros(len(travel_minutes))
        if self.has_delays:
            delay = self.set_out_minutes + travel_minutes + self.begin_minutes
        return self.in_effect_share(self._decided_at + delay[:, None])

    def by_block(self, people_by_period: FloatArray) -> FloatArray:
        """Sums over the periods of each block, (..., T) to (..., B)."""
        first = np.rint(self.starts / PERIOD_MINUTES).astype(np.int64)
        last = round(float(self.lengths.sum()) / PERIOD_MINUTES)
        sums: FloatArray = np.add.reduceat(people_by_period[..., :last], first, axis=-1)
        return sums
