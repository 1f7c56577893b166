"""
People flowing like water through the served stages of a site.

The queue is told cumulatively: `queue[k]` is everybody who waits for stage k or for one before it. With arrivals a and
capacity c a stage leaves waiting

    queue[k, b] = max(queue[k, b - 1] + a[b] - c[k, b], queue[k - 1, b], 0)

which is the tandem in which what a stage has served joins the next one's queue. Observers bound the last stage: who
cannot be watched afterwards is not vaccinated.
"""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.roles import OBSERVATION_IDX, VACCINATION_IDX


def cumulative_queue(queue_people: FloatArray, arrivals_people: FloatArray, capacity_people: FloatArray) -> FloatArray:
    """
    Everybody waiting for each served stage or one before it, at the end of each block, (..., R - 1, B).

    Parameters
    ----------
    queue_people
        Cumulative queue now, (..., R - 1).
    arrivals_people
        (..., B).
    capacity_people
        People that can be served in each block, (..., R, B).
    """
    capacity, waiting = _served_capacity(capacity_people), queue_people
    shape = np.broadcast_shapes(queue_people.shape[:-1], arrivals_people.shape[:-1], capacity.shape[:-2])
    queue = np.empty((*shape, *capacity.shape[-2:]))
    for block in range(capacity.shape[-1]):
        waiting = np.maximum(waiting + arrivals_people[..., None, block] - capacity[..., block], 0.0)
        waiting = np.maximum.accumulate(waiting, axis=-1)
        queue[..., block] = waiting
    return queue


def alone_queue(queue_people: FloatArray, arrivals_people: FloatArray, capacity_people: FloatArray) -> FloatArray:
    """The same as if each role were the only one, (..., R, B); who queues earlier in the visit gets there too."""
    start = np.concatenate([queue_people, queue_people[..., VACCINATION_IDX, None]], axis=-1)
    netput = start[..., None] + np.cumsum(arrivals_people[..., None, :] - capacity_people, axis=-1)
    lowest = np.minimum(np.minimum.accumulate(netput, axis=-1), 0.0)
    queue: FloatArray = netput - lowest
    return queue


def _served_capacity(capacity_people: FloatArray) -> FloatArray:
    capacity = capacity_people[..., :OBSERVATION_IDX, :].copy()
    watched = capacity_people[..., OBSERVATION_IDX, :]
    capacity[..., VACCINATION_IDX, :] = np.minimum(capacity[..., VACCINATION_IDX, :], watched)
    return capacity
