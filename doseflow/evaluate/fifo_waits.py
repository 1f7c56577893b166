"""
How long each person waited, from nothing but the curves of who joined and who left each queue.

Queues are first in, first out, and nobody overtakes between two of them; then the n-th person to join a queue is the
n-th to leave it, and the sum of these waits is exactly the area between the two curves (J. D. C. Little, Operations
Research 9(3), 1961, doi:10.1287/opre.9.3.383). In a minute in which some give up and some are taken, those who give up
are the ones who have waited longest, as they are in the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Queue:
    """
    One queue of one site: people who joined and left in each minute, and how many of these were taken, (M,) each.

    Minute 0 holds those who were in the queue when the record began.
    """

    joined: IntArray
    gone: IntArray
    started: IntArray


def waits_in_queue(queue: Queue) -> tuple[FloatArray, BoolArray]:
    """
    Minutes waited by each who joined, in order, and whether they were taken; both (people,).

    Who is still waiting in the last minute has waited until then, and was not taken.
    """
    minutes = np.arange(len(queue.joined))
    joined_at = np.repeat(minutes, queue.joined)
    left_at = np.full(len(joined_at), float(minutes[-1]))
    gone_at = np.repeat(minutes, queue.gone)
    left_at[: len(gone_at)] = gone_at
    taken = np.zeros(len(joined_at), dtype=np.bool_)
    # Within a minute the first to go are those who give up.
    place = np.arange(len(gone_at)) - np.repeat(np.cumsum(queue.gone) - queue.gone, queue.gone)
    taken[: len(gone_at)] = place >= np.repeat(queue.gone - queue.started, queue.gone)
    return left_at - joined_at, taken


def waits_through(queues: list[Queue], in_service_people: IntArray) -> FloatArray:
    """
    Minutes waited at all stages together by everybody who was before the needle at any time of the record, (people,).

    Parameters
    ----------
    queues
        The stages in order.
    in_service_people
        At each stage but the last when the record began, (stages - 1,); they join the next queue ahead of everybody
        who comes after them.
    """
    # People in the order in which they go through: the last stage's queue first, then who is served before it, ...
    waiting: list[IntArray] = []
    served: list[IntArray] = []
    num_people = 0
    for stage in reversed(range(len(queues))):
        waiting.insert(0, num_people + np.arange(int(queues[stage].joined[0])))
        num_people += len(waiting[0])
        num_served = int(in_service_people[stage - 1]) if stage else int(queues[0].joined[1:].sum())
        served.insert(0, num_people + np.arange(num_served))
        num_people += num_served
    waited = np.zeros(num_people)
    through: IntArray = np.empty(0, dtype=np.int64)
    for queue, first, before in zip(queues, waiting, served, strict=True):
        waits, taken = waits_in_queue(queue)
        # Whoever is still being served when the record ends has not joined.
        ids = np.concatenate([first, before, through])[: len(waits)]
        waited[ids] += waits
        through = ids[taken]
    return waited
