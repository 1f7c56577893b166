"""EngineThread: one thread that runs an engine's questions one after another, so that whoever asks may stop waiting."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextvars import Context, copy_context
from typing import Any

from numpy.typing import NDArray

from doseflow.ports import Engine
from doseflow.telemetry.stopwatch import MonotonicClock

Inputs = Mapping[str, NDArray[Any]]
Outputs = dict[str, NDArray[Any]]
_Question = tuple[Inputs, Future[Outputs], Context]


class EngineThread:
    """
    Thread-safe. A run that hangs cannot be ended from here, so there is never more than one thread an engine.

    The thread is a daemon: a hanging engine must not keep the process from ending.
    """

    def __init__(self, engine: Engine, clock: MonotonicClock) -> None:
        self.engine = engine
        self._clock = clock
        self._began_seconds: float | None = None
        self._ends_engine = False
        self._waiting: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=f"engine {engine.name}", daemon=True).start()

    @property
    def busy_seconds(self) -> float:
        """How long the question has been running that runs now; 0 where none does."""
        began = self._began_seconds
        return 0.0 if began is None else self._clock.monotonic_seconds() - began

    def ask(self, inputs: Inputs) -> Future[Outputs]:
        """The answer to come; cancelled before its turn, it is never run."""
        answer: Future[Outputs] = Future()
        # The deadline of whoever asks goes with the question.
        self._waiting.put((inputs, answer, copy_context()))
        return answer

    def close(self, *, with_engine: bool) -> None:
        """
        End the thread when it has nothing to run any more, and the engine where it can be ended.

        Nothing asked later is ever answered.
        """
        self._ends_engine = with_engine
        self._waiting.put(None)

    def _run(self) -> None:
        while (asked := self._waiting.get()) is not None:
            inputs, answer, context = asked
            if not answer.set_running_or_notify_cancel():
                continue
            self._began_seconds = self._clock.monotonic_seconds()
            try:
                outputs = context.run(self.engine.run, inputs)
            except Exception as error:  # noqa: BLE001 - whoever asked gets it
                self._began_seconds = None
                answer.set_exception(error)
            else:
                self._began_seconds = None
                answer.set_result(outputs)
            del asked, inputs, answer, context
        end = getattr(self.engine, "close", None)
        if self._ends_engine and end is not None:
            end()
