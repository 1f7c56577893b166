"""Cleaned graphs: smaller, of standard operators, with the same answers at sizes that no probe had."""

from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from export_samples import OUTPUTS, city_inputs, plain_only  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from doseflow.export.exported_net import exported_net  # noqa: E402
from doseflow.export.graph_cleaning import cleaned, graph_report, num_nodes  # noqa: E402
from doseflow.export.onnx_file import onnx_bytes, outputs_of  # noqa: E402
from doseflow.export.shape_folding import fold_shapes  # noqa: E402
from doseflow.networks.arrival_net import ArrivalNet  # noqa: E402
from doseflow.serve.onnx_engine import OnnxEngine  # noqa: E402
from doseflow.train.forecaster import ForecasterParams  # noqa: E402


@pytest.fixture(scope="module")
def exported_arrival_net():
    torch.manual_seed(4)
    net = ArrivalNet(ForecasterParams().shape()).eval()
    example = city_inputs(0, 3, 64, net.shape)
    return net, exported_net(net, example, OUTPUTS), example


def test_the_file_that_ships_is_plain_and_has_no_arithmetic_on_shapes(exported_arrival_net):
    _, exported, _ = exported_arrival_net
    plain_only(exported.model)
    kinds = Counter(node.op_type for node in onnx.load_from_string(exported.model).graph.node)
    assert not kinds.keys() & {"Constant", "Identity", "Expand", "Where", "Cast"}
    # Cities that are asked together are numbered by a running sum, which a card can do, and not by a shape.
    assert (kinds["Shape"], kinds["ConstantOfShape"], kinds["CumSum"]) == (0, 0, 1)


def test_with_its_sizes_fixed_nothing_about_shapes_is_left_to_run(exported_arrival_net, tmp_path):
    _, exported, _ = exported_arrival_net
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = str(tmp_path / "fixed.onnx")
    for axis, size in (("B", 8), ("S", 208)):
        options.add_free_dimension_override_by_name(axis, size)
    onnxruntime.InferenceSession(exported.model, options, providers=["CPUExecutionProvider"])
    kinds = {node.op_type for node in onnx.load(tmp_path / "fixed.onnx").graph.node}
    assert not kinds & {"Shape", "ConstantOfShape", "Cast", "Expand", "Range"}


def test_it_answers_as_the_net_at_sizes_that_no_probe_had(exported_arrival_net):
    net, exported, _ = exported_arrival_net
    engine = OnnxEngine(exported.model)
    for seed, (replicas, sites) in enumerate(((1, 1), (1, 208), (32, 3), (4, 64))):
        inputs = city_inputs(seed, replicas, sites, net.shape)
        said = engine.run(inputs)
        for name, expected in outputs_of(net, inputs, OUTPUTS).items():
            assert said[name].shape == expected.shape
            np.testing.assert_allclose(said[name], expected, rtol=1e-4, atol=1e-4)


def test_two_fifths_of_the_operations_are_gone(exported_arrival_net):
    _, exported, _ = exported_arrival_net
    report = exported.report
    assert report.run_nodes <= report.shipped_nodes <= report.raw_nodes
    assert report.reduction_share == 1 - report.run_nodes / report.raw_nodes >= 0.4
    assert set(report.fused) == {"Gelu", "BiasGelu"}


def test_the_raw_graph_is_counted_without_its_constants_and_with_nothing_folded(exported_arrival_net):
    net, exported, example = exported_arrival_net
    raw = onnx.load_from_string(onnx_bytes(net, example, OUTPUTS, fold_constants=False))
    folded = onnx.load_from_string(onnx_bytes(net, example, OUTPUTS))
    plain = [node.op_type for node in raw.graph.node if node.op_type != "Constant"]
    assert num_nodes(raw) == len(plain) == exported.report.raw_nodes
    assert num_nodes(folded) < num_nodes(raw) < len(raw.graph.node)
    assert graph_report(raw.SerializeToString(), exported.model) == exported.report


def test_the_same_net_gives_the_same_bytes(exported_arrival_net):
    net, exported, example = exported_arrival_net
    assert exported_net(net, example, OUTPUTS).model == exported.model


def sized_graph(*nodes, outputs):
    """A graph over x, (B, S, 6), whose arithmetic on its shape is given."""
    graph = helper.make_graph(
        [helper.make_node("Shape", ["x"], ["shape"]), *nodes],
        "sized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", "S", 6])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in NUMBERS.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


NUMBERS = {"zero": [0], "one": [1], "two": [2], "three": [3], "both": 0, "minus": [-1]}


PROBES = [{"x": np.zeros((batch, sites, 6), np.float32)} for batch, sites in ((2, 11), (5, 16), (3, 17))]


def folded(model):
    result = fold_shapes(onnx.shape_inference.infer_shapes(model), PROBES)
    return result, {one.name: numpy_helper.to_array(one).tolist() for one in result.graph.initializer}


def test_axes_that_stay_are_kept_and_one_is_left_to_be_found():
    model = sized_graph(
        helper.make_node("Gather", ["shape", "zero"], ["batch"]),
        helper.make_node("Concat", ["batch", "minus", "two", "three"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
        outputs=["y"],
    )
    result, weights = folded(model)
    assert [node.op_type for node in result.graph.node] == ["Reshape"]
    assert weights == {"y:shape": [0, -1, 2, 3]}


def test_a_shape_with_two_sizes_that_cannot_be_found_stays_computed():
    model = sized_graph(
        helper.make_node("Slice", ["shape", "one", "two"], ["sites"]),
        helper.make_node("Slice", ["shape", "zero", "one"], ["batch"]),
        helper.make_node("Concat", ["sites", "batch", "two", "three"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
        outputs=["y"],
    )
    result, weights = folded(model)
    assert [node.op_type for node in result.graph.node] == ["Shape", "Slice", "Slice", "Concat", "Reshape"]
    assert "y:shape" not in weights


def test_what_follows_from_a_fixed_axis_is_a_constant_and_from_a_free_one_is_not():
    model = sized_graph(
        helper.make_node("Slice", ["shape", "two", "three"], ["width"]),
        helper.make_node("Slice", ["shape", "zero", "one"], ["batch"]),
        helper.make_node("Cast", ["width"], ["width_float"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["batch"], ["batch_float"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["x", "width_float"], ["y"]),
        helper.make_node("Div", ["x", "batch_float"], ["z"]),
        outputs=["y", "z"],
    )
    result, weights = folded(model)
    assert weights["width_float"] == [6.0]
    assert "batch_float" not in weights
    assert [node.op_type for node in result.graph.node] == ["Shape", "Slice", "Cast", "Div", "Div"]


def test_a_graph_with_operators_of_one_runtime_is_refused():
    model = sized_graph(helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft"), outputs=["y"])
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(ValueError, match=r"operators must be standard ones, got \['Gelu'\]"):
        cleaned(model.SerializeToString(), PROBES)
