"""
Arithmetic on shapes taken out of a graph, by watching it at several sizes.

An exporter that leaves axes free writes the sizes of everything as sums over what it reads off its inputs, although
most of them never change. Values that depend on the sizes of the inputs alone are looked at with inputs of several
sizes: what is the same in all of them is a constant; a shape to which an array is laid out keeps axes (0) and leaves
one to be found (-1). The result is held to the net at other sizes by `onnx_check`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

Arrays = Mapping[str, NDArray[Any]]


def fold_shapes(model: ModelProto, probes: Sequence[Arrays]) -> ModelProto:
    """
    A graph without the arithmetic that its shapes do not need.

    Parameters
    ----------
    probes
        Inputs of several sizes: every two free axes must differ in one of them, and every free axis between two.
    """
    graph = model.graph
    of_sizes = _of_sizes(graph)
    if not of_sizes:
        return model
    wanted = sorted(of_sizes | {node.input[0] for node in graph.node if node.op_type == "Reshape"})
    seen = [_values(model, probe, wanted) for probe in probes]
    constants = {name: seen[0][name] for name in of_sizes if _is_same([values[name] for values in seen])}
    constants |= _reshapes(graph, seen, constants)
    folded = ModelProto()
    folded.CopyFrom(model)
    kept = [node for node in folded.graph.node if not set(node.output) <= constants.keys()]
    for node in kept:
        if node.op_type == "Reshape" and f"{node.output[0]}:shape" in constants:
            node.input[1] = f"{node.output[0]}:shape"
    del folded.graph.node[:]
    folded.graph.node.extend(kept)
    folded.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    remove_dead(folded.graph)
    return folded


def remove_dead(graph: GraphProto) -> None:
    """Take out nodes and weights that no output needs."""
    needed = {one.name for one in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= set(node.input)
    weights = [one for one in graph.initializer if one.name in needed]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(reversed(kept))
    graph.initializer.extend(weights)


def _of_sizes(graph: GraphProto) -> set[str]:
    """Names of values that follow from the sizes of the inputs alone."""
    fixed = {one.name for one in graph.initializer} | {""}
    found: set[str] = set()
    for node in graph.node:
        if node.op_type == "Shape" or set(node.input) <= fixed | found:
            found |= set(node.output)
    return found


def _values(model: ModelProto, probe: Arrays, names: Sequence[str]) -> Arrays:
    told = ModelProto()
    told.CopyFrom(model)
    del told.graph.output[:]
    told.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    types = {one.name: one for one in (*inferred.graph.value_info, *model.graph.input, *model.graph.output)}
    for one in told.graph.output:
        one.CopyFrom(types[one.name])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(told.SerializeToString(), options, providers=["CPUExecutionProvider"])
    used = {one.name for one in session.get_inputs()}
    values = session.run(None, {name: array for name, array in probe.items() if name in used})
    return dict(zip(names, values, strict=True))


def _reshapes(graph: GraphProto, seen: Sequence[Arrays], constants: Arrays) -> dict[str, NDArray[Any]]:
    """Shapes to lay arrays out to, by the output's name and `:shape`."""
    found: dict[str, NDArray[Any]] = {}
    for node in graph.node:
        if node.op_type == "Reshape" and node.input[1] in seen[0] and node.input[1] not in constants:
            shapes = np.stack([values[node.input[1]] for values in seen])
            before = [values[node.input[0]].shape for values in seen]
            told = [_size(place, shapes[:, place], before) for place in range(shapes.shape[1])]
            if told.count(-1) <= 1:
                found[f"{node.output[0]}:shape"] = np.array(told, dtype=np.int64)
    return found


def _size(place: int, sizes: NDArray[Any], before: Sequence[tuple[int, ...]]) -> int:
    if (sizes == sizes[0]).all():
        return int(sizes[0])
    if all(place < len(shape) and shape[place] == size for shape, size in zip(before, sizes, strict=True)):
        return 0
    return -1


def _is_same(arrays: Sequence[NDArray[Any]]) -> bool:
    return all(one.shape == arrays[0].shape and np.array_equal(one, arrays[0]) for one in arrays)
