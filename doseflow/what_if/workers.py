"""WhatIfWorkers: processes of their own that live through futures, so that no cycle waits for one."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from doseflow.errors import EngineOverloaded, EngineTimedOut
from doseflow.what_if.replica import Question, Replica, play_replica

NUM_WORKERS = 2
NICER_BY = 5
"""How far workers stand back behind the cycle, in steps of nice."""


class WhatIfWorkers:
    """
    A pool of worker processes, begun at the first question and kept.

    One question is answered at a time: two would both be late.
    """

    def __init__(self, num_workers: int = NUM_WORKERS) -> None:
        self._num_workers = num_workers
        self._pool: ProcessPoolExecutor | None = None
        self._asking = threading.Lock()

    def ask(self, question: Question, deadline_seconds: float) -> list[Replica]:
        """
        The replicas that were ready by the deadline, in their order; the first one, later, where none was.

        Raises
        ------
        EngineOverloaded
            Another question is being answered.
        EngineTimedOut
            None was ready even later.
        """
        if not self._asking.acquire(blocking=False):
            raise EngineOverloaded("another what-if is being simulated; ask again in a few seconds")
        try:
            return self._ask(question, time.monotonic() + deadline_seconds)
        finally:
            self._asking.release()

    def warm(self) -> None:
        """Begin the processes, so that the first question need not wait for them."""
        for begun in [self._opened().submit(os.getpid) for _ in range(self._num_workers)]:
            begun.result()

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _ask(self, question: Question, deadline: float) -> list[Replica]:
        pool = self._opened()
        asked: list[Future[Replica]] = [
            pool.submit(play_replica, question, number) for number in range(question.num_replicas)
        ]
        done, _ = wait(asked, timeout=max(0.0, deadline - time.monotonic()))
        if not done:  # on a machine that is too busy one replica late says more than none in time
            done, _ = wait(asked, timeout=question.patience_seconds, return_when=FIRST_COMPLETED)
        for late in asked:
            late.cancel()
        failed = next((one.exception() for one in asked if one in done and one.exception() is not None), None)
        ready = [one.result() for one in asked if one in done and one.exception() is None]
        if not ready:
            raise failed or EngineTimedOut("no replica was ready by the deadline; ask again, or for fewer")
        return ready

    def _opened(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Forking a process with threads may copy a held lock; a fresh one cannot.
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._num_workers, mp_context=context, initializer=os.nice, initargs=(NICER_BY,)
            )
        return self._pool
