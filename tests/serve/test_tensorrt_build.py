"""Real engines, built without a card; nothing here can run them."""

import hashlib
from functools import cache

import numpy as np
import onnx
import orjson
import pytest

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is an optional library (extra tensorrt-rtx)")

from serve_samples import toy_model
from typer.testing import CliRunner

from doseflow.cli import app
from doseflow.errors import DoseflowError, EngineUnfit, InputWrong, ModelWrong
from doseflow.serve.bundle import open_bundle
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.serve.precision import PRECISIONS
from doseflow.serve.tensorrt import net_build
from doseflow.serve.tensorrt.engine_build import BuildOrder, build_apart
from doseflow.serve.tensorrt.engine_folder import open_engine_folder
from doseflow.serve.tensorrt.net_build import BuildParams, build_net, build_precisions
from doseflow.serve.tensorrt.opened_folder import find_built

NETS = {"forecaster": {"B": 1, "S": 64}, "policy": {"S": 64}}


@cache
def model_of(net, precision):
    bundle = open_bundle(PACKAGED_BUNDLES / net)
    if precision in bundle.models:
        return bundle.models[precision]
    if precision == "fp16":
        try:
            return pytest.importorskip("doseflow.export.half_precision").half_precision(bundle.model)
        except onnx.shape_inference.InferenceError:
            halves = pytest.importorskip("onnxruntime.transformers.float16")
            half = halves.convert_float_to_float16(onnx.load_from_string(bundle.model), keep_io_types=True)
            return half.SerializeToString()
    return pytest.importorskip("doseflow.export.eighth_precision").eighth_precision(
        bundle.model, [bundle.golden_inputs]
    )


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("net", NETS)
def test_every_shipped_net_builds_three_times_to_the_same_bytes(net, precision):
    order = BuildOrder("tensorrt-rtx", model_of(net, precision), (NETS[net],), ("8.9",))
    built = [build_apart(order) for _ in range(3)]
    assert len({hashlib.sha256(one.engine).hexdigest() for one in built}) == 1
    report = built[0].report
    assert 0 < len(report.kernels) < report.num_layers, "kernels do more than one layer"
    assert any(len(kernel.nodes) > 1 for kernel in report.kernels)
    assert 0 < report.weight_bytes < 4 * len(order.model)
    assert report.activation_bytes > 0


def test_another_net_or_shape_is_other_bytes():
    def digest(model, rows):
        return hashlib.sha256(build_apart(BuildOrder("tensorrt-rtx", model, ({"B": rows},), ("8.9",))).engine).digest()

    assert len({digest(toy_model(), 1), digest(toy_model(), 2), digest(toy_model(2.0), 1)}) == 3


def test_what_a_card_cannot_do_is_left_out_and_said(make_bundle, tmp_path):
    said = []
    policy = open_bundle(PACKAGED_BUNDLES / "policy")
    params = BuildParams(capabilities=("7.5", "8.9"), sites=32, batches=(1, 2))
    manifest = build_net(policy, params, tmp_path / "built", said.append)
    assert manifest.capabilities == ("8.9",)
    assert "take --precision fp16" in manifest.left_out["7.5"]
    assert [one.shapes for one in manifest.engines] == [({"S": 32},), ({"S": 64},)]
    assert open_engine_folder(tmp_path / "built").manifest == manifest
    assert said
    with pytest.raises(EngineUnfit, match=r"FP32 GEMM.*take --precision fp16"):
        build_net(policy, BuildParams(capabilities=("7.5",), sites=32, batches=(1,)), tmp_path / "none")


def test_half_precision_builds_for_every_card_that_is_asked_for_by_default():
    order = BuildOrder("tensorrt-rtx", model_of("policy", "fp16"), ({"S": 32},), BuildParams().capabilities)
    assert order.capabilities == ("7.5", "8.6", "8.9")
    assert build_apart(order).engine


def test_one_engine_may_take_every_batch_in_between(make_bundle, tmp_path):
    params = BuildParams(capabilities=("8.9",), sites=1, batches=(1, 8, 32), is_one_engine=True)
    manifest = build_net(open_bundle(make_bundle()), params, tmp_path / "built")
    assert [dict(shape) for shape in manifest.engines[0].shapes] == [{"B": batch, "S": 1} for batch in (1, 8, 32)]


