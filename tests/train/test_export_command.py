"""A bundle's net written anew: the same answers, every precision with what was found of it, verdicts by device."""

import numpy as np
import orjson
import pytest

pytest.importorskip("torch")

from doseflow.errors import InputWrong, ModelWrong
from doseflow.export.onnx_file import outputs_of
from doseflow.serve.bundle import golden_check, open_bundle, read_weights, write_bundle
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.serve.variant import DecisionGate
from doseflow.train.device_verdicts import write_device_verdicts
from doseflow.train.export_command import bundle_named, export_bundle
from doseflow.train.net_kinds import net_of_bundle

GATE = DecisionGate(
    num_cycles=100, identical_share=0.9, identical_plans_share=0.8, num_violations=0, num_days=3, loss_share=0.001
)


class Judged:
    """A gate that was passed."""

    gate, tensor_error, reason = GATE, 0.25, None


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The policy's bundle, exported anew with verdicts that are made up."""
    folder = tmp_path_factory.mktemp("exported")
    asked = []

    def judge(net, fine, others):
        asked.append((net, fine.name, tuple(others)))
        return {name: Judged() for name in others}

    speeds = {"fp32": 1.0, "fp16": 1.25, "int8": 2.0}
    told = export_bundle(
        bundle_named("policy"), folder, judge, lambda models: {name: speeds[name] for name in models}, 1
    )
    assert asked == [("policy", "onnx_cpu", ("fp16", "int8"))]
    return folder, told


def test_what_was_exported_answers_as_the_net_and_can_be_exported_again(exported):
    folder, told = exported
    bundle, source = open_bundle(folder), open_bundle(bundle_named("policy"))
    assert bundle.manifest == told.manifest
    for name, expected in source.golden_outputs.items():
        np.testing.assert_allclose(bundle.golden_outputs[name], expected, atol=1e-4)
    assert {name: one.tobytes() for name, one in read_weights(bundle).items()} == {
        name: one.tobytes() for name, one in read_weights(source).items()
    }
    for variant in bundle.manifest.variants:
        engine = OnnxEngine(bundle.model_of(variant.precision))
        assert golden_check(bundle, engine, variant.precision) <= variant.golden_tolerance


def test_the_manifest_says_what_was_found_of_each_precision(exported):
    manifest = open_bundle(exported[0]).manifest
    full, half, eighth = manifest.variants
    assert full.decisions is None
    assert (half.decisions, half.tensor_error, eighth.decisions) == (GATE, 0.25, GATE)
    assert (half.devices["cpu"].serves, half.devices["cpu"].speedup) == (True, 1.25)
    assert eighth.why_not_on("cpu") == "values must be fp16 or better, however fast it is."
    assert half.calibration is None
    assert eighth.calibration.num_samples >= 2
    sizes = [manifest.files[one.file].num_bytes for one in manifest.variants]
    assert sizes[1] <= 0.51 * sizes[0]
    assert sizes[2] <= 0.27 * sizes[0]


def figures_file(folder, manifest, **milliseconds):
    figures = [
        {
            "name": "latency_p50_milliseconds",
            "value": value,
            "params": {"model": "policy", "engine": engine, "precision": precision, "batch": 1, "device": "cuda"},
        }
        for precision, of_engine in milliseconds.items()
        for engine, value in of_engine.items()
    ]
    path = folder / "figures.json"
    models = {"policy": {one.precision: manifest.files[one.file].sha256 for one in manifest.variants}}
    path.write_bytes(orjson.dumps({"models": models, "card": "NVIDIA L4", "figures": figures}))
    return path


def test_figures_of_a_card_add_its_verdicts_and_leave_the_others(exported, tmp_path):
    told = figures_file(
        tmp_path,
        exported[1].manifest,
        fp32={"onnx": 0.9, "onnx_cuda_graph": 0.4, "torch_eager": 0.1},
        fp16={"onnx": 0.5, "onnx_cuda_graph": 0.2},
        int8={"onnx": 0.8},
    )
    manifest = write_device_verdicts(exported[0], tmp_path / "out", told)
    _, half, eighth = manifest.variants
    assert (half.devices["cuda"].serves, half.devices["cuda"].speedup) == (True, 2.0)
    assert (half.devices["cuda"].measured_on, half.devices["cpu"].measured_on) == ("NVIDIA L4", None)
    assert half.devices["cpu"] == exported[1].manifest.variants[1].devices["cpu"]
    assert eighth.devices["cuda"].speedup == 0.5
    assert eighth.why_not_on("cuda") == "values must be fp16 or better, however fast it is."
    assert manifest.files == open_bundle(exported[0]).manifest.files


