"""
Batcher: questions of many cities gathered into few runs of one engine, none of them past its deadline.

A run begins when it is full, when the first question has waited as long as it should, or when one could not be answered
in time any more. What would be late is refused instead of run, so that its city's fallback has the time that is left.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from doseflow.errors import EngineFailed, EngineTimedOut
from doseflow.ports import Engine
from doseflow.serve.city_packing import CityPacking
from doseflow.serve.engine_params import BatchParams
from doseflow.serve.waiting_line import WaitingLine
from doseflow.telemetry.deadline import current_deadline, deadline_at

NO_DEADLINE_SECONDS = 60.0
_FORGETTING, _DOUBTING = 0.9, 0.5

Answer = dict[str, NDArray[Any]]


@dataclass(eq=False)
class _Asked:
    """One question, and the place where its answer is put."""

    city: Hashable
    inputs: Mapping[str, NDArray[Any]]
    sizes: Mapping[str, int]
    asked_at: float
    deadline: float
    is_done: threading.Event = field(default_factory=threading.Event)
    outcome: Answer | EngineFailed | None = None

    def end(self, outcome: Answer | EngineFailed) -> None:
        self.outcome = outcome
        self.is_done.set()


@dataclass
class BatchCounts:
    """What became of all questions so far; `num_runs` over `num_answered` says how much was gathered."""

    num_runs: int = 0
    num_answered: int = 0
    num_failed: int = 0
    num_late: int = 0
    num_refused: int = 0


class Batcher:
    """
    Gathers for one engine; thread-safe.

    Parameters
    ----------
    on_run
        Called after each run with the number of questions, its seconds, laying cities side by side and apart again
        among them, and how many wait then; must not raise.
    clock
        Monotonic seconds, as deadlines are in.
    """

    def __init__(
        self,
        engine: Engine,
        packing: CityPacking,
        params: BatchParams,
        *,
        on_run: Callable[[int, float, int], None] = lambda *_: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = engine.name
        self.counts = BatchCounts()
        self._engine, self._packing, self._clock, self._on_run = engine, packing, clock, on_run
        self._line: WaitingLine[_Asked] = WaitingLine(params, packing.cost)
        self._changed = threading.Condition()
        self._run_seconds = 0.0
        self._is_closed = False
        self._thread = threading.Thread(target=self._serve, name=f"gather-{engine.name}", daemon=True)
        self._thread.start()

    @property
    def num_waiting(self) -> int:
        """Questions that wait now."""
        return len(self._line)

    def door(self, city: Hashable) -> CityDoor:
        """The engine as one city sees it."""
        return CityDoor(self, city)

    def ask(self, city: Hashable, inputs: Mapping[str, NDArray[Any]]) -> Answer:
        """
        The answer to a city's question.

        Raises
        ------
        EngineOverloaded
            Too many wait; said at once.
        EngineTimedOut
            It was not answered by the deadline that holds here, or could not have been.
        EngineFailed
        """
        now = self._clock()
        asked = _Asked(city, inputs, self._packing.sizes(inputs), now, current_deadline() or now + NO_DEADLINE_SECONDS)
        with self._changed:
            if self._is_closed:
                raise EngineFailed(f"{self.name}: it is closed")
            try:
                self._line.join(asked)
            except EngineFailed:
                self.counts.num_refused += 1
                raise
            self._changed.notify()
        asked.is_done.wait(max(asked.deadline - self._clock(), 0.0))
        # An answer that came between the wait and here is late as well.
        if asked.outcome is None or self._clock() > asked.deadline:
            raise EngineTimedOut(f"{self.name}: no answer by the deadline")
        if isinstance(asked.outcome, EngineFailed):
            raise type(asked.outcome)(str(asked.outcome)) from asked.outcome
        return asked.outcome

    def close(self) -> None:
        """Answer nobody any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._is_closed and (pause_seconds := self._pause_seconds()) != 0:
                    self._changed.wait(pause_seconds)
                taken = self._line.take(self._clock(), self._run_seconds)
                is_closed = self._is_closed
            if taken.late and not taken.together:
                # One slow run must not be the reason that none is ever tried again.
                self._run_seconds *= _DOUBTING
            for one in taken.late:
                self.counts.num_late += 1
                one.end(EngineTimedOut(f"{self.name}: could not have been answered by the deadline"))
            if is_closed:
                self._refuse(taken.together)
                if not len(self._line):
                    return
            elif taken.together:
                self._run(taken.together)

    def _pause_seconds(self) -> float | None:
        due_at = self._line.due_at(self._run_seconds)
        return None if due_at is None else max(due_at - self._clock(), 0.0)

    def _refuse(self, together: list[_Asked]) -> None:
        for one in together:
            one.end(EngineFailed(f"{self.name}: it is closed"))

    def _run(self, together: list[_Asked]) -> None:
        began = self._clock()
        try:
            with deadline_at(max(one.deadline for one in together)):
                answers = self._packing.answers(
                    self._engine, [one.inputs for one in together], [one.sizes for one in together]
                )
        except Exception as error:  # noqa: BLE001 - the boundary of the thread: each who asked raises it
            failed = error if isinstance(error, EngineFailed) else EngineFailed(f"{self.name}: {error}")
            self.counts.num_failed += len(together)
            for one in together:
                one.end(failed)
            return
        finally:
            seconds = self._clock() - began
            self._run_seconds = max(seconds, _FORGETTING * self._run_seconds)
            self.counts.num_runs += 1
        self.counts.num_answered += len(together)
        for one, answer in zip(together, answers, strict=True):
            one.end(answer)
        self._on_run(len(together), seconds, len(self._line))


class CityDoor:
    """One city's way to a shared engine."""

    def __init__(self, batcher: Batcher, city: Hashable) -> None:
        self.name = batcher.name
        self._batcher, self._city = batcher, city

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Answer:
        """
        Every output by name.

        Raises
        ------
        EngineOverloaded, EngineTimedOut, EngineFailed
        """
        return self._batcher.ask(self._city, inputs)
