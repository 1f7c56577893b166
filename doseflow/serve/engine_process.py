"""
EngineProcess: an engine in a process of its own, since a call that hangs in a driver ends only with its process.

A question that is not answered by its deadline is abandoned: the process is killed, a new one is started beside the
cycles, and until it stands every question is refused at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import structlog
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, EngineTimedOut, EngineUnfit
from doseflow.ports import Engine
from doseflow.serve.array_frame import ArrayFrame
from doseflow.serve.question import Answer, Question
from doseflow.telemetry.deadline import current_deadline

log = structlog.get_logger(__name__)

_EXIT_SECONDS = 0.5
"""For the exit code of a process that has closed its end."""
_PACKAGE_FOLDER = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class ProcessParams:
    """How long to wait: for an answer where no deadline holds, for a start, between failed starts, and for an end."""

    answer_seconds: float = 1.0
    start_seconds: float = 120.0
    first_pause_seconds: float = 0.1
    longest_pause_seconds: float = 30.0
    end_seconds: float = 5.0


class EngineProcess:
    """
    An engine that can be ended; thread-safe, one question at a time.

    Parameters
    ----------
    name
        Name of the engine.
    open_engine
        Opens the engine in the other process, holds it to its golden outputs and warms it up; must be picklable.

    Raises
    ------
    EngineUnfit
        The first process could not open its engine.
    """

    def __init__(
        self, name: str, open_engine: Callable[[], Engine], params: ProcessParams | None = None, *, waits: bool = True
    ) -> None:
        self.name = name
        self.num_timeouts = self.num_restarts = 0
        self._open_engine, self._params = open_engine, params or ProcessParams()
        self._asking = threading.Lock()
        self._closing = threading.Event()
        self._worker: _Worker | None = None
        self._why_not = "it is being started"
        self._starting: threading.Thread | None = None
        if waits:
            self._worker = _Worker(open_engine, self._params)
        else:
            self._start_beside()

    @property
    def is_ready(self) -> bool:
        """Whether a process stands that can be asked."""
        return self._worker is not None

    @property
    def why_not_ready(self) -> str:
        """Why none stands; empty where one does."""
        return "" if self.is_ready else self._why_not

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineTimedOut
            No answer by the deadline that holds here; the process is ended for it.
        EngineFailed
            The engine failed, its process died, or none stands yet.
        """
        deadline = current_deadline() or time.monotonic() + self._params.answer_seconds
        if not self._asking.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
            raise EngineTimedOut(f"{self.name}: another question was still open at the deadline")
        try:
            return self._asked(inputs, deadline)
        finally:
            self._asking.release()

    def close(self) -> None:
        """End the process; the engine must not be asked any more."""
        self._closing.set()
        if self._starting is not None:
            self._starting.join()
        with self._asking:
            if self._worker is not None:
                self._worker.end()
            self._worker, self._why_not = None, "it is closed"

    def _asked(self, inputs: Mapping[str, NDArray[Any]], deadline: float) -> dict[str, NDArray[Any]]:
        worker = self._worker
        if worker is None:
            raise EngineFailed(f"{self.name}: the engine's process cannot be asked: {self._why_not}")
        try:
            return worker.ask(inputs, deadline)
        except TimeoutError:
            self.num_timeouts += 1
            self._replace(worker, "it did not answer by the deadline and was ended")
            raise EngineTimedOut(f"{self.name}: no answer by the deadline; its process is started anew") from None
        except (EOFError, OSError) as error:
            self._replace(worker, "it died")
            raise EngineFailed(f"{self.name}: its process died ({worker.exit_text()}) and is started anew") from error

    def _replace(self, worker: _Worker, why: str) -> None:
        log.error("engine_process_ended", engine=self.name, why=why)
        self._worker, self._why_not = None, f"{why}; a new one is being started"
        worker.kill()
        if self._closing.is_set():
            worker.end()
        else:
            self._start_beside(worker)

    def _start_beside(self, killed: _Worker | None = None) -> None:
        name = f"start-{self.name}"
        self._starting = threading.Thread(target=self._start_until_it_stands, args=(killed,), name=name, daemon=True)
        self._starting.start()

    def _start_until_it_stands(self, killed: _Worker | None) -> None:
        # Here and not in the question: what hangs in a driver may not end for a while, even when it is killed.
        if killed is not None:
            killed.end()
        pause_seconds = self._params.first_pause_seconds
        while not self._closing.wait(pause_seconds):
            pause_seconds = min(2 * pause_seconds, self._params.longest_pause_seconds)
            try:
                worker = _Worker(self._open_engine, self._params)
            except EngineUnfit as error:
                self._why_not = str(error)
                log.error("engine_process_not_started", engine=self.name, why=str(error), again_seconds=pause_seconds)
                continue
            self.num_restarts += 1
            self._worker = worker
            return


def why_it_rests(engine: Engine) -> str:
    """Why an engine cannot be asked just now; empty where it can."""
    if isinstance(engine, EngineProcess) and not engine.is_ready:
        return f"{engine.name}: {engine.why_not_ready}"
    return ""


class _Worker:
    """One process: started, asked, ended."""

    def __init__(self, open_engine: Callable[[], Engine], params: ProcessParams) -> None:
        self._end_seconds = params.end_seconds
        self._connection, other = Pipe()
        self._frame = ArrayFrame()
        self._process = _started(other, self._frame)
        other.close()
        try:
            self._connection.send(tuple(sys.path))
            self._connection.send(open_engine)
            answer = self._received(time.monotonic() + params.start_seconds)
        except (TimeoutError, EOFError, OSError) as error:
            self.end()
            why = f"no word in {params.start_seconds:g} s" if isinstance(error, TimeoutError) else self.exit_text()
            raise EngineUnfit(f"the engine's process did not start: {why}") from error
        if answer.failure:
            self.end()
            raise EngineUnfit(answer.failure)

    def ask(self, inputs: Mapping[str, NDArray[Any]], deadline: float) -> dict[str, NDArray[Any]]:
        self._connection.send(Question(self._frame.put(inputs), deadline))
        answer = self._received(deadline)
        if answer.failure:
            raise EngineFailed(answer.failure)
        return self._frame.get(answer.places, copies=True)

    def kill(self) -> None:
        """Does not wait."""
        self._process.kill()

    def end(self) -> None:
        if self._connection.closed:
            return
        self._process.kill()
        try:
            self._process.wait(self._end_seconds)
        except subprocess.TimeoutExpired:
            # The next process that is started reaps it.
            log.error("engine_process_does_not_end", pid=self._process.pid, waited_seconds=self._end_seconds)
        self._connection.close()
        self._frame.close()

    def exit_text(self) -> str:
        try:
            return f"exit code {self._process.wait(_EXIT_SECONDS)}"
        except subprocess.TimeoutExpired:
            return "it has not ended yet"

    def _received(self, deadline: float) -> Answer:
        if not self._connection.poll(max(deadline - time.monotonic(), 0.0)):
            raise TimeoutError
        answer: Answer = self._connection.recv()
        return answer


def _started(connection: Connection, frame: ArrayFrame) -> subprocess.Popen[bytes]:
    descriptors = connection.fileno(), frame.descriptor
    command = [sys.executable, "-P", "-m", "doseflow.serve.engine_worker", *map(str, descriptors), str(os.getpid())]
    path = os.pathsep.join((str(_PACKAGE_FOLDER), os.environ.get("PYTHONPATH", "")))
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command, pass_fds=descriptors, stdin=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": path}
    )