def test_figures_without_the_net_are_refused(exported, tmp_path):
    told = figures_file(tmp_path, exported[1].manifest, fp32={"torch_eager": 1.0})
    with pytest.raises(InputWrong, match="--speeds: must have latency_p50_milliseconds of policy in fp32 on cuda"):
        write_device_verdicts(exported[0], tmp_path / "out", told)


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ({}, "does not say which files of policy were timed; run `doseflow bench inference"),
        ({"models": {"policy": {"fp32": "0" * 64}}}, r"policy in fp32 was timed with another file \(SHA-256 0000"),
    ],
)
def test_figures_of_other_files_are_refused(exported, tmp_path, models, sentence):
    path = figures_file(tmp_path, exported[1].manifest, fp32={"onnx": 1.0}, fp16={"onnx": 0.5}, int8={"onnx": 0.5})
    kept = {name: one for name, one in orjson.loads(path.read_bytes()).items() if name != "models"}
    path.write_bytes(orjson.dumps(kept | models))
    with pytest.raises(InputWrong, match=sentence):
        write_device_verdicts(exported[0], tmp_path / "out", path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}", "must have figures, as"),
        ("[1", "must be JSON"),
        ("[1]", "must have figures, as"),
        ('{"figures": [1]}', "must have figures, as"),
        ('{"figures": [{"name": "latency_p50_milliseconds", "value": 0, "params": {}}]}', "must have figures, as"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_none_of_the_benchmark_is_refused_with_a_sentence(exported, tmp_path, text, sentence):
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputWrong, match=f"--speeds: .*{sentence}"):
        write_device_verdicts(exported[0], tmp_path / "out", path)


@pytest.mark.parametrize("name", ["forecaster", "policy"])
def test_the_shipped_weights_are_those_of_the_shipped_net(name):
    bundle = open_bundle(PACKAGED_BUNDLES / name)
    said = outputs_of(net_of_bundle(bundle), bundle.golden_inputs, bundle.manifest.outputs)
    for output, expected in bundle.golden_outputs.items():
        np.testing.assert_allclose(said[output], expected, atol=1e-4, rtol=1e-5)


def rewritten(folder, weights, **facts):
    bundle = open_bundle(PACKAGED_BUNDLES / "policy")
    computed = {"format_version", "inputs", "outputs", "files", "variants"}
    told = bundle.manifest.model_dump(mode="json", exclude=computed) | facts
    write_bundle(folder, bundle.model, bundle.golden_inputs, bundle.golden_outputs, told, weights=weights)
    return open_bundle(folder)


def test_a_bundle_without_weights_or_with_those_of_another_net_is_not_exported(tmp_path):
    weights = read_weights(open_bundle(PACKAGED_BUNDLES / "policy"))
    with pytest.raises(ModelWrong, match=r"must have weights.npz, from which the net is exported anew"):
        net_of_bundle(rewritten(tmp_path / "without", None))
    for number, wrong in enumerate(({"join.bias": np.zeros(3)}, weights | {"said.weight": np.zeros((28, 2))})):
        with pytest.raises(ModelWrong, match="policy: weights must be those of such a net"):
            net_of_bundle(rewritten(tmp_path / str(number), wrong))
    with pytest.raises(ModelWrong, match="name: must be one of forecaster, policy, got weather"):
        net_of_bundle(rewritten(tmp_path / "weather", weights, name="weather"))


def test_changed_weights_are_found_when_they_are_read(tmp_path):
    bundle = rewritten(tmp_path, read_weights(open_bundle(PACKAGED_BUNDLES / "policy")))
    data = bytearray((tmp_path / "weights.npz").read_bytes())
    data[-1] ^= 1
    (tmp_path / "weights.npz").write_bytes(data)
    with pytest.raises(ModelWrong, match=r"weights.npz: its SHA-256 must be"):
        read_weights(bundle)


def test_a_bundle_is_named_or_given_as_a_folder(tmp_path):
    assert bundle_named("policy") == PACKAGED_BUNDLES / "policy"
    assert bundle_named(str(tmp_path)) == tmp_path
