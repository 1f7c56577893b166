"""Real threads and an engine that really takes its time."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from serve_samples import X, Y, toy_bundle
from test_city_packing import MEAN

from doseflow.errors import EngineFailed, EngineOverloaded, EngineTimedOut
from doseflow.serve.batcher import Batcher
from doseflow.serve.city_packing import CityPacking
from doseflow.serve.engine_params import BatchParams, EngineParams
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import open_model
from doseflow.telemetry.deadline import current_deadline, deadline_at


def question(number, sites=3):
    return {"x": np.full((1, sites), number, np.float32), "mask": np.ones((1, sites), np.float32)}


class Slow:
    """The toy net after a pause; keeps how many cities each run had, and can be held up."""

    name = "slow"

    def __init__(self, pause_seconds=0.0):
        self.engine, self.pause_seconds, self.runs, self.deadlines = OnnxEngine(MEAN), pause_seconds, [], []
        self.may_go = threading.Event()
        self.may_go.set()
        self.fails = False

    def run(self, inputs):
        self.runs.append(len(inputs["x"]))
        self.deadlines.append(current_deadline())
        assert self.may_go.wait(20)
        time.sleep(self.pause_seconds)
        if self.fails:
            raise EngineFailed("slow: not today")
        with deadline_at(None):
            return self.engine.run(inputs)


@pytest.fixture
def gather():
    made = []

    def make(engine, **params):
        made.append(Batcher(engine, CityPacking(MEAN), BatchParams(**{"gather_milliseconds": 20.0, **params})))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_each_of_many_threads_gets_its_own_answer(gather):
    engine = Slow()
    batcher = gather(engine, gather_milliseconds=3.0)

    def ask(number):
        answer = batcher.door(number % 7).run(question(number, sites=1 + number % 5))["y"]
        assert answer.shape == (1, 1 + number % 5)
        return float(answer[0, 0])

    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(ask, range(300)))
    assert answers == [2.0 * number for number in range(300)]
    assert batcher.counts.num_answered == 300
    assert batcher.counts.num_runs < 300, "some runs were shared"
    assert sum(engine.runs) == 300


def test_questions_that_come_together_share_a_run(gather):
    engine = Slow()
    batcher = gather(engine, most_together=8, gather_milliseconds=2000.0)
    with ThreadPoolExecutor(8) as pool:
        began = time.monotonic()
        list(pool.map(lambda number: batcher.door(number).run(question(number)), range(8)))
    assert engine.runs == [8]
    assert time.monotonic() - began < 1.9, "a full run does not wait"


def test_a_deadline_begins_the_run_before_the_gathering_ends(gather):
    engine = Slow()
    batcher = gather(engine, gather_milliseconds=1000.0)
    with deadline_at(time.monotonic() + 0.3):
        assert batcher.door("a").run(question(1))["y"][0, 0] == 2.0


def test_no_answer_comes_after_the_deadline(gather):
    engine = Slow(pause_seconds=0.5)
    batcher = gather(engine, gather_milliseconds=0.0)
    deadline = time.monotonic() + 0.1
    with deadline_at(deadline), pytest.raises(EngineTimedOut):
        batcher.door("a").run(question(1))
    assert time.monotonic() - deadline < 0.3, "it did not wait for the run to end"


def test_what_could_only_be_late_is_not_run(gather):
    engine = Slow(pause_seconds=0.3)
    batcher = gather(engine, gather_milliseconds=0.0)
    batcher.door("a").run(question(1))
    engine.may_go.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(batcher.ask, "a", question(1))
        while len(engine.runs) < 2:
            time.sleep(0.005)

        def hurried():
            with deadline_at(time.monotonic() + 0.2):
                return batcher.ask("b", question(2))

        late = pool.submit(hurried)
        with pytest.raises(EngineTimedOut):
            late.result(10)
        engine.may_go.set()
        assert first.result(10)["y"][0, 0] == 2.0
    batcher.door("c").run(question(3))
    assert sum(engine.runs) == 3, "the late one never reached the engine"
    assert batcher.counts.num_late == 1


def test_overload_answers_at_once(gather):
    engine = Slow()
    batcher = gather(engine, gather_milliseconds=0.0, most_waiting=3, most_waiting_of_city=2)
    engine.may_go.clear()
    with ThreadPoolExecutor(8) as pool:
        running = pool.submit(batcher.ask, "a", question(0))
        while not engine.runs:
            time.sleep(0.005)
        waiting = [pool.submit(batcher.ask, city, question(1)) for city in ("b", "b", "c")]
        while batcher.num_waiting < 3:
            time.sleep(0.005)
        began = time.monotonic()
        with pytest.raises(EngineOverloaded, match="3 questions wait already"):
            batcher.ask("d", question(2))
        assert time.monotonic() - began < 0.5
        engine.may_go.set()
        assert [float(one.result(10)["y"][0, 0]) for one in (running, *waiting)] == [0.0, 2.0, 2.0, 2.0]
    assert batcher.counts.num_refused == 1


def test_a_question_that_the_net_cannot_take_spoils_nobody_elses(gather):
    batcher = gather(Slow(), gather_milliseconds=100.0)
    with ThreadPoolExecutor(2) as pool:
        good = pool.submit(batcher.ask, "a", question(4))
        with pytest.raises(EngineFailed, match="mask: must be float32"):
            batcher.ask("b", question(1) | {"mask": np.ones((1, 3))})
        assert good.result(10)["y"][0, 0] == 8.0


def test_a_run_that_fails_is_told_to_all_of_it_and_the_next_one_runs(gather):
    engine = Slow()
    batcher = gather(engine, most_together=2, gather_milliseconds=1000.0)
    engine.fails = True
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(batcher.ask, city, question(1)) for city in "ab"]
        for one in both:
            with pytest.raises(EngineFailed, match="not today"):
                one.result(10)
    engine.fails = False
    with deadline_at(time.monotonic() + 5):
        assert batcher.ask("a", question(3))["y"][0, 0] == 6.0


def test_the_engine_is_told_the_latest_deadline_of_the_run(gather):
    engine = Slow()
    batcher = gather(engine, most_together=2, gather_milliseconds=1000.0)
    deadlines = [time.monotonic() + 5, time.monotonic() + 9]

    def ask(deadline):
        with deadline_at(deadline):
            return batcher.ask(deadline, question(1))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, deadlines))
    assert engine.deadlines == [max(deadlines)]


def test_one_slow_run_is_not_the_end_of_all_runs(gather):
    engine = Slow(pause_seconds=1.0)
    batcher = gather(engine, gather_milliseconds=0.0)
    batcher.ask("a", question(1))
    engine.pause_seconds = 0.0

    def answered():
        try:
            with deadline_at(time.monotonic() + 0.2):
                return batcher.ask("a", question(1))["y"][0, 0] == 2.0
        except EngineTimedOut:
            return False

    assert any(answered() for _ in range(20))


def test_after_closing_it_refuses(gather):
    batcher = gather(Slow())
    batcher.close()
    with pytest.raises(EngineFailed, match="closed"):
        batcher.ask("a", question(1))


def test_an_opened_model_gives_every_city_a_door_to_one_engine(tmp_path):
    opened = open_model(toy_bundle(tmp_path / "toy"), params=EngineParams(batching=BatchParams(is_on=True)))
    doors = [opened.door() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda door: door.run({"x": X})["y"], doors))
    for answer in answers:
        np.testing.assert_allclose(answer, Y)
    assert opened.batcher.counts.num_answered == 4
    opened.batcher.close()
