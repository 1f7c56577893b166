"""Which nets are refused for their operator set or the order of their axes, before any engine sees them."""

from pathlib import Path

import numpy as np
import pytest
from serve_samples import FACTS, X, toy_bundle, toy_model
from test_bundle import rewrite

from doseflow.bootstrap import forecaster_bundle, open_forecaster
from doseflow.errors import ModelWrong
from doseflow.forecast import net_inputs
from doseflow.planning import plan_snapshot
from doseflow.serve.bundle import open_bundle, write_bundle
from doseflow.serve.bundle_axes import check_header
from doseflow.serve.onnx_header import TensorSpec, read_header
from doseflow.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "examples" / "morning.json"


@pytest.mark.parametrize("opset", [13, 17, 19, 23])
def test_a_model_of_another_operator_set_is_refused(make_bundle, opset):
    with pytest.raises(ModelWrong, match=f"its opset must be 18 of ai.onnx alone, got ai.onnx {opset}"):
        open_bundle(make_bundle(model=toy_model(opset=opset)))


def test_a_model_with_operators_of_one_runtime_only_is_refused(make_bundle):
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(toy_model())
    model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(ModelWrong, match=r"got ai.onnx 18, com.microsoft 1"):
        open_bundle(make_bundle(model=model.SerializeToString()))


def test_weights_outside_the_file_are_refused(make_bundle):
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(toy_model())
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    with pytest.raises(ModelWrong, match="all weights must be inside the file"):
        open_bundle(make_bundle(model=model.SerializeToString()))


@pytest.mark.parametrize(
    ("model", "axes", "sentence"),
    [
        (None, {"x": "F B"}, "axes of x must be F B, got B 3"),
        (None, {"z": "F"}, "axes of z must be F, got B"),
        (None, {"x": "B T F"}, "axes of x must be B T F, got B 3"),
        (toy_model(shape=(3, "B")), {}, "axes of x must be B F, got 3 B"),
        (toy_model(shape=("B", 4)), {}, r"F of x must be 4 as in the model, got 3"),
        (toy_model(shape=("S", 3)), {}, "axes of x must be B F, got S 3"),
    ],
)
def test_axes_in_another_order_than_the_models_are_refused(make_bundle, model, axes, sentence):
    model = model or toy_model()
    with pytest.raises(ModelWrong, match=sentence):
        open_bundle(make_bundle(model=model, axes=FACTS["axes"] | axes))


def test_golden_arrays_of_two_cities_are_refused(tmp_path):
    outputs = {"y": np.maximum(X + 1, 0), "z": np.ones(2, np.float32)}
    with pytest.raises(ModelWrong, match="B must be 3 in z as in x, got 2"):
        open_bundle(toy_bundle(tmp_path, outputs=outputs))


@pytest.mark.parametrize("other", [X.astype(np.float64), X[0]])
def test_golden_arrays_of_another_type_or_rank_are_refused(tmp_path, other):
    y = np.maximum(X + 1, 0)
    write_bundle(tmp_path, toy_model(), {"x": other}, {"y": y, "z": y.sum(axis=1)}, FACTS)
    with pytest.raises(ModelWrong, match="x must be float32 with axes B F, got float"):
        open_bundle(tmp_path)


def test_a_net_whose_axes_are_not_those_of_the_encoding_is_refused(make_bundle):
    folder = make_bundle()
    open_bundle(folder, input_axes={"x": "B F", "more": "S"})
    with pytest.raises(ModelWrong, match="toy: axes of x must be F B, got B F: the model was made for other inputs"):
        open_bundle(folder, input_axes={"x": "F B"})
    with pytest.raises(ModelWrong, match="axes of x must be none"):
        open_bundle(folder, input_axes={})


def test_a_process_refuses_a_shipped_net_in_another_axis_order_than_it_feeds(tmp_path):
    bundle = open_bundle(forecaster_bundle(Settings()))
    facts = bundle.manifest.model_dump(exclude={"format_version", "inputs", "outputs", "files", "variants"})
    write_bundle(tmp_path, bundle.model, bundle.golden_inputs, bundle.golden_outputs, facts)
    rewrite(tmp_path, axes=facts["axes"] | {"neighbour_idx": "B N S"})
    with pytest.raises(ModelWrong, match="forecaster: axes of neighbour_idx must be B S N, got B N S"):
        open_forecaster(Settings(bundles={"forecaster": str(tmp_path)}))


def test_the_axes_that_a_city_is_fed_by_are_those_of_its_arrays():
    state = plan_snapshot(EXAMPLE.read_bytes(), Settings()).cycle.state
    inputs = net_inputs.net_inputs(state, net_inputs.BookingParams())
    assert list(net_inputs.NET_INPUT_AXES) == list(open_bundle(forecaster_bundle(Settings())).manifest.inputs)
    sizes = {}
    for name, axes in net_inputs.NET_INPUT_AXES.items():
        assert inputs[name].ndim == len(axes.split())
        for letter, size in zip(axes.split(), inputs[name].shape, strict=True):
            sizes.setdefault(letter, set()).add(size)
    assert {letter: len(found) for letter, found in sizes.items() if letter != "F"} == dict.fromkeys("BSTMN", 1)


def test_the_header_is_what_the_onnx_library_reads():
    onnx = pytest.importorskip("onnx")
    model = open_bundle(forecaster_bundle(Settings())).model
    header, graph = read_header(model), onnx.load_from_string(model).graph
    types = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.INT64: "int64"}
    for told, found in ((graph.input, header.inputs), (graph.output, header.outputs)):
        assert found == {
            one.name: TensorSpec(
                types[one.type.tensor_type.elem_type],
                tuple(axis.dim_param or axis.dim_value for axis in one.type.tensor_type.shape.dim),
            )
            for one in told
        }


@pytest.mark.parametrize("data", [b"", b"not a model at all", b"\x3a\xff\xff\xff\xff\x0f", b"\xff" * 20])
def test_what_is_no_onnx_file_has_no_header(data):
    with pytest.raises(ModelWrong, match=r"model.onnx: must be an ONNX file"):
        read_header(data)


def test_a_file_that_is_cut_off_anywhere_is_refused(make_bundle):
    whole, manifest = toy_model(), open_bundle(make_bundle()).manifest
    for length in range(len(whole)):
        with pytest.raises(ModelWrong, match=r"model.onnx: "):
            check_header(whole[:length], "model.onnx", manifest)
