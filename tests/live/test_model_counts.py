"""A city with learned nets, as its metrics tell of engines, breakers and releases."""

import contextlib

import pytest

from doseflow.bootstrap import open_city
from doseflow.live.clocks import SimulatedClock
from doseflow.live.model_counts import PHASES, tell_pair
from doseflow.serve.release_gates import Answered, CyclePair
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.telemetry.metrics import make_metrics


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    city = SimulatedCity.from_name("synthetic:4", seed=1)
    clock = SimulatedClock(city.now)
    url = f"sqlite:///{tmp_path_factory.mktemp('nets') / 'nets.sqlite'}"
    settings = Settings(store=StoreSettings(url=url), planner="learned", forecaster="learned")
    with contextlib.closing(open_city(settings, clock=clock, city=city.city)) as opened:
        for _ in range(2):
            city.advance(5)
            clock.set(city.now)
            opened.live.submit(b"[" + b",".join(city.reports()) + b"]")
            opened.live.run_cycle()
        for tell in opened.live.tellers:
            tell(opened.live.metrics)
        yield opened.live


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels)


@pytest.mark.parametrize("net", ["forecaster", "policy"])
def test_every_net_tells_its_answers_its_breaker_and_the_model_in_use(played, net):
    metrics = played.metrics
    assert value(metrics, "doseflow_engine_seconds_count", engine=net) >= 2
    assert value(metrics, "doseflow_breaker_state", engine=net, state="closed") == 1
    assert value(metrics, "doseflow_breaker_state", engine=net, state="open") == 0
    assert value(metrics, "doseflow_model_in_use", net=net, alias="champion", digest="packaged") == 1
    assert value(metrics, "doseflow_canary_share", net=net) == 0
    assert [value(metrics, "doseflow_canary_phase", net=net, phase=each) for each in PHASES] == [1, 0, 0, 0]


def test_a_breaker_that_opens_is_told_with_its_failures(played):
    breaker = played.releases["policy"].slot.standing.champion.engine.breaker
    for _ in range(breaker.params.failures_to_open):
        breaker.fail(breaker.admit(), next(iter(breaker.view().failures_by_kind)))
    for tell in played.tellers:
        tell(played.metrics)
    assert value(played.metrics, "doseflow_breaker_state", engine="policy", state="open") == 1
    assert value(played.metrics, "doseflow_breaker_opened_total", engine="policy") == 1
    failures = value(played.metrics, "doseflow_engine_failures_total", engine="policy", kind="timeout")
    assert failures == breaker.params.failures_to_open


def test_both_arms_of_a_cycle_are_told_with_what_became_of_them():
    metrics = make_metrics()
    pair = CyclePair(Answered(4.0), Answered(9.0, failure="timed out"), champion_served=True, challenger_served=False)
    tell_pair(metrics.engines, "policy", pair)
    tell_pair(metrics.engines, "policy", CyclePair(Answered(4.0), Answered(5.0, objections=2), True, False))
    outcomes = {
        (arm, outcome): value(metrics, "doseflow_canary_answers_total", net="policy", arm=arm, outcome=outcome)
        for arm, outcome in (("champion", "good"), ("challenger", "failed"), ("challenger", "objected"))
    }
    assert outcomes == {("champion", "good"): 2, ("challenger", "failed"): 1, ("challenger", "objected"): 1}
    assert value(metrics, "doseflow_canary_seconds_sum", net="policy", arm="challenger") == pytest.approx(0.014)
