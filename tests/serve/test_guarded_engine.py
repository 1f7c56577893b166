"""The guard round an engine: what counts as a failure, who waits for what, and how it comes back."""

import threading
import time

import numpy as np
import pytest

from doseflow.circuit_breaker import BreakerParams, BreakerState, CircuitBreaker, FailureKind
from doseflow.errors import EngineFailed, EngineTimedOut
from doseflow.serve.guarded_engine import GuardedEngine
from doseflow.telemetry.deadline import current_deadline, deadline_at

ONE = {"x": np.array([1.0])}


class Willing:
    """Adds one, until it is told to do something else."""

    name = "willing"

    def __init__(self):
        self.does = lambda: None
        self.num_runs = 0

    def run(self, inputs):
        self.num_runs += 1
        changed = self.does()
        return {"y": inputs["x"] + 1} if changed is None else changed


class HandClock:
    seconds = 0.0

    def monotonic_seconds(self):
        return self.seconds


class Bench:
    def __init__(self, **params):
        self.engine, self.clock = Willing(), HandClock()
        given = {"failures_to_open": 2, "cool_down_seconds": 5, "probes_to_close": 2, "deadline_milliseconds": 300}
        self.breaker = CircuitBreaker(BreakerParams(**(given | params)), self.clock)
        self.guarded = GuardedEngine(self.engine, self.breaker)

    def fails(self, kind=EngineFailed):
        with pytest.raises(kind) as caught:
            self.guarded.run(ONE)
        return str(caught.value)

    def probe(self):
        """One refused question, after whose probe has been judged."""
        good_before = self.breaker.view().good_probes
        said = self.fails()
        wait_until(lambda: self._is_judged(good_before))
        return said

    def _is_judged(self, good_before):
        view = self.breaker.view()
        return view.state is not BreakerState.HALF_OPEN or view.good_probes > good_before


def wait_until(is_so):
    give_up = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.002)


def raises_out_of_memory():
    raise RuntimeError("out of memory")


def test_a_good_answer_is_given_as_it_is():
    assert Bench().guarded.run(ONE)["y"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("does", "kind", "said"),
    [
        (raises_out_of_memory, FailureKind.ERROR, "willing: RuntimeError: out of memory"),
        (lambda: {"y": np.array([np.nan, 1.0])}, FailureKind.INVALID_OUTPUT, "y: must be finite, got 1 values not"),
        (dict, FailureKind.INVALID_OUTPUT, "outputs: must hold at least one array, got none"),
    ],
)
def test_each_failure_is_said_and_counted_by_its_kind_and_some_in_a_row_open_the_breaker(does, kind, said):
    bench = Bench()
    bench.engine.does = does
    assert said in bench.fails()
    assert bench.breaker.view().state is BreakerState.CLOSED
    bench.fails()
    view = bench.breaker.view()
    assert view.state is BreakerState.OPEN
    assert view.failures_by_kind[kind] == 2
    assert sum(view.failures_by_kind.values()) == 2


def test_an_open_breaker_leaves_the_engine_alone():
    bench = Bench()
    bench.engine.does = dict
    bench.fails()
    bench.fails()
    assert "not asked for 5 s more, after failures: 2 invalid_output" in bench.fails()
    assert bench.engine.num_runs == 2


def test_whoever_asks_a_hanging_engine_waits_for_the_deadline_once_and_then_not_at_all():
    bench, go_on = Bench(deadline_milliseconds=50, failures_to_open=3), threading.Event()
    bench.engine.does = lambda: go_on.wait() and None
    assert "must answer within 50 ms" in bench.fails(EngineTimedOut)
    time.sleep(0.06)
    began = time.monotonic()
    assert "still hangs" in bench.fails(EngineTimedOut)
    assert "still hangs" in bench.fails(EngineTimedOut)
    assert time.monotonic() - began < 0.05
    assert bench.breaker.view().failures_by_kind[FailureKind.TIMEOUT] == 3
    assert bench.engine.num_runs == 1
    go_on.set()


def test_it_comes_back_after_good_probes_whose_answers_nobody_gets():
    bench = Bench()
    bench.engine.does = dict
    bench.fails()
    bench.fails()
    bench.engine.does = lambda: None
    bench.clock.seconds = 5.0
    assert "tried beside the flow" in bench.probe()
    assert bench.breaker.view().state is BreakerState.HALF_OPEN
    bench.probe()
    assert bench.breaker.view().state is BreakerState.CLOSED
    assert bench.guarded.run(ONE)["y"].tolist() == [2.0]


def test_a_bad_probe_opens_it_again_for_a_whole_cool_down():
    bench = Bench()
    bench.engine.does = dict
    bench.fails()
    bench.fails()
    bench.clock.seconds = 5.0
    bench.probe()
    assert bench.breaker.view().seconds_to_probe == 5.0


def test_a_probe_that_hangs_is_a_timeout_when_the_next_question_comes():
    bench, go_on = Bench(deadline_milliseconds=50), threading.Event()
    bench.engine.does = dict
    bench.fails()
    bench.fails()
    bench.engine.does = lambda: go_on.wait() and None
    bench.clock.seconds = 5.0
    bench.fails()
    wait_until(lambda: bench.guarded._thread.busy_seconds > 0.06)
    bench.fails()
    view = bench.breaker.view()
    assert (view.state, view.failures_by_kind[FailureKind.TIMEOUT]) == (BreakerState.OPEN, 1)
    go_on.set()


def test_a_good_answer_in_between_starts_the_count_anew():
    bench = Bench()
    for _ in range(3):
        bench.engine.does = dict
        bench.fails()
        bench.engine.does = lambda: None
        bench.guarded.run(ONE)
    assert bench.breaker.view().state is BreakerState.CLOSED


@pytest.mark.parametrize("with_engine", [False, True])
def test_an_engine_that_is_let_go_of_is_ended_only_where_that_is_said(with_engine):
    bench, ended = Bench(deadline_milliseconds=50), threading.Event()
    bench.engine.close = ended.set
    bench.guarded.close(with_engine=with_engine)
    assert ended.wait(5 if with_engine else 0.1) == with_engine
    assert "must answer within 50 ms" in bench.fails(EngineTimedOut)


def test_the_deadline_of_whoever_asks_holds_in_the_engines_thread_too():
    bench, seen = Bench(), []
    bench.engine.does = lambda: seen.append(current_deadline())
    with deadline_at(12345.0):
        bench.guarded.run(ONE)
    bench.guarded.run(ONE)
    assert seen == [12345.0, None]
