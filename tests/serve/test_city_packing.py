import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from serve_samples import X, toy_model

from doseflow.errors import EngineFailed, ModelWrong
from doseflow.serve.bundle import open_bundle
from doseflow.serve.city_packing import CityPacking
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import PACKAGED_BUNDLES


def city_mean_model(mask_axes=("B", "S")):
    """y = x + the mean of x over the city's own sites."""
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "mask"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "axis"], ["sum"], keepdims=1),
            helper.make_node("ReduceSum", ["mask", "axis"], ["count"], keepdims=1),
            helper.make_node("Div", ["sum", "count"], ["mean"]),
            helper.make_node("Add", ["x", "mean"], ["y"]),
        ],
        "city_mean",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", "S"]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, list(mask_axes)),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["B", "S"])],
        [helper.make_tensor("axis", TensorProto.INT64, [1], [-1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


MEAN = city_mean_model()
ENGINE, PACKING = OnnxEngine(MEAN), CityPacking(MEAN)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 9)), min_size=1, max_size=6), st.integers(0, 2**16))
def test_cities_of_any_size_get_the_answer_that_each_would_get_alone(shapes, seed):
    rng = np.random.default_rng(seed)
    asked = [{"x": rng.normal(size=shape).astype(np.float32), "mask": np.ones(shape, np.float32)} for shape in shapes]
    answers = PACKING.split(ENGINE.run(PACKING.join(asked)), [PACKING.sizes(one) for one in asked])
    for one, answer in zip(asked, answers, strict=True):
        np.testing.assert_allclose(answer["y"], one["x"] + one["x"].mean(axis=1, keepdims=True), atol=1e-5)


def test_a_net_without_a_batch_axis_takes_cities_as_one_row_of_sites():
    bundle = open_bundle(PACKAGED_BUNDLES / "policy")
    engine, packing = OnnxEngine(bundle.model), CityPacking(bundle.model)
    rows = bundle.golden_inputs["features"]
    asked = [{"features": part} for part in (rows[:5], rows[5:6], rows[6:40])]
    joined = packing.join(asked)
    assert joined["features"].shape[0] == 40
    answers = packing.split(engine.run(joined), [packing.sizes(one) for one in asked])
    for one, answer in zip(asked, answers, strict=True):
        np.testing.assert_allclose(answer["values"], engine.run(one)["values"], rtol=1e-4, atol=1e-4)


def test_cost_counts_padding():
    assert PACKING.cost([{"B": 1, "S": 10}, {"B": 2, "S": 64}]) == 3 * 64
    assert CityPacking(toy_model_of_sites()).cost([{"S": 10}, {"S": 64}]) == 74


def toy_model_of_sites():
    return toy_model().replace(b"\x12\x01B", b"\x12\x01S")


def test_a_net_that_shares_an_input_between_cities_is_refused():
    with pytest.raises(ModelWrong, match="mask: must have a batch axis before cities can share a run"):
        CityPacking(city_mean_model(mask_axes=("S",)))


@pytest.mark.parametrize(
    "inputs", [{"x": X}, {"x": X, "mask": X[:2]}, {"x": X, "mask": X.astype(np.float64)}, {"x": X[0], "mask": X}]
)
def test_a_question_that_the_net_cannot_take_is_refused_before_it_meets_others(inputs):
    with pytest.raises(EngineFailed, match="must"):
        PACKING.sizes(inputs)
