import io

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serve_samples import sealed, toy_bundle, toy_model

from doseflow.errors import ModelWrong
from doseflow.serve import bundle as bundle_module
from doseflow.serve.bundle import golden_check, open_bundle
from doseflow.serve.manifest import read_manifest
from doseflow.serve.opened_model import open_model


def rewrite(folder, **changes):
    """Change the manifest; None takes a field out."""
    document = orjson.loads((folder / "manifest.json").read_bytes()) | changes
    kept = {name: value for name, value in document.items() if value is not None}
    (folder / "manifest.json").write_bytes(orjson.dumps(kept))


class Answering:
    """An engine that says what it is told to say."""

    name = "told"

    def __init__(self, **outputs):
        self._outputs = outputs

    def run(self, inputs):
        return self._outputs


def test_what_was_written_is_opened_and_answers_its_golden_inputs(make_bundle):
    opened = open_model(make_bundle(), feature_schema_version=7)
    assert opened.bundle.manifest.name == "toy"
    assert (opened.bundle.manifest.inputs, opened.bundle.manifest.outputs) == (("x",), ("y", "z"))
    assert opened.golden_difference <= 1e-6
    answer = opened.engine.run({"x": np.zeros((1, 3), dtype=np.float32)})
    np.testing.assert_array_equal(answer["y"], np.ones((1, 3)))


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(ModelWrong, match=r"manifest.json: cannot be read \(No such file"):
        open_bundle(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "golden.npz"])
def test_a_missing_file_is_said_so(make_bundle, name):
    folder = make_bundle()
    (folder / name).unlink()
    with pytest.raises(ModelWrong, match=f"{name}: cannot be read"):
        open_bundle(folder)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["model.onnx", "golden.npz"]), st.floats(0, 1, exclude_max=True), st.integers(0, 7))
def test_one_flipped_bit_anywhere_is_found(tmp_path_factory, name, place, bit):
    folder = toy_bundle(tmp_path_factory.mktemp("flipped"))
    data = bytearray((folder / name).read_bytes())
    data[int(place * len(data))] ^= 1 << bit
    (folder / name).write_bytes(data)
    with pytest.raises(ModelWrong, match=f"{name}: its SHA-256 must be"):
        open_bundle(folder)


@pytest.mark.parametrize("name", ["model.onnx", "golden.npz"])
@pytest.mark.parametrize("left", [0, 0.5])
def test_a_truncated_file_is_found(make_bundle, name, left):
    folder = make_bundle()
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: int(left * len(data))])
    with pytest.raises(ModelWrong, match=rf"{name}: must have {len(data)} bytes"):
        open_bundle(folder)


def test_a_truncated_manifest_is_no_json(make_bundle):
    folder = make_bundle()
    data = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelWrong, match=r"manifest.json: must be JSON"):
        open_bundle(folder)


def test_a_model_for_other_inputs_is_refused(make_bundle):
    folder = make_bundle(feature_schema_version=6)
    with pytest.raises(ModelWrong, match="feature_schema_version must be 7, got 6"):
        open_bundle(folder, feature_schema_version=7)
    assert open_bundle(folder).manifest.feature_schema_version == 6


@pytest.mark.parametrize("version", [0, 1, 3, "2", None])
def test_another_format_is_refused_before_anything_else_of_it_is_read(make_bundle, version):
    folder = make_bundle()
    rewrite(folder, format_version=version, files=None, colour="red")
    with pytest.raises(ModelWrong, match=r"format_version must be 2, got .*must be exported anew"):
        open_bundle(folder)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"colour": "red"}, "colour: extra inputs are not permitted"),
        ({"licence": None}, "licence: field required"),
        ({"opset": 17}, "opset: input should be greater than or equal to 18"),
        ({"opset": 19}, "opset: input should be less than or equal to 18"),
        ({"metrics": {"loss": "low"}}, "metrics.loss"),
        ({"name": "../toy"}, "name: string should match"),
        ({"files": {}}, r"files must be \['golden.npz', 'model.onnx'\], got \[\]"),
        ({"inputs": ["w"]}, r"axes must be those of \['w', 'y', 'z'\], got \['x', 'y', 'z'\]"),
        ({"inputs": ["w"], "axes": {"w": "B F", "y": "B F", "z": "B"}}, r"inputs must be \['w'\], got \['x'\]"),
        ({"outputs": ["y"], "axes": {"x": "B F", "y": "B F"}}, r"outputs must be \['y'\], got \['y', 'z'\]"),
        ({"variants": []}, "variants: tuple should have at least 1 item"),
    ],
)
def test_a_manifest_that_breaks_its_schema_is_refused_by_field(make_bundle, changes, sentence):
    folder = make_bundle()
    rewrite(folder, **changes)
    with pytest.raises(ModelWrong, match=sentence):
        open_bundle(folder)


