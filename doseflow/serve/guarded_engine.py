"""GuardedEngine: an engine behind a circuit breaker, with a deadline, whose answers are looked at before they count."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.circuit_breaker import Admission, BreakerState, CircuitBreaker, FailureKind, Ticket
from doseflow.errors import EngineFailed, EngineTimedOut
from doseflow.ports import Engine
from doseflow.serve.engine_thread import EngineThread

Arrays = Mapping[str, NDArray[Any]]
AnswerCheck = Callable[[Arrays, Arrays], None]
"""Takes inputs and outputs; raises EngineFailed where the outputs cannot be right."""


class WallSeconds:
    """Seconds by the machine: what an engine is given runs by no other clock."""

    def monotonic_seconds(self) -> float:
        """Seconds that only ever grow."""
        return time.perf_counter()


class GuardedEngine:
    """
    Thread-safe. Whatever it raises, the caller's fallback answers, in the same cycle.

    While the breaker is half open, a question is run beside the flow and its answer only judged.

    Parameters
    ----------
    check
        What must hold of the answers to this net.
    """

    def __init__(self, engine: Engine, breaker: CircuitBreaker, check: AnswerCheck | None = None) -> None:
        self.name = engine.name
        self.breaker = breaker
        self._check = check or every_output_is_finite
        self._thread = EngineThread(engine, WallSeconds())
        self._deadline_seconds = breaker.params.deadline_milliseconds / 1000
        self._probe: tuple[Ticket, Future[dict[str, NDArray[Any]]]] | None = None

    def run(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineTimedOut
            The answer did not come in time.
        EngineFailed
            The engine failed, its answer cannot be right, or it is not asked for the moment.
        """
        self._give_up_probe()
        ticket = self.breaker.admit()
        if ticket.admission is Admission.ASK:
            return self._asked(inputs, ticket)
        if ticket.admission is Admission.PROBE:
            self._try_beside(inputs, ticket)
        raise EngineFailed(f"{self.name}: {self._why_not_asked()}")

    def close(self, *, with_engine: bool) -> None:
        """Let go of the engine, or end it too; whoever still asks is told that it did not answer in time."""
        self._thread.close(with_engine=with_engine)

    def _asked(self, inputs: Arrays, ticket: Ticket) -> dict[str, NDArray[Any]]:
        if self._thread.busy_seconds > self._deadline_seconds:
            self.breaker.fail(ticket, FailureKind.TIMEOUT)
            raise EngineTimedOut(f"{self.name}: still hangs on an earlier question")
        answer = self._thread.ask(inputs)
        try:
            outputs = answer.result(self._deadline_seconds)
        except TimeoutError as error:
            answer.cancel()
            self.breaker.fail(ticket, FailureKind.TIMEOUT)
            limit = self.breaker.params.deadline_milliseconds
            raise EngineTimedOut(f"{self.name}: must answer within {limit:g} ms") from error
        except EngineTimedOut:
            self.breaker.fail(ticket, FailureKind.TIMEOUT)
            raise
        except Exception as error:
            self.breaker.fail(ticket, FailureKind.ERROR)
            raise _as_failed(self.name, error) from error
        self._judge(inputs, outputs, ticket)
        return outputs

    def _judge(self, inputs: Arrays, outputs: Arrays, ticket: Ticket) -> None:
        try:
            self._check(inputs, outputs)
        except Exception as error:
            self.breaker.fail(ticket, FailureKind.INVALID_OUTPUT)
            raise _as_failed(self.name, error) from error
        self.breaker.succeed(ticket)

    def _try_beside(self, inputs: Arrays, ticket: Ticket) -> None:
        # The caller goes on with its arrays; the probe has its own.
        own = {name: np.array(array) for name, array in inputs.items()}
        answer = self._thread.ask(own)
        self._probe = (ticket, answer)
        began_seconds = time.perf_counter()
        answer.add_done_callback(lambda done: self._judge_probe(own, done, ticket, began_seconds))

    def _judge_probe(
        self, inputs: Arrays, done: Future[dict[str, NDArray[Any]]], ticket: Ticket, began_seconds: float
    ) -> None:
        if time.perf_counter() - began_seconds > self._deadline_seconds:
            self.breaker.fail(ticket, FailureKind.TIMEOUT)
            return
        try:
            self._judge(inputs, done.result(), ticket)
        except EngineTimedOut:
            self.breaker.fail(ticket, FailureKind.TIMEOUT)
        except (EngineFailed, CancelledError):
            pass  # judged already
        except Exception:  # noqa: BLE001 - nobody waits for a probe: what it raised is only counted
            self.breaker.fail(ticket, FailureKind.ERROR)

    def _give_up_probe(self) -> None:
        """A probe that hangs is a timeout as soon as somebody asks again."""
        probe = self._probe
        if probe is None or probe[1].done():
            return
        if self._thread.busy_seconds > self._deadline_seconds:
            self._probe = None
            self.breaker.fail(probe[0], FailureKind.TIMEOUT)

    def _why_not_asked(self) -> str:
        view = self.breaker.view()
        kinds = ", ".join(f"{number} {kind}" for kind, number in view.failures_by_kind.items() if number)
        if view.state is BreakerState.OPEN:
            return f"not asked for {view.seconds_to_probe:.0f} s more, after failures: {kinds}"
        good, needed = view.good_probes, self.breaker.params.probes_to_close
        return f"is being tried beside the flow, {good} of {needed} answers were good, after failures: {kinds}"


def every_output_is_finite(_inputs: Arrays, outputs: Arrays) -> None:
    """
    The least that must hold of any answer.

    Raises
    ------
    EngineFailed
    """
    if not outputs:
        raise EngineFailed("outputs: must hold at least one array, got none")
    for name, array in outputs.items():
        if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
            raise EngineFailed(f"{name}: must be finite, got {np.count_nonzero(~np.isfinite(array))} values not")


def _as_failed(name: str, error: Exception) -> EngineFailed:
    return error if isinstance(error, EngineFailed) else EngineFailed(f"{name}: {type(error).__name__}: {error}")
