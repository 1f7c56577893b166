"""Which operations are computed in FP16 and INT8, and which never."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from export_samples import OUTPUTS, city_inputs  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402

from doseflow.export.eighth_precision import calibration_record, eighth_precision, quantised_products  # noqa: E402
from doseflow.export.exported_net import exported_net  # noqa: E402
from doseflow.export.half_precision import half_precision  # noqa: E402
from doseflow.export.stored_weights import store_small  # noqa: E402
from doseflow.networks.arrival_net import ArrivalNet  # noqa: E402
from doseflow.networks.site_value_net import SiteValueNet  # noqa: E402
from doseflow.serve.onnx_engine import OnnxEngine  # noqa: E402
from doseflow.train.forecaster import ForecasterParams  # noqa: E402


@pytest.fixture(scope="module")
def arrival_net():
    """FP32 file of an arrival net and inputs that it was calibrated with."""
    torch.manual_seed(4)
    net = ArrivalNet(ForecasterParams().shape()).eval()
    example = city_inputs(0, 1, 64, net.shape)
    return exported_net(net, example, OUTPUTS).model, example


def graph_of(model):
    """The graph, its values' types, and the operation that each value comes from."""
    loaded = onnx.shape_inference.infer_shapes(onnx.load_from_string(model), strict_mode=True)
    graph = loaded.graph
    types = {one.name: one.type.tensor_type.elem_type for one in (*graph.value_info, *graph.input, *graph.output)}
    types |= {one.name: one.data_type for one in graph.initializer}
    return graph, types, {name: node for node in graph.node for name in node.output}


def test_products_are_in_fp16_and_islands_and_heads_stay_fp32(arrival_net):
    graph, types, _ = graph_of(half_precision(arrival_net[0]))
    by_kind = {}
    for node in graph.node:
        by_kind.setdefault(node.op_type, set()).update(types[name] for name in node.input[:1])
    assert by_kind["MatMul"] == {TensorProto.FLOAT16}
    assert by_kind["Erf"] == {TensorProto.FLOAT16}
    for island in ("LayerNormalization", "Softmax", "ReduceSum", "Exp", "Softplus", "Sqrt", "Max", "Tanh"):
        # Whole numbers, which count the cities that are asked together, stay what they are.
        assert by_kind[island] - {TensorProto.INT64} == {TensorProto.FLOAT}, island
    assert {types[one.name] for one in (*graph.input, *graph.output)} == {TensorProto.FLOAT, TensorProto.INT64}


def test_no_value_is_cast_there_and_back(arrival_net):
    graph, _, made_by = graph_of(half_precision(arrival_net[0]))
    casts = [node for node in graph.node if node.op_type == "Cast"]
    assert len({(node.input[0], node.attribute[0].i) for node in casts}) == len(casts)
    assert not any(made_by[node.input[0]].op_type == "Cast" for node in casts if node.input[0] in made_by)


def test_the_mask_survives_fp16(arrival_net):
    graph, _, _ = graph_of(half_precision(arrival_net[0]))
    weights = [numpy_helper.to_array(one) for one in graph.initializer]
    assert all(np.isfinite(one).all() for one in weights)
    assert any(one.dtype == np.float16 and (one == -1e4).any() for one in weights)


def test_fp16_is_half_the_file_and_within_a_hundredth(arrival_net):
    model, example = arrival_net
    half = half_precision(model)
    assert len(half) <= 0.55 * len(model)
    said, full = OnnxEngine(half).run(example), OnnxEngine(model).run(example)
    for name in OUTPUTS:
        off = np.abs(said[name] - full[name]) / np.maximum(np.abs(full[name]), 1)
        assert 0 < off.max() <= 0.01


def test_int8_is_around_large_products_alone_symmetric_and_by_channel(arrival_net):
    model, example = arrival_net
    graph, types, made_by = graph_of(eighth_precision(model, [example]))
    weights = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    quantised = [node for node in graph.node if node.op_type == "QuantizeLinear"]
    dequantised = [node for node in graph.node if node.op_type == "DequantizeLinear"]
    assert quantised
    assert all((weights[node.input[2]] == 0).all() for node in (*quantised, *dequantised) if len(node.input) > 2)
    assert all(types[node.input[0]] == TensorProto.INT8 for node in dequantised)
    rounded = {node.output[0] for node in dequantised if node.input[0] not in weights}
    readers = [node for node in graph.node if rounded & set(node.input)]
    assert {node.op_type for node in readers} == {"MatMul"}
    of_weights = {node.input[1]: made_by[node.input[1]] for node in readers}
    for node in of_weights.values():
        assert weights[node.input[0]].size >= 1024
        assert weights[node.input[1]].shape == (weights[node.input[0]].shape[1],)
        assert not node.attribute, "by channel, the standard's own axis"
    # Keys and values are made of the sites and of the city with the same weights.
    net = onnx.load_from_string(model)
    names = set(quantised_products(net))
    assert len(of_weights) == len({node.input[1] for node in net.graph.node if node.name in names})


