"""A net with random weights and its ONNX file, inputs of cities, and what a graph may hold."""

from __future__ import annotations

import numpy as np
import pytest

OUTPUTS = ("arrivals_people", "doses_rest_of_day")
PLAIN = {
    *("Add", "Sub", "Mul", "Div", "Neg", "Pow", "Sqrt", "Exp", "Tanh", "Erf", "Softplus", "Sigmoid", "Max", "Min"),
    *("MatMul", "Gemm", "Softmax", "ReduceSum", "ReduceMean", "LayerNormalization", "LSTM", "Clip", "Where", "Equal"),
    *("Reshape", "Transpose", "Unsqueeze", "Squeeze", "Concat", "Split", "Slice", "Gather", "Expand", "Pad", "Shape"),
    *("Constant", "ConstantOfShape", "Cast", "Identity", "Mod", "Flatten", "Relu", "CumSum"),
}
"""Operators that every engine has; none whose output's shape follows from values, none that scatters or branches."""


def city_inputs(seed: int, replicas: int, sites: int, shape) -> dict[str, np.ndarray]:
    """Arrays of a city as the net takes them, with padding, gaps and closed periods."""
    rng = np.random.default_rng(seed)
    lead, periods = (replicas, sites), 24

    def chance(share, *size):
        return (rng.random(size) < share).astype(np.float32)

    ahead = rng.normal(0, 1, (*lead, periods, shape.ahead_channels))
    ahead[..., 5] = chance(0.8, *lead, periods)
    inputs = {
        "recent": rng.normal(0, 1.5, (*lead, periods, shape.recent_channels)),
        "ahead": ahead,
        "candidates": rng.gamma(1, 5, (*lead, periods, shape.candidates)),
        "candidates_known": chance(0.7, *lead, periods, shape.candidates),
        "site": rng.normal(0, 1, (*lead, shape.site_features)),
        "rest_doses": rng.gamma(1, 200, lead),
        "site_mask": chance(0.8, *lead),
        "neighbour_idx": rng.integers(0, sites, (*lead, 8)),
        "neighbour_travel": rng.random((*lead, 8)),
        "neighbour_known": chance(0.8, *lead, 8),
    }
    return {name: array if name == "neighbour_idx" else array.astype(np.float32) for name, array in inputs.items()}


def exported_net(encoder: str):
    """A net of the shipped sizes whose weights are not those of a beginning, its ONNX file, and its example."""
    torch = pytest.importorskip("torch")
    from doseflow.export.onnx_file import onnx_bytes
    from doseflow.networks.arrival_net import ArrivalNet
    from doseflow.train.forecaster import ForecasterParams

    torch.manual_seed(4)
    net = ArrivalNet(ForecasterParams(encoder=encoder).shape()).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.05)
    example = city_inputs(0, 3, 64, net.shape)
    return net, onnx_bytes(net, example, OUTPUTS), example


def all_nodes(graph):
    """Nodes of a graph and of those inside it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from all_nodes(inner)


def plain_only(model_bytes, also=frozenset()):
    """Hold a file to opset 18 and the plain operators, and those given too."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(model_bytes)
    onnx.checker.check_model(model, full_check=True)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 18)]
    assert not model.functions
    nodes = list(all_nodes(model.graph))
    assert {node.domain for node in nodes} == {""}
    assert {node.op_type for node in nodes} - PLAIN - set(also) == set()
