import json

import pytest
from typer.testing import CliRunner

from doseflow.cli import app
from doseflow.errors import InputWrong


def test_two_peers_on_a_packaged_set_give_a_table_and_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("DOSEFLOW_DATA", str(tmp_path))
    path = tmp_path / "out.json"
    options = ["--series", "czech_doses", "--model", "seasonal_naive", "--model", "historical_average", "--quick"]
    shown = CliRunner().invoke(app, ["bench", "forecast", *options, "--json", str(path)])
    assert shown.exit_code == 0, shown.output
    assert "czech_doses: 174 series, 14 steps of 1440 minutes, 6 origins; packaged" in shown.output
    figures = json.loads(path.read_text())["figures"]
    loss = [figure for figure in figures if figure["name"] == "weighted_quantile_loss"]
    assert {(f["params"]["model"], f["params"]["horizon_steps"]) for f in loss} == {
        (model, steps) for model in ("seasonal_naive", "historical_average") for steps in (7, 14)
    }
    assert all(0 < f["value"] < 1 and f["seed"] == 1 and f["params"]["part"] == "held-out" for f in loss)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--series", "czech_doses", "--series", "tides"], "--series: must be one of"),
        (["--model", "oracle"], "--model: must be one of"),
        (["--part", "future"], "--part: must be one of"),
        (["--data", "nowhere"], "--data: nowhere is no folder"),
    ],
)
def test_a_name_that_is_none_is_refused_before_anything_is_played(options, says):
    refused = CliRunner().invoke(app, ["bench", "forecast", *options])
    assert isinstance(refused.exception, InputWrong)
    assert says in str(refused.exception)
