"""
An exported graph made smaller without becoming less portable: standard operators of the same opset alone.

Constants become weights, arithmetic on shapes goes (`shape_folding`), and what ONNX Runtime's offline optimiser can do
at its basic level is done: constants folded, what does nothing or is there twice taken out. What engines fuse beyond
that they fuse when they load, each into operators of its own.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, numpy_helper

from doseflow.export.shape_folding import fold_shapes, remove_dead

_LEVELS = {
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
}


@dataclass(frozen=True)
class GraphReport:
    """
    Operations of a net's graph: raw, as torch traces it with nothing folded; as it ships; and as an engine runs it.

    `Constant` nodes are not counted: they are weights in another place. `fused` counts the operators that the engine
    made of several, by name.
    """

    raw_nodes: int
    shipped_nodes: int
    run_nodes: int
    fused: dict[str, int]

    @property
    def reduction_share(self) -> float:
        """Share of the raw operations that an engine does not run."""
        return 1 - self.run_nodes / self.raw_nodes


def cleaned(model: bytes, probes: Sequence[Mapping[str, NDArray[Any]]]) -> bytes:
    """
    The graph without what it does not need; `probes` are inputs of several sizes.

    Raises
    ------
    ValueError
        An operator is not of the standard set.
    """
    plain = onnx.shape_inference.infer_shapes(_constants_as_weights(onnx.load_from_string(model)))
    folded = fold_shapes(plain, probes)
    optimised = optimised_by_runtime(folded.SerializeToString(), "basic")
    named = with_short_names(_standard_only(optimised, plain))
    onnx.checker.check_model(named, full_check=True)
    return bytes(named.SerializeToString())


def optimised_by_runtime(model: bytes, level: str, provider: str = "CPUExecutionProvider") -> ModelProto:
    """What ONNX Runtime makes of a graph before it runs it, at the level `basic` or `extended`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "optimised.onnx"
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = _LEVELS[level]
        options.optimized_model_filepath = str(file)
        options.log_severity_level = 3
        onnxruntime.InferenceSession(model, options, providers=[provider])
        return onnx.load(file)


def graph_report(raw: bytes, shipped: bytes) -> GraphReport:
    """Operations of the raw export and of what became of it."""
    run = optimised_by_runtime(shipped, "extended")
    fused = Counter(node.op_type for node in run.graph.node if node.domain not in ("", "ai.onnx"))
    return GraphReport(
        num_nodes(onnx.load_from_string(raw)), num_nodes(onnx.load_from_string(shipped)), num_nodes(run), dict(fused)
    )


def num_nodes(model: ModelProto) -> int:
    """Operations of a graph, without its `Constant` nodes."""
    return sum(node.op_type != "Constant" for node in model.graph.node)


def with_short_names(model: ModelProto) -> ModelProto:
    """Names by number, weights that are equal once, no notes: half the file of a small INT8 net would be names."""
    graph = model.graph
    outer = {one.name for one in (*graph.input, *graph.output)}
    names = {"": "", **{name: name for name in outer}}
    _merge_equal_weights(graph, names)
    for number, node in enumerate(graph.node):
        node.name, node.doc_string = f"{node.op_type}_{number}", ""
        node.input[:] = [names.setdefault(name, f"v{len(names)}") for name in node.input]
        node.output[:] = [names.setdefault(name, f"v{len(names)}") for name in node.output]
    for weight in graph.initializer:
        weight.name = names[weight.name]
    del graph.value_info[:]
    graph.name, graph.doc_string, model.doc_string = "net", "", ""
    remove_dead(graph)
    return model


def _constants_as_weights(model: ModelProto) -> ModelProto:
    graph, kept = model.graph, []
    renamed: dict[str, str] = {}
    for node in graph.node:
        inputs = [renamed.get(name, name) for name in node.input]
        node.input[:] = inputs
        told = {one.name: one for one in node.attribute}
        if node.op_type == "Constant" and "value" in told:
            told["value"].t.name = node.output[0]
            graph.initializer.append(told["value"].t)
        elif node.op_type == "Identity" and node.output[0] not in {one.name for one in graph.output}:
            renamed[node.output[0]] = inputs[0]
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    return model


def _standard_only(model: ModelProto, before: ModelProto) -> ModelProto:
    foreign = {node.op_type for node in model.graph.node if node.domain not in ("", "ai.onnx")}
    if foreign:
        raise ValueError(f"operators must be standard ones, got {sorted(foreign)}")
    del model.opset_import[:], model.metadata_props[:]
    model.opset_import.extend(before.opset_import)
    model.ir_version = before.ir_version
    model.producer_name, model.producer_version = "doseflow", ""
    for kind in ("input", "output"):
        # The optimiser writes names of its own for axes.
        told = getattr(model.graph, kind)
        del told[:]
        told.extend(getattr(before.graph, kind))
    return model


def _merge_equal_weights(graph: GraphProto, names: dict[str, str]) -> None:
    kept: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    weights = list(graph.initializer)
    del graph.initializer[:]
    for weight in weights:
        array: NDArray[np.generic] = numpy_helper.to_array(weight)
        key = (str(array.dtype), array.shape, array.tobytes())
        if key in kept:
            names[weight.name] = kept[key]
            continue
        kept[key] = names[weight.name] = f"w{len(kept)}"
        graph.initializer.append(numpy_helper.from_array(array, weight.name))
