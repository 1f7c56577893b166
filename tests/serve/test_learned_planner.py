"""The learned forecaster from its bundle to a plan: chosen by settings, opened once, looked at by the doctor."""

import contextlib
from dataclasses import replace
from datetime import time
from pathlib import Path

import numpy as np
import pytest
from serve_samples import SPREAD, arrival_bundle
from structlog.testing import capture_logs

from doseflow.bootstrap import make_planner, open_city, open_forecaster
from doseflow.circuit_breaker import BreakerParams
from doseflow.doctor import examine
from doseflow.domain.forecast import ForecastBasis
from doseflow.errors import EngineFailed, ModelWrong, SettingsWrong
from doseflow.evaluate.code_digest import code_digest
from doseflow.evaluate.planners import check_planners, planner_of
from doseflow.evaluate.run import Run, play
from doseflow.forecast.net_inputs import net_inputs
from doseflow.live.clocks import SimulatedClock
from doseflow.live.replay import replay
from doseflow.planning import plan_snapshot
from doseflow.policy.site_values import SiteValues
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.scenario import Scenario, Window

EXAMPLE = Path(__file__).parents[2] / "examples" / "morning.json"


def learned(folder: Path) -> Settings:
    return Settings(forecaster="learned", bundles={"forecaster": str(folder)})


@pytest.fixture
def settings(tmp_path):
    return learned(arrival_bundle(tmp_path / "net"))


def test_a_snapshot_is_planned_with_the_forecast_of_the_net(settings):
    cycle = plan_snapshot(EXAMPLE.read_bytes(), settings).cycle
    forecast, num_sites = cycle.forecast, cycle.state.city.num_sites
    assert (forecast.forecaster, forecast.why_this_forecaster) == ("learned", "")
    inputs = net_inputs(cycle.state, settings.forecast.bookings)
    expected = inputs["candidates"][0, :num_sites].max(axis=-1)[..., None] * SPREAD
    is_told = forecast.basis == ForecastBasis.NETWORK
    assert is_told.any()
    np.testing.assert_allclose(forecast.arrivals_people[is_told], expected[is_told], rtol=1e-5)
    assert np.isnan(forecast.arrivals_people[~is_told]).any(axis=(1, 2)).all()


@pytest.mark.parametrize("name", ["learned", "bookings_first", "seasonal_naive", "last_value"])
def test_the_settings_choose_the_forecaster(settings, name):
    chosen = settings.model_copy(update={"forecaster": name})
    assert make_planner(chosen).forecaster.name == name


def test_an_unknown_forecaster_is_refused_with_the_known_ones():
    with pytest.raises(SettingsWrong, match=r"forecaster: must be one of learned, .*, got 'oracle'"):
        make_planner(Settings(forecaster="oracle"))


def test_a_process_opens_a_bundle_once(settings):
    first = open_forecaster(settings)
    for path in Path(settings.bundles.forecaster).iterdir():
        path.unlink()
    assert open_forecaster(settings) is first


def test_a_bundle_that_is_missing_or_for_other_inputs_is_refused_when_it_is_chosen(tmp_path):
    with pytest.raises(ModelWrong, match="cannot be read"):
        make_planner(learned(tmp_path / "nothing"))
    with pytest.raises(ModelWrong, match="feature_schema_version"):
        make_planner(learned(arrival_bundle(tmp_path / "old", feature_schema_version=1)))


def looked_at(settings, folder):
    (finding,) = (one for one in examine(0, folder, settings) if one.what == "arrival net")
    return finding


def test_the_doctor_says_that_the_net_answers_as_it_should(settings, tmp_path):
    finding = looked_at(settings, tmp_path)
    assert finding.is_good
    assert finding.found.startswith("toy_arrivals, onnx_cpu in fp32, golden answers within ")


@pytest.mark.parametrize("forecaster", ["learned", "bookings_first"])
def test_the_doctor_says_what_is_wrong_with_a_net_and_whether_it_matters(tmp_path, forecaster):
    folder = arrival_bundle(tmp_path / "broken")
    data = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(data[:-1] + b"\x00")
    finding = looked_at(learned(folder).model_copy(update={"forecaster": forecaster}), tmp_path)
    assert not finding.is_good
    assert "model.onnx: its SHA-256 must be" in finding.advice
    assert finding.is_optional == (forecaster != "learned")


@pytest.mark.parametrize(
    ("name", "policy", "forecaster"),
    [
        ("mpc12@seasonal_naive", "mpc12", "seasonal_naive"),
        ("mpc12@learned", "mpc12", "learned"),
        ("rules@last_value", "rules", "last_value"),
        ("rules", "rules", "learned"),
    ],
)
def test_a_planner_is_named_with_its_forecaster(settings, name, policy, forecaster):
    check_planners([name], settings)
    planner = planner_of(name, settings, None)
    assert (planner.policy.name, planner.forecaster.name) == (policy, forecaster)


