"""The benchmark of one engine: what it is asked, refused before anything is opened."""

import pytest

from doseflow.bench.inference import engine_figures as measured
from doseflow.bench.inference.engine_figures import EngineTrial, engine_figures
from doseflow.errors import InputWrong


@pytest.mark.parametrize(
    ("trial", "sentence"),
    [
        (EngineTrial("onnx_cpu", "cuda"), "--device: onnx_cpu runs on cpu, got 'cuda'"),
        (EngineTrial("onnx_cpu", "tpu"), "--device: onnx_cpu runs on cpu, got 'tpu'"),
        (EngineTrial("tensorrt", "cpu"), "--device: tensorrt runs on cuda, got 'cpu'"),
        (EngineTrial("abacus"), "--engine: must be one of"),
        (EngineTrial(parts=("colour",)), "--only: must be one of"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_opened(monkeypatch, trial, sentence):
    monkeypatch.setattr(measured, "open_bundle", None)
    with pytest.raises(InputWrong, match=sentence):
        engine_figures(trial, print)


def test_figures_have_the_device_that_the_engine_runs_on(monkeypatch):
    asked = []
    monkeypatch.setattr(measured, "latency_figures", lambda *given: asked.append(given) or [])
    assert engine_figures(EngineTrial(parts=("latency",)), lambda _: None) == []
    assert [(bundle.manifest.name, engine.name, device) for bundle, engine, device, _ in asked] == [
        ("forecaster", "onnx_cpu", "cpu"),
        ("policy", "onnx_cpu", "cpu"),
    ]
