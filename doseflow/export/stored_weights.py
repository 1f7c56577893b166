"""
Weights of an INT8 net that no product in INT8 has: kept small in the file, and FP32 again before anything is computed.

A matrix is stored in INT8, by feature where it multiplies an input of the net, whose features have unlike scales, and
else along its shorter axis; biases and the scales of layer norms are stored in FP16. An engine makes them FP32 when it
loads the file, so that they cost no time; nothing that is computed is rounded, only these numbers themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

LEAST_MATRIX, LEAST_VECTOR = 256, 32
"""Smaller ones stay as they are: what makes them FP32 again would cost more than they save."""
MOST_HALF_OFF = 1e-3
"""Of the largest number of a vector; one that FP16 keeps worse stays as it is."""
_PAIRS = ("QuantizeLinear", "DequantizeLinear")
_LARGEST = 127


def store_small(model: ModelProto) -> None:
    """Replace FP32 weights by smaller ones, and by what makes them FP32 again."""
    graph = model.graph
    readers = _readers(graph)
    # Engines want scales as they are when they read the pairs.
    scales = {node.input[1] for node in graph.node if node.op_type in _PAIRS}
    inputs = {one.name for one in graph.input}
    kept: list[TensorProto] = []
    widening: list[NodeProto] = []
    for weight in graph.initializer:
        stored = None
        if weight.data_type == TensorProto.FLOAT and weight.name not in scales:
            stored = _stored(weight, any(node.input[0] in inputs for node in readers[weight.name]))
        if stored is None:
            kept.append(weight)
            continue
        tensors, node = stored
        kept.extend(tensors)
        widening.append(node)
    nodes = [*widening, *graph.node]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)


def _readers(graph: GraphProto) -> dict[str, list[NodeProto]]:
    readers: dict[str, list[NodeProto]] = {one.name: [] for one in graph.initializer}
    for node in graph.node:
        for name in node.input:
            if name in readers:
                readers[name].append(node)
    return readers


def _stored(weight: TensorProto, reads_input: bool) -> tuple[list[TensorProto], NodeProto] | None:
    """Small tensors and the operation that makes a value of the weight's name of them; None where it stays."""
    array, name = numpy_helper.to_array(weight), weight.name
    if array.ndim == 2 and array.size >= LEAST_MATRIX:
        axis = 0 if reads_input else int(np.argmin(array.shape))
        eighths, scale = _eighths(array, axis)
        tensors = [numpy_helper.from_array(eighths, f"{name}_eighth"), numpy_helper.from_array(scale, f"{name}_scale")]
        return tensors, helper.make_node("DequantizeLinear", [one.name for one in tensors], [name], axis=axis)
    if array.size < LEAST_VECTOR or not _survives_half(array):
        return None
    half = numpy_helper.from_array(array.astype(np.float16), f"{name}_half")
    return [half], helper.make_node("Cast", [half.name], [name], to=TensorProto.FLOAT)


def _eighths(array: NDArray[Any], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """INT8 numbers and the scale of each place along an axis; symmetric."""
    largest = np.abs(array).max(axis=1 - axis, keepdims=True)
    scale = np.where(largest > 0, largest / _LARGEST, 1.0).astype(np.float32)
    return np.clip(np.rint(array / scale), -_LARGEST, _LARGEST).astype(np.int8), scale.ravel()


def _survives_half(array: NDArray[Any]) -> bool:
    with np.errstate(over="ignore"):
        off = np.abs(array.astype(np.float16).astype(np.float32) - array)
    return bool(off.max() <= MOST_HALF_OFF * np.abs(array).max())
