"""Work on many orders by several processes of one thread each."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

Order = TypeVar("Order")
Done = TypeVar("Done")


def by_processes(
    work: Callable[[Order], Done], orders: Sequence[Order], workers: int | None, on_done: Callable[[], None]
) -> list[Done]:
    """
    What comes of each order, in their order.

    Parameters
    ----------
    workers
        Processes; as many as there are cores where None, and no other process where 1.
    on_done
        Called after each order.
    """
    workers = workers or len(os.sched_getaffinity(0))
    if workers == 1:
        return [_counted(work(order), on_done) for order in orders]
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=workers, mp_context=context) as pool:
        futures = {pool.submit(work, order): place for place, order in enumerate(orders)}
        done: dict[int, Done] = {}
        for future in as_completed(futures):
            done[futures[future]] = _counted(future.result(), on_done)
    return [done[place] for place in range(len(orders))]


def _counted(one: Done, on_done: Callable[[], None]) -> Done:
    on_done()
    return one
