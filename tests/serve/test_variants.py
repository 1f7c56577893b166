"""What a manifest may say of the precisions that a net comes in."""

import numpy as np
import pytest
from pydantic import ValidationError
from serve_samples import FACTS, X, Y, sealed, toy_model
from test_bundle import Answering

from doseflow.errors import ModelWrong
from doseflow.serve.bundle import golden_check, open_bundle, write_bundle
from doseflow.serve.variant import Calibration, DecisionGate, DeviceVerdict, Variant

GATE = DecisionGate(
    num_cycles=100, identical_share=0.99, identical_plans_share=0.9, num_violations=0, num_days=4, loss_share=0.001
)
CALIBRATION = Calibration(method="minmax", num_samples=40, source="simulated days", data_sha256="0" * 64)
SERVES = DeviceVerdict(serves=True, speedup=1.4)
SLOWER = DeviceVerdict(serves=False, speedup=0.5, reason="It is half as fast as FP32 here.")


def half(**changes):
    told = {"precision": "fp16", "file": "model.fp16.onnx", "golden_tolerance": 0.01, "decisions": GATE}
    return Variant(**told | {"devices": {"cuda": SERVES, "cpu": SLOWER}} | changes)


def eighth(**changes):
    told = {"precision": "int8", "file": "model.int8.onnx", "golden_tolerance": 0.3, "calibration": CALIBRATION}
    return Variant(**told | changes)


def bundle_of(folder, *coarser, **facts):
    write_bundle(folder, toy_model(), {"x": X}, {"y": Y, "z": Y.sum(axis=1)}, FACTS | facts, coarser)
    return folder


def test_every_precision_is_read_back_with_its_file_and_its_verdicts(tmp_path):
    coarser = [(toy_model(1.001), half()), (toy_model(1.1), eighth(devices={"cpu": SLOWER}))]
    bundle = open_bundle(bundle_of(tmp_path, *coarser))
    assert [one.precision for one in bundle.manifest.variants] == ["fp32", "fp16", "int8"]
    assert [bundle.model_of(one) for one in ("fp32", "fp16", "int8")] == [toy_model(), toy_model(1.001), toy_model(1.1)]
    assert bundle.model == toy_model()
    fp32, fp16, int8 = bundle.manifest.variants
    assert fp32.serves_on("anything")
    assert (fp16.serves_on("cuda"), fp16.serves_on("cpu"), fp16.serves_on("tensorrt")) == (True, False, False)
    assert fp16.why_not_on("cuda") is None
    assert fp16.why_not_on("cpu") == "It is half as fast as FP32 here."
    assert int8.why_not_on("cuda") == "int8 was not measured on cuda."
    assert int8.calibration == CALIBRATION


def test_a_precision_that_a_bundle_has_not_is_said_so(tmp_path):
    bundle = open_bundle(bundle_of(tmp_path, (toy_model(), half())))
    with pytest.raises(ModelWrong, match="toy: precision must be one of fp32, fp16, got int8"):
        bundle.model_of("int8")


def test_a_bundle_written_again_without_a_precision_has_no_file_of_it(tmp_path):
    bundle_of(tmp_path, (toy_model(), half()))
    bundle_of(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx", "golden.npz", "manifest.json"}


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_a_changed_file_of_any_precision_is_found(tmp_path, precision):
    bundle_of(tmp_path, (toy_model(), half()), (toy_model(), eighth()))
    file = tmp_path / f"model.{precision}.onnx"
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelWrong, match=f"model.{precision}.onnx: its SHA-256 must be"):
        open_bundle(tmp_path)
    file.write_bytes(data[:-1])
    with pytest.raises(ModelWrong, match=f"model.{precision}.onnx: must have {len(data)} bytes"):
        open_bundle(tmp_path)


def test_a_precision_with_other_inputs_than_fp32_is_refused(tmp_path):
    bundle_of(tmp_path, (toy_model(), half()))
    sealed(tmp_path, "model.fp16.onnx", toy_model(shape=(3, "B")))
    with pytest.raises(ModelWrong, match=r"model.fp16.onnx: axes of x must be B F, got 3 B"):
        open_bundle(tmp_path)


def test_a_wide_tolerance_does_not_let_a_coarse_net_be_off_as_a_whole(tmp_path):
    bundle = open_bundle(bundle_of(tmp_path, (toy_model(), half(golden_tolerance=0.05))))
    with pytest.raises(ModelWrong, match=r"y of engine .* is off by 0.03 of its size, more than 0.02"):
        golden_check(bundle, Answering(y=Y * np.float32(1.03), z=Y.sum(axis=1)), "fp16")


def test_each_precision_is_held_to_its_own_tolerance(tmp_path):
    bundle = open_bundle(bundle_of(tmp_path, (toy_model(), half(golden_tolerance=0.01))))
    off = Answering(y=Y * np.float32(1.005), z=Y.sum(axis=1))
    assert golden_check(bundle, off, "fp16") == pytest.approx(0.005, rel=0.01)
    with pytest.raises(ModelWrong, match=r"y of engine told is off by 0.005, more than 0.0001"):
        golden_check(bundle, off)
    with pytest.raises(ModelWrong, match="y of engine told is off by 1"):
        golden_check(bundle, Answering(y=Y * 0, z=Y.sum(axis=1)), "fp16")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: half(file="model.onnx"), r"file of fp16 must be model.fp16.onnx"),
        (lambda: half(golden_tolerance=2.0), "golden_tolerance of fp16 must be at most 0.05"),
        (lambda: half(calibration=CALIBRATION), "calibration must be given for int8 and for nothing else"),
        (lambda: eighth(calibration=None), "calibration must be given for int8 and for nothing else"),
        (lambda: half(decisions=None), "fp16 must pass the gates on decisions before it serves"),
        (lambda: DeviceVerdict(serves=False), "reason must be given exactly where it does not serve"),
        (lambda: DeviceVerdict(serves=True, reason="why not"), "reason must be given exactly where it does not serve"),
    ],
)
def test_what_is_said_of_a_precision_must_hold_together(make, sentence):
    with pytest.raises(ValidationError, match=sentence):
        make()


def test_an_output_that_must_stay_fine_keeps_a_coarse_net_from_serving(tmp_path):
    serving = eighth(decisions=GATE, devices={"cuda": SERVES})
    bundle_of(tmp_path / "may", (toy_model(), serving), lowest_precision={"y": "int8", "z": "int8"})
    with pytest.raises(ModelWrong, match="int8 must not serve: z must be fp16 or better"):
        bundle_of(tmp_path / "must_not", (toy_model(), serving), lowest_precision={"y": "int8", "z": "fp16"})
    refused = eighth(devices={"cuda": SLOWER})
    bundle_of(tmp_path / "kept_and_not_served", (toy_model(), refused), lowest_precision={"y": "int8", "z": "fp16"})


@pytest.mark.parametrize("coarser", [[half(), half()], [eighth(), eighth()]])
def test_a_precision_stands_once(tmp_path, coarser):
    with pytest.raises(ModelWrong, match="variants must begin with fp32 and have each precision once"):
        bundle_of(tmp_path, *((toy_model(), one) for one in coarser))
