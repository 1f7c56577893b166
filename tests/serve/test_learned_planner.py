"""The learned forecaster from its bundle to a plan: chosen by settings, opened once, looked at by the doctor."""

from datetime import time
from pathlib import Path

import numpy as np
import pytest
from serve_samples import SPREAD, arrival_bundle

from doseflow.bootstrap import make_planner, open_forecaster
from doseflow.doctor import examine
from doseflow.domain.forecast import ForecastBasis
from doseflow.errors import ModelWrong, SettingsWrong
from doseflow.evaluate.code_digest import code_digest
from doseflow.evaluate.planners import check_planners, planner_of
from doseflow.evaluate.run import Run, play
from doseflow.forecast.net_inputs import net_inputs
from doseflow.planning import plan_snapshot
from doseflow.settings import Settings
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
    assert finding.found.startswith("toy_arrivals, golden answers within ")


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