@pytest.mark.parametrize("text", [b"[]", b"3", b"null"])
def test_a_manifest_that_is_no_object_is_refused(text):
    with pytest.raises(ModelWrong, match="format_version must be 2, got None"):
        read_manifest(text)


def test_a_file_over_the_limit_is_not_read_whole(make_bundle, monkeypatch):
    folder = make_bundle()
    monkeypatch.setattr(bundle_module, "MAX_FILE_BYTES", 10)
    with pytest.raises(ModelWrong, match=r"model.onnx: must have at most 10 bytes"):
        open_bundle(folder)


def test_golden_arrays_that_unpack_to_too_much_are_not_unpacked(make_bundle, monkeypatch):
    folder = make_bundle()
    monkeypatch.setattr(bundle_module, "MAX_GOLDEN_BYTES", 100)
    with pytest.raises(ModelWrong, match=r"golden.npz: must unpack to at most 100 bytes"):
        open_bundle(folder)


def test_golden_arrays_are_never_unpickled(make_bundle):
    folder = make_bundle()
    buffer = io.BytesIO()
    np.savez(buffer, in_x=np.array([{}], dtype=object), out_y=np.zeros(1))
    sealed(folder, "golden.npz", buffer.getvalue())
    with pytest.raises(ModelWrong, match=r"golden.npz: must be arrays as NumPy saves them"):
        open_bundle(folder)


def test_a_model_that_is_no_onnx_is_said_so(make_bundle):
    with pytest.raises(ModelWrong, match=r"model.onnx: must be an ONNX file"):
        open_model(make_bundle(model=b"not a model at all"))


def test_a_model_with_an_operator_that_is_none_is_said_so(make_bundle):
    with pytest.raises(ModelWrong, match=r"model.onnx: ONNX Runtime cannot open it"):
        open_model(make_bundle(model=toy_model().replace(b"Relu", b"Rulu")))


def test_weights_that_were_changed_and_sealed_anew_fail_the_golden_check(make_bundle):
    folder = make_bundle()
    sealed(folder, "model.onnx", toy_model(added=1.01))
    open_bundle(folder)
    with pytest.raises(ModelWrong, match="golden check: y of engine onnx_cpu is off"):
        open_model(folder)


def test_a_whole_model_that_answers_otherwise_fails_the_golden_check(make_bundle):
    with pytest.raises(ModelWrong, match=r"golden check: y of engine onnx_cpu is off by 0\.0"):
        open_model(make_bundle(model=toy_model(added=1.002)))
    assert open_model(make_bundle(model=toy_model(added=1.00005))).golden_difference == pytest.approx(5e-5, rel=0.02)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda y, z: {"y": y}, r"z of engine told must be \(3,\), got None"),
        (lambda y, z: {"y": y[:1], "z": z}, r"y of engine told must be \(3, 3\), got \(1, 3\)"),
        (lambda y, z: {"y": y * np.nan, "z": z}, "y of engine told is off by nan"),
        (lambda y, z: {"y": y * 0, "z": z}, "y of engine told is off by 1"),
        (lambda y, z: {"y": y, "z": z * 1.0002}, "z of engine told is off by 0.0002"),
    ],
)
def test_every_wrong_golden_answer_is_found(make_bundle, change, sentence):
    bundle = open_bundle(make_bundle())
    wrong = change(bundle.golden_outputs["y"], bundle.golden_outputs["z"])
    with pytest.raises(ModelWrong, match=sentence):
        golden_check(bundle, Answering(**wrong))
