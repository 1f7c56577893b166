"""The breaker against a model of it that keeps whole histories instead of counters, in every order of events."""

from __future__ import annotations

import threading

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from doseflow.circuit_breaker import Admission, BreakerParams, BreakerState, CircuitBreaker, FailureKind

PARAMS = BreakerParams(failures_to_open=3, cool_down_seconds=10, probes_to_close=2)


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic_seconds(self) -> float:
        return self.seconds


class Model:
    """The same rules told of the list of results since the last change of state, which is all that a state knows."""

    def __init__(self) -> None:
        self.state, self.since, self.results, self.probes_out = "closed", 0.0, [], set()

    def at(self, seconds: float) -> str:
        if self.state == "open" and seconds - self.since >= PARAMS.cool_down_seconds:
            self.go("half_open", seconds)
        return self.state

    def go(self, state: str, seconds: float) -> None:
        self.state, self.since, self.results, self.probes_out = state, seconds, [], set()

    def result(self, good: bool, seconds: float) -> None:
        self.results.append(good)
        if self.state == "closed":
            last = self.results[-PARAMS.failures_to_open :]
            if len(last) == PARAMS.failures_to_open and not any(last):
                self.go("open", seconds)
        elif self.state == "half_open":
            if not good:
                self.go("open", seconds)
            elif len(self.results) == PARAMS.probes_to_close:
                self.go("closed", seconds)


class BreakerAgainstModel(RuleBasedStateMachine):
    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.model = HandClock(), Model()
        self.breaker = CircuitBreaker(PARAMS, self.clock)
        self.num_tickets, self.failed = 0, 0

    @rule(target=tickets)
    def ask(self):
        state = self.model.at(self.clock.seconds)
        ticket = self.breaker.admit()
        if state == "closed":
            expected = Admission.ASK
        elif state == "half_open" and not self.model.probes_out:
            expected = Admission.PROBE
        else:
            expected = Admission.REFUSE
        assert ticket.admission is expected
        self.num_tickets += 1
        if expected is Admission.PROBE:
            self.model.probes_out.add(self.num_tickets)
        # The model knows a result of another time by when its question was asked, not by a count of changes.
        return ticket, self.num_tickets, self.model.results

    @rule(taken=consumes(tickets), kind=st.sampled_from([None, *FailureKind]))
    def bring_back(self, taken, kind):
        ticket, number, asked_in = taken
        self.model.at(self.clock.seconds)
        self.breaker.view()
        is_of_now = asked_in is self.model.results
        if kind is None:
            self.breaker.succeed(ticket)
        else:
            self.failed += 1
            self.breaker.fail(ticket, kind)
        if is_of_now and ticket.admission is not Admission.REFUSE:
            self.model.probes_out.discard(number)
            self.model.result(kind is None, self.clock.seconds)

    @rule(seconds=st.sampled_from([0.5, 4.0, 9.5, 10.0, 60.0]))
    def wait(self, seconds):
        self.clock.seconds += seconds

    @invariant()
    def same_state(self):
        view = self.breaker.view()
        assert view.state == self.model.at(self.clock.seconds)
        assert sum(view.failures_by_kind.values()) == self.failed
        if view.state is BreakerState.OPEN:
            assert 0 < view.seconds_to_probe <= PARAMS.cool_down_seconds


TestBreakerAgainstModel = BreakerAgainstModel.TestCase
TestBreakerAgainstModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def test_only_one_of_many_threads_gets_the_probe():
    clock = HandClock()
    breaker = CircuitBreaker(BreakerParams(failures_to_open=1, cool_down_seconds=1), clock)
    breaker.fail(breaker.admit(), FailureKind.ERROR)
    clock.seconds = 2.0
    admissions: list[Admission] = []
    start = threading.Barrier(8)

    def ask():
        start.wait()
        admissions.append(breaker.admit().admission)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(admissions) == [Admission.PROBE] + 7 * [Admission.REFUSE]


def test_every_parameter_has_bounds():
    for name, value in [("failures_to_open", 0), ("cool_down_seconds", -1), ("probes_to_close", 0)]:
        with pytest.raises(ValueError, match=f"{name}: must lie in"):
            BreakerParams(**{name: value})