def test_a_card_that_the_library_does_not_know_is_refused_with_those_it_knows(make_bundle, tmp_path):
    with pytest.raises(InputWrong, match=r"--compute-capability: .*builds for 7\.5.*got 9\.0"):
        build_net(open_bundle(make_bundle()), BuildParams(capabilities=("9.0",)), tmp_path)


def test_a_net_that_the_library_cannot_read_is_refused_with_its_words():
    broken = toy_model().replace(b"ReduceSum", b"ReduceSux")
    with pytest.raises(ModelWrong, match="cannot read the net"):
        build_apart(BuildOrder("tensorrt-rtx", broken, ({"B": 1},), ("8.9",)))


def test_the_command_line_builds_inspects_and_does_not_verify_without_a_card(tmp_path):
    def run(*words):
        return CliRunner().invoke(app, ["engine", *map(str, words)], catch_exceptions=True)

    built = run("build", "--bundle", "policy", "--compute-capability", "8.9", "--batch", "1", "--out", tmp_path)
    assert built.exit_code == 0, built.output
    assert "s256.engine" in built.output
    inspected = run("inspect", tmp_path, "--kernels")
    assert inspected.exit_code == 0
    layers = orjson.loads((tmp_path / "policy-fp32" / "layers.json").read_bytes())
    for kernel in layers["s256.engine"]["kernels"]:
        assert kernel["name"] in inspected.output
    from doseflow.serve.cuda_driver import why_no_device

    if why_no_device() is None:
        pytest.skip("this machine has a card")
    verified = run("verify", tmp_path)
    assert verified.exit_code == 1
    assert "policy-fp32: there is no NVIDIA driver here" in verified.output
    assert isinstance(run("inspect", tmp_path / "nothing").exception, InputWrong)
    assert isinstance(run("build", "--precision", "fp8", "--out", tmp_path).exception, InputWrong)
    assert isinstance(run("build", "--batch", "1,64", "--out", tmp_path).exception, InputWrong)
    assert np.all([(tmp_path / "policy-fp32" / name).exists() for name in ("engine.json", "golden.npz")])


def test_without_a_precision_what_serves_on_a_card_is_built_and_what_cannot_be_is_said(tmp_path):
    said = []
    policy = open_bundle(PACKAGED_BUNDLES / "policy")
    assert policy.manifest.variant("fp16").serves_on("cuda")
    params = BuildParams(capabilities=("7.5",), sites=32, batches=(1,))
    built = list(build_precisions(policy, params, None, tmp_path, said.append))
    assert [(folder.name, manifest.precision) for folder, manifest in built] == [("policy-fp16", "fp16")]
    assert any(text.startswith("policy in fp32: not built: ") for text in said)
    assert find_built("tensorrt-rtx", policy, "fp16", tmp_path).folder.name == "policy-fp16"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--bundle", "policy", "--bundle", "nowhere"), "nowhere"),
        (("--bundle", "policy", "--out", "/proc/nothing"), "--out: /proc/nothing cannot be written"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_built(tmp_path, monkeypatch, words, sentence):
    def must_not(*_):
        raise AssertionError("nothing may be built")

    monkeypatch.setattr(net_build, "build_apart", must_not)
    given = words if "--out" in words else (*words, "--out", str(tmp_path))
    error = CliRunner().invoke(app, ["engine", "build", *given]).exception
    assert isinstance(error, DoseflowError)
    assert sentence in str(error)


def test_a_card_named_twice_is_built_for_once(tmp_path, monkeypatch):
    orders = []
    monkeypatch.setattr(net_build, "build_apart", lambda order: orders.append(order) or build_apart(order))
    words = ["--bundle", "policy", "--precision", "fp16", "--batch", "1", "--sites", "32", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, ["engine", "build", "--compute-capability", "8.9,8.9", *words])
    assert done.exit_code == 0, done.output
    assert {order.capabilities for order in orders} == {("8.9",)}
