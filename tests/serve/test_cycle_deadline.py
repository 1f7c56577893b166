"""A whole living city whose nets hang, are late, or rest: the cycle ends in time and says who answered instead."""

import time
from dataclasses import replace

import pytest

from doseflow.bootstrap import open_city
from doseflow.errors import EngineFailed
from doseflow.settings import read_settings
from doseflow.telemetry.deadline import current_deadline


class Listening:
    """Keeps the deadline that holds where a net would be asked, and fails, so that the fallback answers."""

    name = "listening"

    def __init__(self):
        self.left_seconds = []

    def run(self, inputs):
        self.left_seconds.append(current_deadline() - time.monotonic())
        raise EngineFailed("listening: heard")


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = read_settings(
        city="synthetic:12",
        forecaster="learned",
        planner="learned",
        engines={"deadline_milliseconds": 5000.0},
        store={"url": f"sqlite:///{tmp_path / 'city.sqlite'}"},
    )
    city = open_city(settings)
    yield city
    city.close()


def test_both_nets_get_what_is_left_of_the_cycles_time(opened, monkeypatch):
    heard = Listening()
    for desk in opened.live.releases.values():
        monkeypatch.setattr(desk.slot.standing.champion.engine._thread, "engine", heard)
    began = time.monotonic()
    cycle = opened.live.run_cycle()
    spent_seconds = time.monotonic() - began
    assert heard.left_seconds, "nobody was asked"
    assert all(5.0 - spent_seconds < left < 5.0 for left in heard.left_seconds)
    assert sorted(heard.left_seconds, reverse=True) == heard.left_seconds
    assert "heard" in cycle.forecast.why_this_forecaster
    assert current_deadline() is None


def test_a_deadline_that_has_passed_leaves_the_cycle_to_the_fallbacks(opened):
    opened.live._answer_seconds = -1.0
    cycle = opened.live.run_cycle()
    assert "EngineTimedOut" in cycle.forecast.why_this_forecaster
    assert cycle.forecast.forecaster != "learned"


def test_with_time_left_the_nets_answer(opened):
    assert opened.live.run_cycle().forecast.forecaster == "learned"


def test_it_tells_which_net_rests(opened, monkeypatch):
    assert opened.live.why_engines_rest() == ""
    from doseflow import bootstrap

    resting = replace(bootstrap.open_policy(opened.settings), engine=_away())
    monkeypatch.setattr(bootstrap, "open_policy", lambda settings: resting)
    assert opened.live.why_engines_rest() == "onnx_cuda: it died; a new one is being started"


def _away():
    from doseflow.serve.engine_process import EngineProcess

    class Away(EngineProcess):
        def __init__(self):
            self.name, self._worker, self._why_not = "onnx_cuda", None, "it died; a new one is being started"

    return Away()
