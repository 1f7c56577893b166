"""Training of the site values: days, runs that end the same whether or not they were stopped, and the whole command."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from rich.console import Console
from train_samples import silent, small_scenario
from typer.testing import CliRunner

from doseflow.bootstrap import open_policy
from doseflow.cli import app
from doseflow.errors import TrainingWrong
from doseflow.planning import plan_snapshot
from doseflow.policy.site_values import NUM_VALUES
from doseflow.policy.site_view import NUM_VIEW_FEATURES
from doseflow.settings import Settings
from doseflow.train import policy_bundle, policy_command, site_days
from doseflow.train.policy import QUICK, PolicyParams, PolicyRun, cut, halves_of, scores, train_policy
from doseflow.train.policy_bundle import command_of
from doseflow.train.policy_command import PolicyChoice, print_policy_metrics, train_policy_and_bundle
from doseflow.train.site_days import ViewOrder, rows_of_day

TINY = PolicyParams(
    num_days=1,
    stride=6,
    num_passes=2,
    num_steps=6,
    rows_per_step=16,
    sites_per_life=8,
    checkpoint_steps=2,
    width=16,
    num_layers=1,
    num_validation_days=1,
    validation_stride=12,
    num_validation_passes=2,
)


@pytest.fixture(autouse=True)
def in_small_cities(monkeypatch):
    """Days of orders are lived in cities of six sites, and looked at for an hour."""
    monkeypatch.setattr(site_days, "training_scenario", lambda seed: small_scenario(seed, hours=(9, 10)))


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_days, "training_scenario", lambda seed: small_scenario(seed, hours=(9, 10)))
        return rows_of_day(ViewOrder(3, stride=6, copies=1))


def weights_of(run):
    return torch.cat([one.detach().flatten() for net in (run.net, run.average) for one in net.parameters()])


# --- the days --------------------------------------------------------------------------------------------------------


def test_rows_are_sites_as_they_are_and_changed(rows):
    assert len(rows["scale"]) == 2 * 2 * 6
    assert rows["features"].shape == (24, NUM_VIEW_FEATURES)
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in rows.values())
    assert (np.abs(rows["features"]) < 20).all()
    people = rows["people"].reshape(2, 2, 6, -1)
    assert (people[:, 0] != people[:, 1]).any(axis=-1).mean() > 0.5
    assert (rows["queue_people"] == np.round(rows["queue_people"])).all()


def test_rows_to_judge_by_are_unchanged_and_have_what_the_fluid_queue_says():
    rows = rows_of_day(ViewOrder(3, stride=6, copies=2, with_fluid=True))
    assert rows["fluid"].shape == (12, 20)
    assert (rows["fluid"][:, :16] <= 1e-3).all()
    assert (rows["fluid"][:, 16:] >= -1e-3).all()
    assert (rows["fluid"] != 0).any()


# --- the run ---------------------------------------------------------------------------------------------------------


class Killed(PolicyRun):
    """A run that is stopped after so many passes or in its fifth step."""

    passes_before = 9

    def _keep_whole(self, name, state):
        super()._keep_whole(name, state)
        if name == "labels.pt" and self.passes == self.passes_before:
            raise KeyboardInterrupt

    def _take_step(self, features, labels):
        if self.step == 4:
            raise KeyboardInterrupt
        return super()._take_step(features, labels)


@pytest.mark.parametrize("passes_before", [1, 9])
def test_a_run_that_was_killed_ends_as_one_that_was_not(rows, tmp_path, passes_before):
    some = {name: array[:10] for name, array in rows.items()}
    (tmp_path / "killed").mkdir()
    through = PolicyRun(TINY, tmp_path, "cpu")
    through.train(some, silent)
    killed = Killed(TINY, tmp_path / "killed", "cpu")
    killed.passes_before = passes_before
    with pytest.raises(KeyboardInterrupt):
        killed.train(some, silent)
    torch.manual_seed(12345)
    resumed = PolicyRun(TINY, tmp_path / "killed", "cpu")
    assert (resumed.passes, resumed.step) == ((1, 0) if passes_before == 1 else (2, 4))
    resumed.train(some, silent)
    assert torch.equal(resumed.label_sum, through.label_sum)
    assert torch.equal(weights_of(resumed), weights_of(through))
    losses = [[(point["step"], point["loss"]) for point in run.curve] for run in (resumed, through)]
    assert losses[0] == losses[1]


def test_steps_make_the_loss_smaller(rows, tmp_path):
    params = replace(TINY, num_passes=1, num_steps=200, checkpoint_steps=50, rows_per_step=24, learning_rate=2e-2)
    run = PolicyRun(params, tmp_path, "cpu")
    run.train(rows, silent)
    assert run.curve[-1]["loss"] < 0.7 * run.curve[0]["loss"]


@pytest.mark.parametrize("name", ["checkpoint.pt", "labels.pt"])
def test_a_checkpoint_of_other_parameters_or_of_none_is_refused(rows, tmp_path, name):
    some = {key: array[:6] for key, array in rows.items()}
    PolicyRun(TINY, tmp_path, "cpu").train(some, silent)
    for other in ("checkpoint.pt", "labels.pt"):
        if other != name:
            (tmp_path / other).unlink()
    with pytest.raises(TrainingWrong, match=f"{name} was made with other parameters"):
        train_policy(replace(TINY, seed=2), tmp_path, "cpu", silent, 1)
    for broken in (b"no checkpoint", b"broken\n", b"x", b"", b"\x80\x02}q\x00."):
        (tmp_path / name).write_bytes(broken)
        with pytest.raises(TrainingWrong, match=f"{name} cannot be read as a checkpoint; remove it"):
            train_policy(TINY, tmp_path, "cpu", silent, 1)


def test_a_checkpoint_with_its_parameters_alone_is_refused(tmp_path):
    torch.save({"params": asdict(TINY)}, tmp_path / "checkpoint.pt")
    with pytest.raises(TrainingWrong, match=r"checkpoint.pt cannot be read as a checkpoint; remove it"):
        train_policy(TINY, tmp_path, "cpu", silent, 1)


def test_a_file_where_the_bundle_would_be_is_refused_before_any_work(tmp_path):
    (tmp_path / "bundle").write_text("mine")
    with pytest.raises(TrainingWrong, match=r"bundle is a file"):
        train_policy(TINY, tmp_path, "cpu", silent, 1)
    assert [one.name for one in tmp_path.iterdir()] == ["bundle"]


def test_seconds_of_a_curve_go_on_after_a_stop(rows, tmp_path):
    some = {key: array[:6] for key, array in rows.items()}
    run = PolicyRun(TINY, tmp_path, "cpu")
    run.train(some, silent)
    run.curve[-1]["seconds"], run.step = 500.0, 4
    run.train(some, silent)
    assert run.curve[-1]["seconds"] >= 500


def test_labels_are_cut_at_their_quantile():
    labels = torch.cat([torch.linspace(-1, 1, 999), torch.tensor([50.0])])[:, None]
    got = cut(labels, 0.999)
    assert got.abs().max() < 2
    assert torch.equal(got[:-1], labels[:-1])


# --- the judgement ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_the_unexplained_share_is_free_of_chance(chance):
    generator = torch.Generator().manual_seed(1)

    def drawn(scale):
        return scale * torch.randn(20_000, NUM_VALUES, generator=generator)

    truth = drawn(1.0)
    halves = torch.stack([truth + drawn(chance), truth + drawn(chance)])
    metrics = scores(truth + drawn(0.3), torch.zeros(20_000, 20), halves)
    assert metrics["unexplained_share"] == pytest.approx(0.09, abs=0.01)
    assert metrics["unexplained_share_people"] == pytest.approx(0.09, abs=0.01)
    assert metrics["fluid_unexplained_share_people"] == pytest.approx(1.0, abs=0.02)
    assert len(metrics) == NUM_VALUES + 20 + 3


def test_a_value_that_chance_hides_is_not_judged():
    halves = torch.randn(2, 5000, NUM_VALUES, generator=torch.Generator().manual_seed(1))
    halves[:, :, 3] += 9 * torch.linspace(-1, 1, 5000)
    metrics = scores(torch.zeros(5000, NUM_VALUES), torch.zeros(5000, 20), halves)
    (name,) = (key for key in metrics if key.startswith("unexplained_share_gain"))
    assert name == "unexplained_share_gain_observer_0"
    assert metrics["unexplained_share"] == metrics[name] == pytest.approx(1.0, abs=0.05)
    assert scores(halves[0] * 0, halves[0, :, :20] * 0, halves * 0)["unexplained_share"] == 1.0


@pytest.mark.parametrize("num_passes", [2, 5, 16])
def test_the_halves_are_all_passes_once(num_passes):
    first, second = halves_of(num_passes)
    assert [*first, *second] == list(range(num_passes))
    assert abs(len(first) - len(second)) <= 1


# --- the command -----------------------------------------------------------------------------------------------------


def test_a_run_writes_a_bundle_that_plans_a_city(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_command, "QUICK", replace(TINY, width=QUICK.width))
    monkeypatch.setattr(policy_bundle, "GOLDEN_ORDER", ViewOrder(900_001, stride=4, copies=1))
    quiet, out = Console(quiet=True), tmp_path / "out"
    trained = train_policy_and_bundle(PolicyChoice(out, is_quick=True, workers=1), quiet)
    print_policy_metrics(trained.metrics, quiet)
    assert [point["step"] for point in json.loads((out / "curve.json").read_text())] == [2, 4, 6]
    assert json.loads((out / "metrics.json").read_text())["metrics"] == trained.metrics

    settings = Settings(planner="learned", bundles={"policy": str(out / "bundle")})
    manifest = open_policy(settings).bundle.manifest
    assert manifest.metrics.keys() == trained.metrics.keys() | {"onnx_largest_difference"}
    assert manifest.origin.command.startswith("doseflow train policy --out FOLDER --quick --seed 1 --days 1 ")
    example = Path(__file__).parents[2] / "examples" / "morning.json"
    plan = plan_snapshot(example.read_bytes(), settings).cycle.plan
    assert (plan.planner, plan.why_this_planner) == ("learned", "")

    # The same command takes no more steps, and judges the same.
    said = set()
    again = train_policy(trained.params, out, "cpu", lambda what, _done, _total: said.add(what), 1)
    assert again.metrics == trained.metrics
    assert said == {"days to judge by", "passes to judge by"}


@pytest.mark.parametrize(
    ("params", "options"),
    [
        (PolicyParams(), "--device cuda --seed 1"),
        (replace(PolicyParams(), seed=7, num_passes=9), "--device cuda --seed 7 --passes 9"),
        (replace(QUICK, num_days=3, num_steps=40), "--quick --seed 1 --days 3 --steps 40"),
        (replace(QUICK, teacher="programme"), "--by imitation --quick --seed 1"),
    ],
)
def test_the_command_of_a_manifest_makes_the_same_parameters(params, options, tmp_path, monkeypatch):
    made = command_of(params)
    assert made == f"doseflow train policy --out FOLDER {options}"
    asked = []
    monkeypatch.setattr(
        policy_command, "train_policy_and_bundle", lambda choice, _console: asked.append(choice.params()) or 1 / 0
    )
    CliRunner().invoke(app, made.replace("FOLDER", str(tmp_path)).split()[1:])
    assert asked == [params]


def test_what_cannot_be_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("doseflow.train.policy.made_rows", lambda *_: pytest.fail("a day was lived"))
    with pytest.raises(TrainingWrong, match="--device: must be cpu or cuda, got 'tpu'"):
        train_policy(TINY, tmp_path / "out", "tpu", silent)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TrainingWrong, match="--out: "):
        train_policy(TINY, tmp_path / "file", "cpu", silent)
    with pytest.raises(ValueError, match=r"num_passes: must lie in 1..1000, got 0"):
        replace(TINY, num_passes=0)
    with pytest.raises(TrainingWrong, match=r"num_days: must lie in 1..100000, got 0"):
        PolicyChoice(tmp_path, num_days=0).params()


def test_an_imitation_learns_what_the_programme_says_and_lives_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("doseflow.train.policy.SiteLives.once", lambda *_: pytest.fail("a site was lived"))
    rows = rows_of_day(ViewOrder(3, stride=6, copies=1, teacher="programme"))
    assert rows["labels"].shape == (len(rows["scale"]), NUM_VALUES)
    run = PolicyRun(replace(TINY, teacher="programme", num_steps=400, width=64), tmp_path, "cpu")
    run.train(rows, silent)
    with torch.no_grad():
        said = run.net(torch.as_tensor(rows["features"])).numpy()
    assert np.square(said - rows["labels"]).mean() < 0.5 * rows["labels"].var()


def test_changed_sites_are_valued_by_the_programme_as_they_then_are():
    rows = rows_of_day(ViewOrder(3, stride=6, copies=1, teacher="programme"))
    labels, people = (rows[name].reshape(2, 2, 6, -1) for name in ("labels", "people"))
    assert (labels[:, 0] != labels[:, 1]).any(axis=-1)[(people[:, 0] != people[:, 1]).any(axis=-1)].mean() > 0.5


def test_a_way_that_nobody_knows_is_refused(tmp_path):
    result = CliRunner().invoke(app, ["train", "policy", "--by", "magic", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2 or isinstance(result.exception, TrainingWrong)