def test_the_other_weights_of_an_int8_file_are_stored_small_and_computed_in_fp32(arrival_net):
    model, example = arrival_net
    graph, types, made_by = graph_of(eighth_precision(model, [example], keeps_inputs=True))
    weights = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    scales = {node.input[1] for node in graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")}
    large = {name for name, one in weights.items() if one.dtype == np.float32 and one.size >= 256}
    assert large == set(), "no matrix is left in FP32"
    assert max(one.size for name, one in weights.items() if one.dtype == np.float32 and name not in scales) < 32
    assert {types[name] for node in graph.node if node.op_type == "Cast" for name in node.output} == {TensorProto.FLOAT}
    inputs = {one.name for one in graph.input}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[0] in inputs:
            assert types[node.input[0]] == types[node.input[1]] == TensorProto.FLOAT
            stored = made_by[node.input[1]]
            assert weights[stored.input[1]].shape == weights[stored.input[0]].shape[:1], "a scale for each feature"


def test_a_stored_weight_is_within_half_a_step_of_itself():
    rng = np.random.default_rng(0)
    unlike = rng.normal(size=(187, 64)).astype(np.float32) * 10.0 ** rng.integers(-3, 3, (187, 1))
    unlike[5] = 0.0
    kept = {"by_feature": unlike.astype(np.float32), "by_channel": rng.normal(size=(64, 7)).astype(np.float32)}
    kept |= {"vector": rng.normal(size=64).astype(np.float32), "vast": np.full(64, 1e6, np.float32)}
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "by_feature"], ["a"]),
        onnx.helper.make_node("MatMul", ["a", "by_channel"], ["b"]),
        onnx.helper.make_node("Add", ["a", "vector"], ["c"]),
        onnx.helper.make_node("Add", ["a", "vast"], ["d"]),
    ]
    told = [onnx.helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", *kept)]
    weights = [numpy_helper.from_array(array, name) for name, array in kept.items()]
    graph = onnx.helper.make_graph(nodes, "net", told[:1], told[1:], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    store_small(model)
    found = OnnxEngine(model.SerializeToString()).run({"x": np.zeros((1, 187), np.float32)})
    step = np.abs(kept["by_feature"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(found["by_feature"] - kept["by_feature"]) <= 0.501 * step).all()
    step = np.abs(kept["by_channel"]).max(axis=0) / 127
    assert (np.abs(found["by_channel"] - kept["by_channel"]) <= 0.501 * step).all()
    assert 0 < np.abs(found["vector"] - kept["vector"]).max() <= 2.0**-11 * np.abs(kept["vector"]).max()
    np.testing.assert_array_equal(found["vast"], kept["vast"], "FP16 has no such number")


def test_what_reads_an_input_can_be_left_in_fp32(arrival_net):
    net = onnx.load_from_string(arrival_net[0])
    inputs = {one.name for one in net.graph.input}
    all_products = set(quantised_products(net))
    kept = all_products - set(quantised_products(net, keeps_inputs=True))
    assert kept == {node.name for node in net.graph.node if node.name in all_products and node.input[0] in inputs}
    assert kept


def test_int8_is_about_a_quarter_of_a_net_that_is_mostly_products():
    torch.manual_seed(0)
    net = SiteValueNet(207, 28).eval()
    features = np.random.default_rng(0).normal(0, 1, (64, 207)).astype(np.float32)
    exported = exported_net(net, {"features": features}, ("values",), ("features", "values"))
    eighth = eighth_precision(exported.model, [{"features": features}])
    assert len(eighth) <= 0.27 * len(exported.model)
    said, full = OnnxEngine(eighth).run({"features": features}), OnnxEngine(exported.model).run({"features": features})
    assert np.abs(said["values"] - full["values"]).max() <= 0.1 * full["values"].std() + 0.05


def test_the_record_of_calibration_tells_its_samples_apart():
    one, two = {"x": np.zeros((2, 3), np.float32)}, {"x": np.ones((2, 3), np.float32)}
    record = calibration_record([one, two], "made")
    assert (record.num_samples, record.method, record.source) == (2, "minmax", "made")
    assert record == calibration_record([dict(one), dict(two)], "made")
    others = ([two, one], [one], [one, {"x": np.ones((3, 2), np.float32)}], [one, {"y": two["x"]}])
    assert record.data_sha256 not in {calibration_record(other, "made").data_sha256 for other in others}
