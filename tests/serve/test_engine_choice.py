import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from serve_samples import X, Y

from doseflow.errors import EngineFailed, EngineUnfit, ModelWrong
from doseflow.serve import engine_choice
from doseflow.serve.bundle import open_bundle
from doseflow.serve.engine_choice import choose_engine
from doseflow.serve.engine_kinds import ENGINE_KINDS, EngineKind, precisions_for
from doseflow.serve.engine_params import EngineParams
from doseflow.serve.engine_process import EngineProcess
from doseflow.serve.swapped_engine import SwappedEngine
from doseflow.serve.variant import DeviceVerdict, Variant

ONLY_CPU = EngineParams()


class Constant:
    """Answers the toy net's golden question with `factor` times what is right."""

    def __init__(self, name, factor=1.0):
        self.name, self.factor, self.asked = name, factor, 0

    def run(self, inputs):
        self.asked += 1
        y = np.maximum(inputs["x"] + 1, 0) * np.float32(self.factor)
        return {"y": y, "z": y.sum(axis=1)}


@pytest.fixture
def kind_of(monkeypatch):
    """Puts an engine in the place of a kind."""

    def put(name, engine, *, why=None, device="cpu"):
        def open_net(bundle, precision, params):
            if isinstance(engine, Exception):
                raise engine
            return engine

        monkeypatch.setitem(ENGINE_KINDS, name, EngineKind(name, device, lambda: why, open_net))

    return put


def test_the_processor_serves_where_nothing_else_is_asked_for(make_bundle):
    chosen = choose_engine(open_bundle(make_bundle()), ONLY_CPU)
    assert (chosen.name, chosen.precision, chosen.refused) == ("onnx_cpu", "fp32", ())
    np.testing.assert_allclose(chosen.engine.run({"x": X})["y"], Y)


def test_an_engine_without_its_device_is_passed_over_with_a_sentence(make_bundle):
    if ENGINE_KINDS["tensorrt_rtx"].why_not() is None:
        pytest.skip("this machine has a card")
    chosen = choose_engine(open_bundle(make_bundle()), EngineParams(order=("tensorrt_rtx", "onnx_cuda", "onnx_cpu")))
    assert chosen.name == "onnx_cpu"
    assert [one.name for one in chosen.refused] == ["tensorrt_rtx", "onnx_cuda"]
    assert all(one.why.startswith("cannot run here: ") for one in chosen.refused)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (Constant("openvino", 0.0), "golden check: y of engine openvino is off by"),
        (Constant("openvino", np.nan), "golden check: y of engine openvino is off by nan"),
        (EngineUnfit("made for TensorRT 1.6; build it again"), "build it again"),
        (ModelWrong("the engine file is cut short"), "cut short"),
        (EngineFailed("out of memory"), "out of memory"),
    ],
)
def test_the_next_in_line_takes_over_from_one_that_answers_wrongly_or_does_not_open(
    make_bundle, kind_of, wrong, sentence
):
    kind_of("openvino", wrong)
    chosen = choose_engine(open_bundle(make_bundle()), EngineParams(order=("openvino", "onnx_cpu")))
    assert chosen.name == "onnx_cpu"
    assert sentence in chosen.refused[0].why


def test_the_first_that_is_right_serves_and_the_others_are_not_opened(make_bundle, kind_of):
    kind_of("openvino", Constant("openvino"))
    kind_of("onnx_cpu", ModelWrong("must not be opened"))
    assert choose_engine(open_bundle(make_bundle()), EngineParams(order=("openvino", "onnx_cpu"))).name == "openvino"


def test_it_is_warm_before_it_serves(make_bundle, kind_of):
    engine = Constant("openvino")
    kind_of("openvino", engine)
    choose_engine(open_bundle(make_bundle()), EngineParams(order=("openvino",)))
    assert engine.asked >= 2, "the golden question, and again for nothing"


def test_where_none_can_run_every_reason_is_told(make_bundle, kind_of):
    kind_of("openvino", EngineUnfit("no library"))
    kind_of("onnx_cpu", ModelWrong("no model"))
    with pytest.raises(EngineUnfit, match="openvino: no library; onnx_cpu: no model"):
        choose_engine(open_bundle(make_bundle()), EngineParams(order=("openvino", "onnx_cpu")))


def test_the_processors_engine_can_live_in_a_process_of_its_own(make_bundle):
    chosen = choose_engine(open_bundle(make_bundle()), replace(ONLY_CPU, in_own_process=True))
    assert isinstance(chosen.engine, EngineProcess)
    np.testing.assert_allclose(chosen.engine.run({"x": X})["y"], Y)
    chosen.engine.close()


def test_in_its_own_process_a_bundle_changed_meanwhile_is_refused(make_bundle):
    folder = make_bundle()
    bundle = open_bundle(folder)
    (folder / "model.onnx").write_bytes(b"other")
    with pytest.raises(EngineUnfit, match="must have"):
        choose_engine(bundle, replace(ONLY_CPU, in_own_process=True))


