"""Real processes: one that answers, one that hangs, one that dies, one that cannot open its engine."""

import os
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from moody_engine import DIES, FAILS, HANGS, Moody, opens_after, refusing
from serve_samples import X, Y, toy_model

from doseflow.errors import EngineFailed, EngineTimedOut, EngineUnfit
from doseflow.serve.array_frame import ArrayFrame
from doseflow.serve.engine_process import EngineProcess, ProcessParams
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.telemetry.deadline import deadline_at

QUICK = ProcessParams(answer_seconds=10.0, start_seconds=20.0, first_pause_seconds=0.01, longest_pause_seconds=0.05)


@pytest.fixture
def process():
    opened = []

    def start(open_engine=Moody, params=QUICK, **given):
        opened.append(EngineProcess("tested", open_engine, params, **given))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def until_ready(engine, seconds=20.0):
    end = time.monotonic() + seconds
    while not engine.is_ready and time.monotonic() < end:
        time.sleep(0.005)
    assert engine.is_ready


def test_it_answers_as_the_engine_in_this_process_does(process):
    engine = process(partial(OnnxEngine, toy_model()))
    for rows in (1, 3, 2):
        np.testing.assert_array_equal(engine.run({"x": X[:rows]})["y"], Y[:rows])


def test_the_engine_runs_in_another_process(process):
    assert process().run({"x": np.ones(1)})["pid"][0] != os.getpid()


def test_arrays_of_any_size_pass_and_answers_stay_when_the_next_question_comes(process):
    engine = process()
    sizes = (0, 1, 300_000, 7, 2_000_000)
    asked = [np.arange(size, dtype=np.float64) for size in sizes]
    answers = [engine.run({"x": x})["y"] for x in asked]
    for x, y in zip(asked, answers, strict=True):
        np.testing.assert_array_equal(y, 2 * x)


def test_a_failure_is_told_and_the_process_goes_on(process):
    engine = process()
    with pytest.raises(EngineFailed, match="not today"):
        engine.run({"x": np.array([FAILS])})
    assert engine.run({"x": np.array([4.0])})["y"][0] == 8.0
    assert engine.num_restarts == 0


def test_a_hung_call_is_abandoned_at_its_deadline_and_the_next_process_answers(process):
    engine = process()
    first = engine.run({"x": np.ones(1)})["pid"][0]
    began = time.monotonic()
    with deadline_at(began + 0.2), pytest.raises(EngineTimedOut, match="by the deadline"):
        engine.run({"x": np.array([HANGS])})
    assert time.monotonic() - began < 5.0, "the call itself would have lasted a minute"
    with pytest.raises(EngineFailed, match="a new one is being started"):
        engine.run({"x": np.ones(1)})
    until_ready(engine)
    assert engine.run({"x": np.array([4.0])})["y"][0] == 8.0
    assert engine.num_timeouts == engine.num_restarts == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(first), 0)


def test_a_process_that_does_not_end_when_killed_holds_up_neither_the_question_nor_the_next_process(process):
    engine = process(params=replace(QUICK, end_seconds=0.1))
    stuck = engine._worker._process
    kill, stuck.kill = stuck.kill, lambda: None
    try:
        began = time.monotonic()
        with deadline_at(began + 0.2), pytest.raises(EngineTimedOut, match="by the deadline"):
            engine.run({"x": np.array([HANGS])})
        assert time.monotonic() - began < 5.0, "it goes on for a minute"
        until_ready(engine)
        assert stuck.poll() is None
        assert engine.run({"x": np.array([4.0])})["y"][0] == 8.0
    finally:
        kill()
        stuck.wait()


def test_a_process_that_dies_is_told_with_its_exit_code_and_replaced(process):
    engine = process()
    with pytest.raises(EngineFailed, match=r"died \(exit code -9\)"):
        engine.run({"x": np.array([DIES])})
    until_ready(engine)
    assert engine.run({"x": np.array([4.0])})["y"][0] == 8.0


def test_a_process_killed_between_questions_is_noticed(process):
    engine = process()
    os.kill(int(engine.run({"x": np.ones(1)})["pid"][0]), signal.SIGKILL)
    time.sleep(0.3)  # the kill takes a moment
    with pytest.raises(EngineFailed, match="died"):
        engine.run({"x": np.ones(1)})
    until_ready(engine)


def test_an_engine_that_does_not_open_says_why(process):
    with pytest.raises(EngineUnfit, match="ModelWrong: golden check: y is off by 1"):
        process(refusing)


def test_it_is_tried_again_until_it_opens(process, tmp_path):
    engine = process(partial(opens_after, tmp_path / "flag"), waits=False)
    time.sleep(0.3)
    assert not engine.is_ready
    with pytest.raises(EngineFailed, match="cannot be asked"):
        engine.run({"x": np.ones(1)})
    (tmp_path / "flag").touch()
    until_ready(engine)


def test_after_closing_nothing_runs_and_nothing_answers(process):
    engine = process()
    pid = int(engine.run({"x": np.ones(1)})["pid"][0])
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(EngineFailed, match="closed"):
        engine.run({"x": np.ones(1)})


def test_descriptors_and_memory_stay_flat_over_many_restarts(process):
    engine = process()

    def die():
        with pytest.raises(EngineFailed):
            engine.run({"x": np.full(10_000, DIES)})
        until_ready(engine)

    for _ in range(3):
        die()
    before = len(os.listdir("/proc/self/fd")), _resident_bytes()
    for _ in range(NUM_RESTARTS):
        die()
    after = len(os.listdir("/proc/self/fd")), _resident_bytes()
    assert engine.num_restarts == NUM_RESTARTS + 3
    assert after[0] <= before[0]
    assert after[1] - before[1] < 4e6, "each restart would leave its frame of 1 MiB"


NUM_RESTARTS = 12


def _resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_frame_gives_back_what_was_put_in_whatever_the_types():
    frame = ArrayFrame()
    put = {"a": np.arange(5, dtype=np.int64), "b": np.float32([[1.5, np.nan]]), "c": np.array(True), "d": np.zeros(0)}
    got = frame.get(frame.put(put), copies=True)
    for name, array in put.items():
        np.testing.assert_array_equal(got[name], array)
        assert got[name].dtype == array.dtype
    frame.close()
