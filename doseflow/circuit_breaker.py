"""
CircuitBreaker: stops asking what keeps failing, and finds out beside the flow when it works again.

    CLOSED --N failures in a row--> OPEN --cool-down over--> HALF_OPEN --n good probes--> CLOSED
                                      ^------------a bad probe------------'

M. Nygard, Release It!, 2nd edition, Pragmatic Bookshelf, 2018, section 5.2. The clock is given; it has no thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from doseflow.telemetry.stopwatch import MonotonicClock


class BreakerState(StrEnum):
    """Whether questions are asked."""

    CLOSED = "closed"
    """Every question is asked, and its answer used."""
    OPEN = "open"
    """No question is asked."""
    HALF_OPEN = "half_open"
    """One question at a time is tried, and its answer is not used."""


class FailureKind(StrEnum):
    """What went wrong with a question."""

    TIMEOUT = "timeout"
    ERROR = "error"
    INVALID_OUTPUT = "invalid_output"


@dataclass(frozen=True, slots=True)
class BreakerParams:
    """When the engine of a net is no longer asked, and when it is again."""

    failures_to_open: int = 10
    """Timeouts, errors and invalid outputs in a row after which an engine is no longer asked."""
    cool_down_seconds: float = 60.0
    """How long it is left alone before it is tried again."""
    probes_to_close: int = 3
    """Good answers in a row, tried beside the flow, after which it answers again."""
    deadline_milliseconds: float = 60.0
    """How long one answer may take; the fallback answers then, in the same cycle. Cities over 500 sites need more."""

    def __post_init__(self) -> None:
        bounds = {
            "failures_to_open": (1, 1000),
            "cool_down_seconds": (0, 86_400),
            "probes_to_close": (1, 100),
            "deadline_milliseconds": (1, 60_000),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")


class Admission(StrEnum):
    """What may be done with a question."""

    ASK = "ask"
    PROBE = "probe"
    """Ask it, and do not use the answer."""
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Ticket:
    """The admission of one question; `epoch` counts the changes of state before it."""

    admission: Admission
    epoch: int


@dataclass(frozen=True, slots=True)
class BreakerView:
    """How a breaker stands; `failures_by_kind` counts since the process began."""

    state: BreakerState
    failures_in_row: int
    good_probes: int
    seconds_to_probe: float
    failures_by_kind: Mapping[FailureKind, int]
    times_opened: int


class CircuitBreaker:
    """
    The state machine. Thread-safe; every question takes a ticket and brings it back with its result.

    A result that comes after the state has changed is counted and changes nothing: it tells of another time.
    """

    def __init__(self, params: BreakerParams, clock: MonotonicClock) -> None:
        self.params = params
        self._clock = clock
        self._lock = threading.Lock()
        self._state = BreakerState.CLOSED
        self._epoch = 0
        self._in_row = 0
        self._good_probes = 0
        self._probe_is_out = False
        self._opened_seconds = 0.0
        self._times_opened = 0
        self._by_kind = dict.fromkeys(FailureKind, 0)

    def admit(self) -> Ticket:
        """What may be done with the next question; a probe must be brought back by `succeed` or `fail`."""
        with self._lock:
            self._cool_down()
            if self._state is BreakerState.CLOSED:
                return Ticket(Admission.ASK, self._epoch)
            if self._state is BreakerState.HALF_OPEN and not self._probe_is_out:
                self._probe_is_out = True
                return Ticket(Admission.PROBE, self._epoch)
            return Ticket(Admission.REFUSE, self._epoch)

    def succeed(self, ticket: Ticket) -> None:
        """The question was answered well and in time."""
        with self._lock:
            if ticket.epoch != self._epoch or ticket.admission is Admission.REFUSE:
                return
            self._in_row = 0
            if ticket.admission is Admission.PROBE:
                self._probe_is_out = False
                self._good_probes += 1
                if self._good_probes >= self.params.probes_to_close:
                    self._change(BreakerState.CLOSED)

    def fail(self, ticket: Ticket, kind: FailureKind) -> None:
        """The question was not."""
        with self._lock:
            self._by_kind[kind] += 1
            if ticket.epoch != self._epoch or ticket.admission is Admission.REFUSE:
                return
            self._in_row += 1
            if ticket.admission is Admission.PROBE or self._in_row >= self.params.failures_to_open:
                self._opened_seconds = self._clock.monotonic_seconds()
                self._times_opened += 1
                self._change(BreakerState.OPEN)

    def view(self) -> BreakerView:
        """How it stands now."""
        with self._lock:
            self._cool_down()
            return BreakerView(
                state=self._state,
                failures_in_row=self._in_row,
                good_probes=self._good_probes,
                seconds_to_probe=self._seconds_to_probe() if self._state is BreakerState.OPEN else 0.0,
                failures_by_kind=dict(self._by_kind),
                times_opened=self._times_opened,
            )

    def _seconds_to_probe(self) -> float:
        return self._opened_seconds + self.params.cool_down_seconds - self._clock.monotonic_seconds()

    def _cool_down(self) -> None:
        if self._state is BreakerState.OPEN and self._seconds_to_probe() <= 0:
            self._change(BreakerState.HALF_OPEN)

    def _change(self, state: BreakerState) -> None:
        self._state = state
        self._epoch += 1
        self._good_probes = 0
        self._probe_is_out = False
        if state is BreakerState.CLOSED:
            self._in_row = 0
