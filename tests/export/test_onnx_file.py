"""What is exported answers as the net does, whatever the size of the city, with plain operators only."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from export_samples import OUTPUTS, city_inputs, plain_only  # noqa: E402

from doseflow.export.onnx_check import largest_difference  # noqa: E402
from doseflow.export.onnx_file import outputs_of  # noqa: E402
from doseflow.export.random_inputs import random_inputs  # noqa: E402
from doseflow.networks.arrival_net import input_names  # noqa: E402
from doseflow.serve.onnx_engine import OnnxEngine  # noqa: E402

SIZES = ((400, 1), (300, 3), (200, 12), (90, 16), (10, 130))


def test_a_thousand_random_inputs_of_other_sizes_give_the_answers_of_the_net(exported):
    net, model, _ = exported
    engine = OnnxEngine(model)
    assert sum(replicas for replicas, _ in SIZES) == 1000
    for seed, (replicas, sites) in enumerate(SIZES):
        inputs = city_inputs(seed + 1, replicas, sites, net.shape)
        answered = engine.run(inputs)
        for name, expected in outputs_of(net, inputs, OUTPUTS).items():
            assert answered[name].shape == expected.shape
            assert (np.abs(answered[name] - expected) / np.maximum(np.abs(expected), 1)).max() <= 1e-4


def test_the_graph_has_plain_operators_of_opset_18_only(exported):
    plain_only(exported[1])


def test_replicas_and_sites_are_free_and_all_else_is_fixed(exported):
    net, model, example = exported
    graph = onnx.load_from_string(model).graph
    told = {
        one.name: [axis.dim_param or axis.dim_value for axis in one.type.tensor_type.shape.dim] for one in graph.input
    }
    assert tuple(told) == tuple(input_names())
    for name, axes in told.items():
        assert axes == ["B", "S", *example[name].shape[2:]]
    assert [one.name for one in graph.output] == list(OUTPUTS)
    # Axes that sizes cannot be read off in the graph itself are those of the net.
    said = OnnxEngine(model).run(city_inputs(1, 2, 5, net.shape))
    assert said["arrivals_people"].shape == (2, 5, 24, 5)


def test_the_comparison_finds_no_difference_in_what_was_exported(exported):
    net, model, example = exported
    assert largest_difference(net, model, example, OUTPUTS, num_inputs=200) <= 1e-4


def test_the_comparison_finds_one_weight_that_is_a_little_off(exported):
    net, model, example = exported
    with torch.no_grad():
        net.decoder[1].bias[3] += 0.01
    try:
        assert largest_difference(net, model, example, OUTPUTS, num_inputs=40) > 1e-4
    finally:
        with torch.no_grad():
            net.decoder[1].bias[3] -= 0.01


def test_a_net_that_says_nan_is_no_small_difference(exported):
    net, model, example = exported
    broken = example | {"rest_doses": np.full_like(example["rest_doses"], np.nan)}
    assert np.isnan(largest_difference(net, model, broken, OUTPUTS, num_inputs=1))


def test_random_inputs_keep_flags_and_channels_and_point_at_sites_that_are_there():
    rng = np.random.default_rng(0)
    example = {
        "mixed": np.stack([np.array([[0.0, 1.0, 1.0]]), np.array([[-3.0, -2.0, -1.0]])], axis=-1),
        "level": np.array([[5.0, 6.0, 7.0]]),
        "place": np.array([[0, 1], [2, 0], [1, 1]]),
    }
    drawn = random_inputs(example, 40, 7, ("place",), rng)
    assert {name: array.shape for name, array in drawn.items()} == {
        "mixed": (40, 7, 2),
        "level": (40, 7),
        "place": (7, 2),
    }
    assert set(np.unique(drawn["mixed"][..., 0])) == {0.0, 1.0}
    assert (drawn["mixed"][..., 1] < -0.4).all()
    assert (drawn["mixed"][..., 1] > -6.1).all()
    assert (drawn["level"] >= 2.5).all()
    assert drawn["level"].std() > 0
    assert set(np.unique(drawn["place"])) <= set(range(7))
    assert drawn["place"].max() > 2
