"""
A net in FP16 with islands that stay FP32; the precision stands in the graph as casts, not in an engine's flags.

Inputs and outputs stay float32. Islands: what sums or scales many values (layer norms, means, softmax), what has no
bound (exponentials, logarithms, roots), and the heads, that is all that no matrix product follows: counts of people and
doses run into thousands, of which FP16 keeps three digits. Masks are -1e4, which FP16 holds.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from doseflow.export.graph_cleaning import with_short_names

ISLANDS = frozenset(
    {"LayerNormalization", "Softmax", "ReduceSum", "ReduceMean", "Exp", "Log", "Softplus", "Sqrt", "Pow"}
)
PRODUCTS = frozenset({"MatMul", "Gemm"})


def half_precision(model: bytes) -> bytes:
    """The net with its matrix products, and what lies between them, in FP16."""
    net = onnx.shape_inference.infer_shapes(onnx.load_from_string(model), strict_mode=True)
    halved = with_short_names(_Halved(net).model)
    onnx.checker.check_model(halved, full_check=True)
    return bytes(halved.SerializeToString())


def in_half(model: ModelProto) -> list[NodeProto]:
    """The operations that are computed in FP16, in their order."""
    floats = _float_values(model)
    before_product = _before_products(model)
    return [
        node
        for node in model.graph.node
        if node.output[0] in floats
        and node.op_type not in ISLANDS
        and (node.op_type in PRODUCTS or node.output[0] in before_product)
    ]


class _Halved:
    """The graph under construction: each value in the types that somebody reads, cast once."""

    def __init__(self, net: ModelProto) -> None:
        self._floats = _float_values(net)
        self._weights = {one.name: one for one in net.graph.initializer}
        self._half = {output for node in in_half(net) for output in node.output if output in self._floats}
        self._nodes: list[NodeProto] = []
        self._cast: dict[tuple[str, bool], str] = {}
        self._new_weights: dict[str, TensorProto] = {}
        self.model = ModelProto()
        self.model.CopyFrom(net)
        outer = {one.name for one in net.graph.output}
        for node in net.graph.node:
            self._add(node, outer)
        graph = self.model.graph
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(self._nodes)
        graph.initializer.extend(self._new_weights.values())

    def _add(self, node: NodeProto, outer: set[str]) -> None:
        is_half = any(output in self._half for output in node.output)
        copy = NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [self._as(name, is_half) for name in node.input]
        self._nodes.append(copy)
        for place, output in enumerate(node.output):
            if is_half and output in outer:
                copy.output[place] = f"{output}_half"
                self._nodes.append(_cast(f"{output}_half", output, TensorProto.FLOAT))

    def _as(self, name: str, is_half: bool) -> str:
        """Name of a value in the type that a reader wants."""
        if name in self._weights:
            return self._weight(name, is_half)
        if name not in self._floats or (name in self._half) == is_half:
            return name
        key = (name, is_half)
        if key not in self._cast:
            self._cast[key] = f"{name}_{'half' if is_half else 'full'}"
            kind = TensorProto.FLOAT16 if is_half else TensorProto.FLOAT
            self._nodes.append(_cast(name, self._cast[key], kind))
        return self._cast[key]

    def _weight(self, name: str, is_half: bool) -> str:
        weight = self._weights[name]
        if is_half and weight.data_type == TensorProto.FLOAT:
            half = f"{name}_half"
            array = numpy_helper.to_array(weight).astype(np.float16)
            self._new_weights.setdefault(half, numpy_helper.from_array(array, half))
            return half
        self._new_weights.setdefault(name, weight)
        return name


def _cast(name: str, result: str, kind: int) -> NodeProto:
    return helper.make_node("Cast", [name], [result], f"Cast_{result}", to=kind)


def _float_values(model: ModelProto) -> set[str]:
    graph = model.graph
    told = (*graph.value_info, *graph.input, *graph.output)
    floats = {one.name for one in told if one.type.tensor_type.elem_type == TensorProto.FLOAT}
    return floats | {one.name for one in graph.initializer if one.data_type == TensorProto.FLOAT}


def _before_products(model: ModelProto) -> set[str]:
    """Names of values that some matrix product needs."""
    needed: set[str] = set()
    for node in reversed(model.graph.node):
        if node.op_type in PRODUCTS or needed & set(node.output):
            needed |= set(node.input)
    return needed
