"""The benchmark of the nets: who takes turns, what may be called a gain, and what is said where a form cannot run."""

import hashlib
from multiprocessing import Pipe

import numpy as np
import orjson
import pytest

pytest.importorskip("torch")

from typer.testing import CliRunner

from doseflow.bench.inference import run
from doseflow.bench.inference.forms import CITY, Form, forms_on
from doseflow.bench.inference.inference_figures import gain_figures, graph_figures, latency_figures
from doseflow.bench.inference.inputs import free_sizes, inputs_of_cities, outputs_for
from doseflow.bench.inference.onnx_runs import BoundRun, PlainRun, session_of
from doseflow.bench.inference.rounds import FormSamples, take_turns
from doseflow.bench.inference.speedups import speedups_on_processor
from doseflow.bench.inference.worker import Failed, WorkerOrder, work
from doseflow.cli import app
from doseflow.errors import EnvironmentUnfit, InputWrong
from doseflow.export.graph_cleaning import GraphReport
from doseflow.serve.bundle import open_bundle
from doseflow.serve.opened_model import PACKAGED_BUNDLES

FOLDERS = {net: PACKAGED_BUNDLES / net for net in ("forecaster", "policy")}


@pytest.fixture(scope="module")
def bundles():
    return {net: open_bundle(folder) for net, folder in FOLDERS.items()}


def samples(engine, precision, milliseconds, device="cpu"):
    """A form that took so long for both nets, by batch."""
    return FormSamples(
        Form(engine, precision, device),
        {(net, batch): [taken] * 5 for batch, taken in milliseconds.items() for net in ("forecaster", "policy", CITY)},
    )


def test_forms_take_turns_and_one_that_cannot_run_ends_nobody(bundles):
    raws = {net: bundle.model for net, bundle in bundles.items()}
    forms = [Form("onnx_raw", "fp32", "cpu"), Form("onnx", "fp32", "cpu"), Form("onnx", "fp32", "cuda")]
    orders = [WorkerOrder(form, FOLDERS, raws, (1, 2), 1) for form in forms]
    rounds = []
    raw, shipped, nowhere = take_turns(orders, 2, lambda: rounds.append(1))
    assert len(rounds) == 2
    for one in (raw, shipped):
        assert one.failed is None
        assert {case: len(taken) for case, taken in one.milliseconds.items()} == {
            (net, batch): 2 * {1: 5, 2: 1}[batch] for net in ("forecaster", "policy", CITY) for batch in (1, 2)
        }
        assert all(taken > 0 for all_taken in one.milliseconds.values() for taken in all_taken)
        assert one.peak_bytes > 20 * 2**20
    assert nowhere.failed is not None
    assert not nowhere.milliseconds


def test_inputs_are_whole_cities_and_sizes_of_outputs_follow(bundles):
    cities = inputs_of_cities(bundles["forecaster"], 8, seed=1)
    assert cities["recent"].shape == (8, 208, 24, 6)
    assert cities["neighbour_idx"].shape == (8, 208, 8)
    assert 0 <= cities["neighbour_idx"].min() <= cities["neighbour_idx"].max() < 208
    assert free_sizes(bundles["forecaster"], cities) == {"B": 8, "S": 208}
    assert {name: one.shape for name, one in outputs_for(bundles["forecaster"], cities).items()} == {
        "arrivals_people": (8, 208, 24, 5),
        "doses_rest_of_day": (8, 208, 5),
    }
    rows = inputs_of_cities(bundles["policy"], 8, seed=1)
    assert rows["features"].shape == (1600, 207)
    assert outputs_for(bundles["policy"], rows)["values"].shape == (1600, 28)


def test_a_gain_is_cities_a_second_over_those_of_the_eager_net_one_by_one(bundles):
    manifests = {net: bundle.manifest for net, bundle in bundles.items()}
    eager = samples("torch_eager", "fp32", {1: 20.0, 8: 100.0})
    ours = samples("onnx", "fp32", {1: 8.0, 8: 32.0})
    figures = gain_figures([eager, samples("onnx_raw", "fp32", {1: 1.0, 8: 1.0}), ours], manifests)
    (judged,) = [one for one in figures if one.name == "speedup_over_eager" and one.target is not None]
    # 8 cities in 32 ms are 250 a second; one by one the eager net answers 50.
    assert judged.value == pytest.approx(5.0)
    assert (judged.params["batch"], judged.params["eager_batch"], judged.met) == (8, 1, True)
    alone = next(one for one in figures if one.params["model"] == CITY and one.params["batch"] == 1)
    assert alone.value == pytest.approx(2.5)
    (gain,) = [one for one in figures if one.name == "batching_gain"]
    assert gain.value == pytest.approx(2.0)
    assert gain.target is None


def test_without_one_city_alone_the_figures_that_need_it_are_left_out(bundles):
    manifests = {net: bundle.manifest for net, bundle in bundles.items()}
    figures = gain_figures([samples("torch_eager", "fp32", {8: 100.0}), samples("onnx", "fp32", {8: 50.0})], manifests)
    assert [(one.name, one.params["batch"], one.value, one.target) for one in figures] == [
        ("speedup_over_eager", 8, pytest.approx(2.0), None)
    ] * 3


