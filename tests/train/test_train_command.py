"""`doseflow train forecaster`, end to end: days, net, bundle, and a city that is forecast with it."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from rich.console import Console
from train_samples import TINY, small_scenario
from typer.testing import CliRunner

from doseflow.bootstrap import make_planner
from doseflow.cli import app
from doseflow.domain.forecast import MEDIAN_IDX, ForecastBasis
from doseflow.errors import ModelWrong, TrainingWrong
from doseflow.export import exported_net
from doseflow.forecast.net_inputs import BUCKETS, NET_INPUTS_VERSION
from doseflow.networks.arrival_net import ArrivalNet
from doseflow.serve.bundle import open_bundle
from doseflow.settings import Settings
from doseflow.train import command, forecaster_bundle
from doseflow.train.city_days import live_day
from doseflow.train.command import TrainChoice, print_metrics, train_and_bundle
from doseflow.train.forecaster import QUICK, ForecasterParams, Trained, train_forecaster
from doseflow.train.forecaster_bundle import command_of, write_forecaster_bundle


@pytest.fixture
def quiet():
    return Console(quiet=True)


@pytest.fixture
def tiny_run(in_small_cities, monkeypatch):
    """A quick run is a tiny one, in small cities."""
    tiny = replace(TINY, width=QUICK.width)
    monkeypatch.setattr(command, "QUICK", tiny)
    return tiny


def test_a_run_writes_a_bundle_that_forecasts_a_city(tiny_run, tmp_path, quiet, monkeypatch):
    # Golden inputs are three looks of a day, which here has an hour.
    golden = forecaster_bundle.training_day
    monkeypatch.setattr(forecaster_bundle, "training_day", lambda order: golden(replace(order, stride=4)))
    out = tmp_path / "out"
    choice = TrainChoice(out=out, is_quick=True, workers=1, days_file=tmp_path / "days.pickle")
    trained = train_and_bundle(choice, quiet)

    bundle = open_bundle(out / "bundle", feature_schema_version=NET_INPUTS_VERSION)
    manifest = bundle.manifest
    assert manifest.origin.seed == 1
    assert manifest.origin.command.startswith("doseflow train forecaster --out FOLDER --quick --seed 1 --days 2 ")
    assert manifest.data.num_days == 2
    assert manifest.max_sites == BUCKETS[-1]
    assert 0 <= manifest.metrics["onnx_largest_difference"] <= 1e-4
    assert manifest.metrics == trained.metrics | {
        "onnx_largest_difference": manifest.metrics["onnx_largest_difference"]
    }
    written = json.loads((out / "metrics.json").read_text())
    assert written["metrics"] == trained.metrics
    assert ForecasterParams(**written["params"]) == tiny_run
    assert [point["step"] for point in json.loads((out / "curve.json").read_text())] == [2, 4, 6]
    print_metrics(trained.metrics, quiet)

    planner = make_planner(Settings(forecaster="learned", bundles={"forecaster": str(out / "bundle")}))
    states = []
    live_day(small_scenario(9, hours=(9, 10)), 9, states.append)
    forecast = planner.forecaster(states[-1])
    assert (forecast.forecaster, forecast.why_this_forecaster) == ("learned", "")
    assert (forecast.basis == ForecastBasis.NETWORK).all()
    assert np.isfinite(forecast.arrivals_people).all()
    assert forecast.arrivals_people[..., MEDIAN_IDX].sum() > 20

    # The same command takes no more steps, and judges the same.
    said = {}
    again = train_forecaster(tiny_run, out, "cpu", lambda what, done, total: said.update({what: (done, total)}), 1)
    assert again.metrics == trained.metrics
    assert said == {"days to judge by": (1, 1), "days to judge by_missing30": (1, 1)}


def test_a_net_that_was_exported_wrongly_is_no_bundle(in_small_cities, tmp_path, monkeypatch):
    golden = forecaster_bundle.training_day
    monkeypatch.setattr(forecaster_bundle, "training_day", lambda order: golden(replace(order, stride=4)))
    right = exported_net.lean_net
    monkeypatch.setattr(exported_net, "lean_net", lambda net: right(ArrivalNet(net.shape).eval()))
    net = ArrivalNet(TINY.shape()).eval()
    with pytest.raises(ModelWrong, match=r"model.onnx: must be within 0.0001 of the net, got \d"):
        write_forecaster_bundle(Trained(net, TINY, [], {}), tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize(
    ("params", "options"),
    [
        (ForecasterParams(), "--device cuda --seed 1"),
        (replace(ForecasterParams(), seed=7, encoder="lstm"), "--device cuda --seed 7 --encoder lstm"),
        (replace(QUICK, num_days=3, attention_layers=0), "--quick --seed 1 --days 3 --attention-layers 0"),
    ],
)
def test_the_command_of_a_manifest_makes_the_same_parameters(params, options, tmp_path, monkeypatch):
    made = command_of(params)
    assert made == f"doseflow train forecaster --out FOLDER {options}"
    asked = []
    monkeypatch.setattr(command, "train_and_bundle", lambda choice, _console: asked.append(choice.params()) or 1 / 0)
    CliRunner().invoke(app, made.replace("FOLDER", str(tmp_path)).split()[1:])
    assert asked == [params]


def refused(*options):
    with pytest.raises(TrainingWrong) as caught:
        CliRunner().invoke(app, ["train", "forecaster", "--workers", "1", *options], catch_exceptions=False)
    return str(caught.value)


def test_options_that_cannot_be_are_refused_before_any_work(tmp_path, no_days):
    out = str(tmp_path / "out")
    assert refused("--out", out, "--encoder", "gru") == "encoder: must be one of convolution, lstm, got 'gru'"
    assert refused("--out", out, "--device", "tpu") == "--device: must be cpu or cuda, got 'tpu'"
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("mine")
    assert refused("--out", str(tmp_path / "file")).startswith("--out: ")
    assert refused("--out", out, "--days-file", str(tmp_path / "file" / "days")).startswith("--days-file: ")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("options", [["--steps", "0"], ["--days", "x"], ["--attention-layers", "9"], []])
def test_numbers_out_of_their_range_are_refused_by_option(options, tmp_path):
    out = ["--out", str(tmp_path)] if options else []
    done = CliRunner().invoke(app, ["train", "forecaster", *out, *options])
    assert done.exit_code == 2
    words = re.sub(r"\x1b\[[0-9;]*m", "", done.output)
    assert (options or ["--out"])[0] in words


def test_a_user_who_asks_for_what_cannot_be_gets_one_sentence(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "doseflow", "train", "forecaster", "--out", "net", "--encoder", "gru"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.strip() == "encoder: must be one of convolution, lstm, got 'gru'"
    assert not (tmp_path / "net").exists()
