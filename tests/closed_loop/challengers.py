"""Challengers of the site value net, as real bundles: the packaged net with a few nodes more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from doseflow.bootstrap import open_forecaster, open_policy
from doseflow.serve.bundle import write_bundle
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import OpenedModel
from doseflow.settings import Settings

GOLDEN_ROWS = 64
"""Rows of the packaged golden inputs; the small city of these tests never asks about so many."""
FACTS = (
    "name",
    "feature_schema_version",
    "licence",
    "metrics",
    "opset",
    "max_sites",
    "axes",
    "lowest_precision",
)

Nodes = tuple[list[onnx.NodeProto], list[onnx.TensorProto]]


def alike() -> Nodes:
    """The same values, but for a thousandth of them."""
    return [_node("Mul", ["plain", "factor"], "values")], [_constant("factor", 1.001)]


def turned_round() -> Nodes:
    """Who is needed most is worth least."""
    return [_node("Neg", ["plain"], "values")], []


def lazy() -> Nodes:
    """Nobody is worth anything, so nobody is sent anywhere."""
    return [_node("Mul", ["plain", "factor"], "values")], [_constant("factor", 0.0)]


def not_a_number() -> Nodes:
    """Right about as many rows as the golden ones, NaN about fewer."""
    nodes = [
        _node("Shape", ["plain"], "shape"),
        _node("Gather", ["shape", "first"], "rows"),
        _node("Cast", ["rows"], "rows_float", to=TensorProto.FLOAT),
        _node("Sub", ["rows_float", "one_less"], "over"),
        _node("Sqrt", ["over"], "root"),
        _node("Mul", ["plain", "root"], "values"),
    ]
    first = helper.make_tensor("first", TensorProto.INT64, [], [0])
    return nodes, [first, _constant("one_less", GOLDEN_ROWS - 1.0)]


def slow(rounds: int = 6, width: int = 512) -> Nodes:
    """The same values, and much multiplying for nothing."""
    nodes = [
        _node("Slice", ["plain", "starts", "ends", "axes"], "corner"),
        _node("Mul", ["corner", "nothing"], "zero"),
        _node("Add", ["wide", "zero"], "wide_0"),
        *(_node("MatMul", [f"wide_{number}", "wide"], f"wide_{number + 1}") for number in range(rounds)),
        _node("ReduceSum", [f"wide_{rounds}"], "sum", keepdims=0),
        _node("Mul", ["sum", "nothing"], "none"),
        _node("Add", ["plain", "none"], "values"),
    ]
    wide = numpy_helper.from_array(np.full((width, width), 1e-3, dtype=np.float32), "wide")
    return nodes, [
        wide,
        _constant("nothing", 0.0),
        helper.make_tensor("starts", TensorProto.INT64, [2], [0, 0]),
        helper.make_tensor("ends", TensorProto.INT64, [2], [1, 1]),
        helper.make_tensor("axes", TensorProto.INT64, [2], [0, 1]),
    ]


def half_of_it() -> Nodes:
    """Half of the people come."""
    return [_node("Mul", ["plain", "factor"], "arrivals_people")], [_constant("factor", 0.5)]


def challenger(folder: Path, changed: Callable[[], Nodes]) -> Path:
    """Write the bundle of a changed site value net."""
    return _write(folder, changed, open_policy(Settings()), "values")


def forecast_challenger(folder: Path, changed: Callable[[], Nodes]) -> Path:
    """Write the bundle of a changed arrival net."""
    return _write(folder, changed, open_forecaster(Settings()), "arrivals_people")


def _write(folder: Path, changed: Callable[[], Nodes], opened: OpenedModel, output: str) -> Path:
    """The golden outputs are truly its own."""
    packaged = opened.bundle
    model = onnx.load_model_from_string(packaged.model)
    for node in model.graph.node:
        for index, name in enumerate(node.output):
            if name == output:
                node.output[index] = "plain"
    nodes, constants = changed()
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(constants)
    data = model.SerializeToString()
    golden = OnnxEngine(data).run(packaged.golden_inputs)
    told = packaged.manifest.model_dump(mode="json")
    facts = {name: told[name] for name in FACTS} | {
        "origin": {"command": f"pytest: {changed.__name__}", "seed": 1, "doseflow_version": "0"},
        "data": told["data"],
    }
    write_bundle(folder, data, packaged.golden_inputs, golden, facts)
    return folder


def _node(kind: str, inputs: list[str], output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, [output], **attributes)


def _constant(name: str, value: float) -> onnx.TensorProto:
    return helper.make_tensor(name, TensorProto.FLOAT, [], [value])
