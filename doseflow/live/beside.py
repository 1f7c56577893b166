"""Beside: work that may take its time, one piece after another, in a thread that no cycle waits for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)


class Beside:
    """
    Thread-safe. Where `max_waiting` pieces wait already, a further one is left out, and counted.

    The thread is a daemon: what is done beside must not keep the process from ending.
    """

    def __init__(self, name: str, max_waiting: int = 2) -> None:
        self._waiting: queue.Queue[Callable[[], None] | None] = queue.Queue(max_waiting)
        self.num_left_out = 0
        self.num_failed = 0
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def offer(self, piece: Callable[[], None]) -> bool:
        """Do this later; False where too much waits already."""
        try:
            self._waiting.put_nowait(piece)
        except queue.Full:
            self.num_left_out += 1
            return False
        return True

    def settle(self) -> None:
        """Wait until everything that was taken is done."""
        self._waiting.join()

    def close(self) -> None:
        """Do what waits, and end; to be called once."""
        self._waiting.put(None)

    def _run(self) -> None:
        while (piece := self._waiting.get()) is not None:
            try:
                piece()
            except Exception:  # the boundary of what runs beside: the city goes on
                self.num_failed += 1
                log.exception("failed_beside")
            finally:
                self._waiting.task_done()
