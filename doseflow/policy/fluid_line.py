"""
The line of stages as fluid: registration, screening and vaccination pass on what they can serve.

A person more before or behind the bottleneck saves nothing, since what they serve only waits elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.roles import OBSERVATION_IDX, VACCINATION_IDX
from doseflow.policy.look_ahead import CASE_WEIGHTS, LookAhead
from doseflow.policy.time_ahead import GRID_MINUTES

Fluid = NDArray[np.float32]
"""Half the bytes, for half the time; a person-minute in a thousand is all that it costs."""


class FluidLine:
    """
    The stages of some sites, with people over time; the line as it is has been reckoned once.

    Parameters
    ----------
    site_idx
        (N,).
    people
        By role over time, (G, R, N).

    Attributes
    ----------
    waiting_minutes
        Person-minutes of waiting of the line as it is, the mean of the cases, (N,).
    """

    def __init__(self, ahead: LookAhead, site_idx: IntArray, people: FloatArray) -> None:
        self._people, self._per_minute = people, ahead.per_minute
        self._most = ahead.most_people[:, site_idx]
        self._queue = ahead.queue_people[:, site_idx].astype(np.float32)
        counted = ahead.counted_minutes[:, site_idx]
        self._at_first_minutes = self._queue.sum(axis=0) * counted[0] / 2
        at_ends = counted / 2 + ahead.last_minutes[:, site_idx]
        at_ends[:-1] += counted[1:] / 2
        self._at_ends_minutes = (at_ends[:, None] * CASE_WEIGHTS[:, None]).astype(np.float32)
        roles = range(OBSERVATION_IDX + 1)
        self._served = [self._served_by(role_idx, people[:, role_idx, None]) for role_idx in roles]
        self._can_serve = [self._can_serve_at(stage_idx, {}) for stage_idx in range(OBSERVATION_IDX)]
        come = ahead.come_people[:, :, None, site_idx].astype(np.float32)
        # Who waits, and who has been passed on, before each stage, as it is.
        self._before: list[tuple[Fluid, Fluid]] = [(np.zeros_like(come), come)]
        for stage_idx, can_serve in enumerate(self._can_serve):
            self._before.append(self._pass(self._before[-1], stage_idx, can_serve))
        self.waiting_minutes: FloatArray = self._area(self._before[-1][0])[0]

    def with_people(self, extra: Mapping[int, FloatArray]) -> FloatArray:
        """
        Waiting with more people, or fewer where it is below 0, (L, N).

        `extra` holds them by role, over time, (G, L, 1) or (G, L, N); L is whatever is to be compared.
        """
        served = {
            role_idx: self._served_by(role_idx, self._people[:, role_idx, None] + one)
            for role_idx, one in extra.items()
        }
        first = min(*extra, VACCINATION_IDX)
        after = self._before[first]
        for stage_idx in range(first, OBSERVATION_IDX):
            is_changed = stage_idx in extra or (stage_idx == VACCINATION_IDX and OBSERVATION_IDX in extra)
            can_serve = self._can_serve_at(stage_idx, served) if is_changed else self._can_serve[stage_idx]
            after = self._pass(after, stage_idx, can_serve)
        return self._area(after[0])

    def _served_by(self, role_idx: int, people: FloatArray) -> FloatArray:
        """People that a role could serve in each step, (G, L, N)."""
        served: FloatArray = np.clip(people, 0.0, self._most[role_idx])
        served *= (self._per_minute[role_idx] * GRID_MINUTES)[:, None, None]
        return served

    def _can_serve_at(self, stage_idx: int, served: Mapping[int, FloatArray]) -> Fluid:
        """People that a stage could have served by the end of each step, (G, 1, L, N)."""
        in_step = served.get(stage_idx, self._served[stage_idx])
        if stage_idx == VACCINATION_IDX:
            # Who is vaccinated needs a seat that somebody watches.
            in_step = np.minimum(in_step, served.get(OBSERVATION_IDX, self._served[OBSERVATION_IDX]))
        can_serve: Fluid = np.cumsum(in_step, axis=0).astype(np.float32)[:, None]
        return can_serve

    def _pass(self, before: tuple[Fluid, Fluid], stage_idx: int, can_serve: Fluid) -> tuple[Fluid, Fluid]:
        waiting, come = before
        come = come + self._queue[stage_idx]
        in_queue = reflected(come - can_serve)
        return waiting + in_queue, come - in_queue

    def _area(self, waiting: Fluid) -> FloatArray:
        area: FloatArray = np.einsum("gcln,gcn->ln", waiting, self._at_ends_minutes) + self._at_first_minutes
        return area


Queue = TypeVar("Queue", Fluid, FloatArray)


def reflected(netput: Queue) -> Queue:
    """The queue that a netput makes, time first: what came less what could be served, held at zero from below."""
    lowest = np.minimum.accumulate(netput, axis=0)
    np.minimum(lowest, 0.0, out=lowest)
    return netput - lowest
