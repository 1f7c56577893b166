"""Small real models and their bundles: y = relu(x + 1) with z the sum of y over its last axis, and an arrival net."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import orjson
from onnx import TensorProto, helper

from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.forecast.net_inputs import NET_INPUTS_VERSION
from doseflow.serve.bundle import write_bundle

FACTS: dict[str, Any] = {
    "name": "toy",
    "feature_schema_version": 7,
    "licence": "Apache-2.0",
    "origin": {"command": "pytest", "seed": 1, "doseflow_version": "0"},
    "data": {"source": "none", "num_days": 1},
    "metrics": {"weighted_quantile_loss": 0.5},
    "opset": 18,
    "max_sites": 4096,
    "axes": {"x": "B F", "y": "B F", "z": "B"},
}


def toy_model(added: float = 1.0, opset: int = 18, shape: Sequence[str | int] = ("B", 3)) -> bytes:
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "added"], ["sum"]),
            helper.make_node("Relu", ["sum"], ["y"]),
            helper.make_node("ReduceSum", ["y", "axis"], ["z"], keepdims=0),
        ],
        "toy",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, list(shape)),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [shape[0]]),
        ],
        [
            helper.make_tensor("added", TensorProto.FLOAT, [1], [added]),
            helper.make_tensor("axis", TensorProto.INT64, [1], [-1]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


X = np.array([[-3, 0, 2], [5, 6, 7], [100, -100, 0.25]], dtype=np.float32)
Y = np.maximum(X + 1, 0)


def toy_bundle(
    folder: Path, model: bytes | None = None, outputs: dict[str, np.ndarray] | None = None, **facts: Any
) -> Path:
    """Write the bundle into a folder."""
    write_bundle(folder, model or toy_model(), {"x": X}, outputs or {"y": Y, "z": Y.sum(axis=1)}, FACTS | facts)
    return folder


def sealed(folder: Path, name: str, data: bytes) -> None:
    """Put other bytes in a file, with the digest that belongs to them."""
    (folder / name).write_bytes(data)
    document = orjson.loads((folder / "manifest.json").read_bytes())
    document["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "num_bytes": len(data)}
    (folder / "manifest.json").write_bytes(orjson.dumps(document))


SPREAD = np.array([0.5, 0.75, 1.0, 1.5, 2.0], dtype=np.float32)
"""Quantiles of the toy arrival net over the largest of its plain expectations."""


def toy_arrival_net() -> bytes:
    """A net that reads two of the real arrival net's inputs and gives its outputs."""
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMax", ["candidates", "last"], ["mean"], keepdims=1),
            helper.make_node("Mul", ["mean", "spread"], ["arrivals_people"]),
            helper.make_node("Unsqueeze", ["rest_doses", "last"], ["rest"]),
            helper.make_node("Mul", ["rest", "spread"], ["doses_rest_of_day"]),
        ],
        "toy_arrivals",
        [
            helper.make_tensor_value_info("candidates", TensorProto.FLOAT, ["B", "S", HORIZON_PERIODS, 3]),
            helper.make_tensor_value_info("rest_doses", TensorProto.FLOAT, ["B", "S"]),
        ],
        [
            helper.make_tensor_value_info("arrivals_people", TensorProto.FLOAT, ["B", "S", HORIZON_PERIODS, 5]),
            helper.make_tensor_value_info("doses_rest_of_day", TensorProto.FLOAT, ["B", "S", 5]),
        ],
        [
            helper.make_tensor("last", TensorProto.INT64, [1], [-1]),
            helper.make_tensor("spread", TensorProto.FLOAT, [5], SPREAD),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def arrival_bundle(folder: Path, **facts: Any) -> Path:
    """A bundle of the toy arrival net, for the inputs that this version makes."""
    candidates = np.random.default_rng(1).gamma(2.0, 3.0, (2, 3, HORIZON_PERIODS, 3)).astype(np.float32)
    rest_doses = candidates.sum(axis=(2, 3))
    golden = {
        "arrivals_people": candidates.max(axis=-1, keepdims=True) * SPREAD,
        "doses_rest_of_day": rest_doses[..., None] * SPREAD,
    }
    axes = {
        "candidates": "B S T M",
        "rest_doses": "B S",
        "arrivals_people": "B S T Q",
        "doses_rest_of_day": "B S Q",
    }
    told = FACTS | {"name": "toy_arrivals", "feature_schema_version": NET_INPUTS_VERSION, "axes": axes} | facts
    write_bundle(folder, toy_arrival_net(), {"candidates": candidates, "rest_doses": rest_doses}, golden, told)
    return folder