@pytest.mark.parametrize("name", ["mpc12@oracle", "mpc12@", "@learned", "mpc12_perfect@learned", "mpc12@learned@x"])
def test_a_name_without_such_a_planner_or_forecaster_is_refused(settings, name):
    with pytest.raises(SettingsWrong, match=f"a forecaster as in mpc12@seasonal_naive, got '{name}'"):
        check_planners([name], settings)


def test_another_net_makes_other_rows(settings, tmp_path):
    other = learned(arrival_bundle(tmp_path / "other", name="other_net"))
    assert code_digest(other) != code_digest(settings)
    assert code_digest(learned(arrival_bundle(tmp_path / "same"))) == code_digest(settings)
    assert code_digest(settings.model_copy(update={"forecaster": "last_value"})) != code_digest(settings)


SHORT = Scenario(
    name="short",
    family="short",
    text="The first half hour of a small city.",
    city="synthetic:6",
    days=("monday",),
    offered_load_share=0.9,
    window=Window(starts_at=time(7, 30), ends_at=time(8)),
)


def test_a_day_is_played_with_the_net_and_its_failures_are_counted(settings, tmp_path):
    row = play(Run("rules@learned", SHORT, 1), settings, "code")
    assert row.get("failed") is None
    assert row["measures"]["fallbacks"] == 0
    too_small = learned(arrival_bundle(tmp_path / "small", max_sites=5))
    row = play(Run("rules@learned", SHORT, 1), too_small, "code")
    assert row["planner"] == "rules@learned"
    assert row["measures"]["fallbacks"] == row["cycles"] > 0


@contextlib.contextmanager
def living_city(settings, folder):
    """A small simulated city and its living system, one cycle done."""
    store, patient = StoreSettings(url=f"sqlite:///{folder / 'city.sqlite'}"), BreakerParams(deadline_milliseconds=5000)
    engines = replace(settings.engines, deadline_milliseconds=60_000)
    settings = settings.model_copy(update={"store": store, "breaker": patient, "engines": engines})
    city = SimulatedCity.from_name("synthetic:6", seed=3)
    city.advance(60)
    clock = SimulatedClock(city.now)
    with contextlib.closing(open_city(settings, clock=clock, city=city.city)) as opened:
        for _ in range(3):
            city.advance(5)
            clock.set(city.now)
            opened.live.submit(b"[" + b",".join(city.reports()) + b"]")
            opened.live.run_cycle()
        yield opened


def counted(opened):
    """What the metrics say of the forecasts."""
    value = opened.live.metrics.registry.get_sample_value
    return {
        "learned": value("doseflow_forecasts_total", {"forecaster": "learned"}),
        "bookings_first": value("doseflow_forecasts_total", {"forecaster": "bookings_first"}),
        "fallbacks": value("doseflow_forecast_fallbacks_total"),
    }


def planner_fallbacks(opened):
    """What the metrics say of cycles that another planner had to plan."""
    return opened.live.metrics.registry.get_sample_value("doseflow_planner_fallbacks_total")


@pytest.mark.parametrize(("fails", "answered_by", "counted"), [(False, "learned", 0), (True, "rules", 3)])
def test_a_cycle_that_the_rules_had_to_plan_is_counted(fails, answered_by, counted, tmp_path, monkeypatch):
    if fails:
        monkeypatch.setattr(SiteValues, "_ask", lambda *_: (_ for _ in ()).throw(EngineFailed("out of memory")))
    with living_city(Settings(planner="learned"), tmp_path) as opened:
        assert opened.live.latest.plan.planner == answered_by
        assert planner_fallbacks(opened) == counted


def test_a_living_city_forecasts_with_the_net_and_a_replay_gives_the_same_plan(settings, tmp_path):
    with living_city(settings, tmp_path) as opened, capture_logs() as logs:
        latest = opened.live.latest
        assert latest.forecast.forecaster == "learned"
        assert np.isfinite(latest.state.recent.arrivals_people[:, -3:]).any()
        assert replay(opened.store.plans, latest.cycle_id, make_planner(settings), opened.live.clock).is_same
        assert counted(opened) == {"learned": 3, "bookings_first": None, "fallbacks": 0}
    assert not [one for one in logs if one["event"] == "another_forecaster_answered"]


def test_a_city_that_the_net_cannot_forecast_is_planned_all_the_same_and_it_is_said(tmp_path):
    settings = learned(arrival_bundle(tmp_path / "small", max_sites=5))
    with capture_logs() as logs, living_city(settings, tmp_path) as opened:
        latest = opened.live.latest
        assert latest.forecast.forecaster == "bookings_first"
        assert opened.store.plans.latest_cycle()["forecaster"] == "bookings_first"
        assert counted(opened) == {"learned": None, "bookings_first": 3, "fallbacks": 3}
    said = [one for one in logs if one["event"] == "another_forecaster_answered"]
    assert len(said) == 3
    assert "sites must be at most 5, got 6" in said[-1]["why"]
