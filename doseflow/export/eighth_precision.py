"""
A net in INT8 by quantise and dequantise pairs around its matrix products, static, symmetric, weights by channel.

Only products with a large matrix of weights: masks, indices, layer norms, softmax, biases and products of two
activations are computed as before; their weights are only stored smaller (`stored_weights`). Symmetric, since engines
that read such pairs refuse a zero point that is not 0. The way is that of Jacob et al. 2018
(doi:10.1109/CVPR.2018.00286); the ranges come from inputs that the net was shown.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto
from onnxruntime.quantization import (  # type: ignore[import-untyped]
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)

from doseflow.export.graph_cleaning import with_short_names
from doseflow.export.stored_weights import store_small
from doseflow.serve.variant import Calibration

LEAST_WEIGHTS = 1024
"""Products with a smaller matrix stay in FP32: their pairs would cost more than they save."""
METHOD = "minmax"
_PRODUCTS = ("MatMul", "Gemm")
_PAIRS = ("QuantizeLinear", "DequantizeLinear")
_STANDARD_AXIS = 1

Arrays = Mapping[str, NDArray[Any]]


def eighth_precision(model: bytes, samples: Sequence[Arrays], *, keeps_inputs: bool = False) -> bytes:
    """
    The net with its large products in INT8.

    Parameters
    ----------
    samples
        Inputs from which the ranges of activations are taken.
    keeps_inputs
        Compute products that read an input of the net in FP32: features of unlike scales share one range badly.
    """
    net = onnx.load_from_string(model)
    logging.getLogger().setLevel(max(logging.getLogger().level, logging.ERROR))
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "fp32.onnx", Path(folder) / "int8.onnx"
        before.write_bytes(model)
        quantize_static(
            before,
            after,
            _Samples(samples),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=list(_PRODUCTS),
            nodes_to_quantize=quantised_products(net, keeps_inputs=keeps_inputs),
            per_channel=True,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
            extra_options={"ActivationSymmetric": True, "WeightSymmetric": True, "QuantizeBias": False},
        )
        quantised = onnx.load(after)
    return _plain(quantised, net)


def quantised_products(net: ModelProto, *, keeps_inputs: bool = False) -> list[str]:
    """Names of the products that become INT8."""
    kept = {one.name for one in net.graph.input} if keeps_inputs else set()
    large = {one.name for one in net.graph.initializer if len(one.dims) == 2 and np.prod(one.dims) >= LEAST_WEIGHTS}
    return [
        node.name
        for node in net.graph.node
        if node.op_type in _PRODUCTS and node.input[1] in large and node.input[0] not in kept
    ]


def calibration_record(samples: Sequence[Arrays], source: str) -> Calibration:
    """What the manifest says of the samples."""
    digest = hashlib.sha256()
    for sample in samples:
        for name, array in sample.items():
            digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return Calibration(method=METHOD, num_samples=len(samples), source=source, data_sha256=digest.hexdigest())


class _Samples(CalibrationDataReader):  # type: ignore[misc]
    """Samples one after the other, as the quantiser asks for them."""

    def __init__(self, samples: Sequence[Arrays]) -> None:
        self._left: Iterator[Arrays] = iter(samples)

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        sample = next(self._left, None)
        return None if sample is None else dict(sample)


def _keep_for_others(model: ModelProto) -> None:
    """Give every reader but the products the value itself: the quantiser rounds it for all, sums and norms too."""
    made_by = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        if node.op_type in (*_PRODUCTS, "DequantizeLinear"):
            continue
        for place, name in enumerate(node.input):
            rounded = made_by.get(name)
            if rounded is not None and rounded.op_type == "DequantizeLinear":
                node.input[place] = made_by[rounded.input[0]].input[0]


def _leave_out_what_goes_without_saying(model: ModelProto) -> None:
    """Names of operations, which nobody reads, and axes that are the standard's own: a fiftieth of the file."""
    for node in model.graph.node:
        node.name = ""
        if node.op_type in _PAIRS:
            told = [one for one in node.attribute if not (one.name == "axis" and one.i == _STANDARD_AXIS)]
            del node.attribute[:]
            node.attribute.extend(told)


def _plain(model: ModelProto, before: ModelProto) -> bytes:
    """The quantised graph with the header of the one before, and without notes."""
    _keep_for_others(model)
    store_small(model)
    with_short_names(model)
    _leave_out_what_goes_without_saying(model)
    del model.opset_import[:], model.metadata_props[:]
    model.opset_import.extend(before.opset_import)
    model.ir_version, model.producer_name, model.producer_version = before.ir_version, before.producer_name, ""
    model.graph.name = before.graph.name
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())