def test_the_processor_answers_until_the_accelerator_stands(make_bundle, kind_of, monkeypatch):
    may_open = threading.Event()
    better = Constant("onnx_cuda")
    real = engine_choice.first_in_order

    def waits(bundle, params):
        if params.order[0] == "onnx_cuda":
            assert may_open.wait(10)
        return real(bundle, params)

    monkeypatch.setattr(engine_choice, "first_in_order", waits)
    kind_of("onnx_cuda", better, device="cuda")
    params = EngineParams(order=("onnx_cuda", "onnx_cpu"), in_own_process=False)
    engine = choose_engine(open_bundle(make_bundle()), params).engine
    assert engine.name == "onnx_cpu"
    np.testing.assert_allclose(engine.run({"x": X})["y"], Y)
    may_open.set()
    assert engine.wait(10)
    assert engine.name == "onnx_cuda"
    asked = better.asked
    np.testing.assert_allclose(engine.run({"x": X})["y"], Y)
    assert better.asked == asked + 1


def test_the_processor_goes_on_where_the_accelerator_is_wrong(make_bundle, kind_of):
    kind_of("onnx_cuda", Constant("onnx_cuda", 0.0), device="cuda")
    params = EngineParams(order=("onnx_cuda",), in_own_process=False)
    engine = choose_engine(open_bundle(make_bundle()), params).engine
    assert not engine.wait(10)
    assert engine.name == "onnx_cpu"


def test_while_the_better_engines_process_is_away_the_one_at_hand_answers():
    class Away(EngineProcess):
        is_ready = False

        def __init__(self):
            self.name = "away"

    engine = SwappedEngine(Constant("at_hand"), Away)
    assert engine.wait(10)
    assert engine.answering.name == "at_hand"
    Away.is_ready = True
    assert engine.answering.name == "away"


def with_fp16(bundle, **devices):
    half = Variant.model_construct(
        precision="fp16", file="model.fp16.onnx", golden_tolerance=0.01, devices=devices, decisions=None
    )
    manifest = bundle.manifest.model_copy(update={"variants": (*bundle.manifest.variants, half)})
    return replace(bundle, manifest=manifest, models={**bundle.models, "fp16": bundle.model})


def test_the_coarsest_precision_that_the_manifest_allows_on_the_device_serves(make_bundle):
    verdicts = {
        "cuda": DeviceVerdict(serves=True, speedup=2.0),
        "cpu": DeviceVerdict(serves=False, reason="It is slower than FP32 there."),
    }
    bundle = with_fp16(open_bundle(make_bundle()), **verdicts)
    assert precisions_for(bundle, ENGINE_KINDS["onnx_cpu"], None) == ("fp32",)
    assert precisions_for(bundle, ENGINE_KINDS["onnx_cuda"], None) == ("fp16", "fp32")
    with pytest.raises(EngineUnfit, match="It is slower than FP32 there"):
        precisions_for(bundle, ENGINE_KINDS["onnx_cpu"], "fp16")
    with pytest.raises(ModelWrong, match="int8"):
        precisions_for(bundle, ENGINE_KINDS["onnx_cuda"], "int8")


@pytest.mark.parametrize("wrong", [Constant("openvino", 0.0), EngineUnfit("no engine was built")])
def test_an_engine_that_fails_in_a_coarse_precision_serves_in_the_next_finer_and_says_so(
    make_bundle, monkeypatch, wrong
):
    def open_net(bundle, precision, params):
        if precision == "fp32":
            return Constant("openvino")
        if isinstance(wrong, Exception):
            raise wrong
        return wrong

    monkeypatch.setitem(ENGINE_KINDS, "openvino", EngineKind("openvino", "cuda", lambda: None, open_net))
    bundle = with_fp16(open_bundle(make_bundle()), cuda=DeviceVerdict(serves=True, speedup=2.0))
    params = EngineParams(order=("openvino", "onnx_cpu"), in_own_process=False, starts_on_cpu=False)
    chosen = choose_engine(bundle, params)
    assert (chosen.name, chosen.precision) == ("openvino", "fp32")
    (refused,) = chosen.refused
    assert (refused.name, refused.precision) == ("openvino", "fp16")
    assert refused.why.startswith("in fp16: ")


def test_where_every_precision_of_an_engine_fails_each_is_told_and_the_next_engine_serves(make_bundle, kind_of):
    kind_of("openvino", Constant("openvino", 0.0), device="cuda")
    bundle = with_fp16(open_bundle(make_bundle()), cuda=DeviceVerdict(serves=True, speedup=2.0))
    params = EngineParams(order=("openvino", "onnx_cpu"), in_own_process=False, starts_on_cpu=False)
    chosen = choose_engine(bundle, params)
    assert chosen.name == "onnx_cpu"
    (refused,) = chosen.refused
    assert "in fp16: golden check" in refused.why
    assert "in fp32: golden check" in refused.why


def test_a_precision_that_was_asked_for_is_not_exchanged_for_a_finer_one(make_bundle, kind_of):
    kind_of("openvino", Constant("openvino", 0.0), device="cuda")
    bundle = with_fp16(open_bundle(make_bundle()), cuda=DeviceVerdict(serves=True, speedup=2.0))
    params = EngineParams(order=("openvino",), precision="fp16", in_own_process=False, starts_on_cpu=False)
    with pytest.raises(ModelWrong, match="golden check"):
        choose_engine(bundle, params)


def test_opening_waits_longer_than_a_cycle_may(make_bundle, kind_of):
    class Slow(Constant):
        def run(self, inputs):
            time.sleep(0.05)
            return super().run(inputs)

    kind_of("openvino", Slow("openvino"))
    params = EngineParams(order=("openvino",), deadline_milliseconds=1.0)
    assert choose_engine(open_bundle(make_bundle()), params).name == "openvino"