def test_without_a_card_none_is_measured_and_the_reason_is_the_drivers(monkeypatch):
    monkeypatch.setattr(run, "why_no_device", lambda: "the NVIDIA driver finds no card; look at `nvidia-smi`")
    monkeypatch.setattr(run, "take_turns", None)
    with pytest.raises(EnvironmentUnfit, match=r"--device cuda: the NVIDIA driver finds no card"):
        run.measure_inference(run.InferenceTrial("cuda"), print)


def test_the_file_of_figures_names_the_files_that_were_timed_and_the_forms_that_were_not(
    bundles, monkeypatch, tmp_path
):
    def turns(orders, num_rounds, advance):
        timed = [samples(order.form.engine, order.form.precision, {1: 2.0}) for order in orders]
        timed[-1].failed = "no kernel"
        return timed

    monkeypatch.setattr(run, "take_turns", turns)
    path = tmp_path / "figures.json"
    done = CliRunner().invoke(app, ["bench", "inference", "--batch", "1", "--json", str(path)])
    assert done.exit_code == 0, done.output
    document = orjson.loads(path.read_bytes())
    for net, bundle in bundles.items():
        told = document["models"][net]
        assert told == {one: hashlib.sha256(model).hexdigest() for one, model in bundle.models.items()}
    assert document["not_run"] == {"onnx int8": "no kernel"}
    assert document["card"] is None
    assert not any(one["params"].get("precision") == "int8" for one in document["figures"] if "latency" in one["name"])


def test_int8_earns_no_gain_since_what_ranks_people_must_be_finer(bundles):
    manifests = {net: bundle.manifest for net, bundle in bundles.items()}
    eager = samples("torch_eager", "fp32", {1: 20.0})
    figures = gain_figures([eager, samples("onnx", "fp32", {1: 10.0}), samples("onnx", "int8", {1: 1.0})], manifests)
    assert {one.params["precision"] for one in figures} == {"fp32"}


def test_a_city_is_held_to_ten_milliseconds_on_the_processor_and_one_batch_alone_is_judged():
    figures = latency_figures(samples("onnx", "fp32", {1: 12.0, 8: 5.0}), is_judged=True)
    (judged,) = [one for one in figures if one.target is not None]
    assert (judged.name, judged.params["model"], judged.params["batch"]) == ("latency_p50_milliseconds", CITY, 1)
    assert (judged.target, judged.met) == (10.0, False)
    rates = {one.params["batch"]: one.value for one in figures if one.name == "requests_per_second"}
    assert rates == {1: pytest.approx(1000 / 12), 8: pytest.approx(1600)}
    assert not any(one.target for one in latency_figures(samples("onnx", "fp32", {1: 1.0}), is_judged=False))


def test_the_share_of_operations_is_of_the_raw_export(bundles):
    report = GraphReport(raw_nodes=100, shipped_nodes=80, run_nodes=61, fused={})
    share = graph_figures("policy", report, bundles["policy"].manifest)[0]
    assert (share.name, share.value, share.target, share.met) == (
        "node_reduction_share",
        pytest.approx(0.39),
        0.4,
        False,
    )


def test_bound_inputs_and_outputs_of_a_fixed_size_give_the_answers_of_plain_ones(bundles):
    bundle = bundles["forecaster"]
    first, second = (inputs_of_cities(bundle, 2, seed, num_sites=30) for seed in (1, 2))
    plain = PlainRun(session_of(bundle.model, "cpu", num_threads=1))
    fixed = session_of(bundle.model, "cpu", num_threads=1, sizes=free_sizes(bundle, first))
    bound = BoundRun(fixed, first, outputs_for(bundle, first), device="cpu")
    for inputs in (first, second, first):
        for one, other in zip(bound(inputs), plain(inputs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    with pytest.raises(Exception, match=r"(?i)dimension|shape"):
        fixed.run(None, inputs_of_cities(bundle, 3, 1, num_sites=30))


def test_a_form_that_answers_wrongly_is_not_measured(bundles):
    raws = {net: bundle.model for net, bundle in bundles.items()}
    wrong = WorkerOrder(Form("onnx_raw", "fp32", "cpu"), FOLDERS, raws | {"policy": doubled(raws["policy"])}, (1,), 1)
    ours, theirs = Pipe()
    work(wrong, theirs)
    told = ours.recv()
    assert isinstance(told, Failed)
    assert "ModelWrong: values is off by" in told.reason


def doubled(model):
    """A net that says twice as much."""
    onnx = pytest.importorskip("onnx")
    net = onnx.load_from_string(model)
    (last,) = [node for node in net.graph.node if "values" in node.output]
    last.output[0] = "half"
    net.graph.node.append(onnx.helper.make_node("Add", ["half", "half"], ["values"]))
    return net.SerializeToString()


def test_another_device_is_refused():
    with pytest.raises(InputWrong, match="--device: must be cpu or cuda, got 'tpu'"):
        forms_on("tpu")


def test_the_speed_of_the_same_file_is_about_its_own(bundles):
    bundle = bundles["policy"]
    inputs = inputs_of_cities(bundle, 1, seed=1)
    told = speedups_on_processor({"fp32": bundle.model, "fp16": bundle.model}, inputs, num_rounds=15)
    assert told["fp32"] == 1.0
    assert 0.1 < told["fp16"] < 10
    assert np.isfinite(told["fp16"])
