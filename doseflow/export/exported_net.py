"""A trained net as the file that ships, with the report of what became of its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from doseflow.errors import ModelWrong
from doseflow.export.graph_cleaning import GraphReport, cleaned, graph_report
from doseflow.export.lean_net import lean_net
from doseflow.export.onnx_check import largest_difference
from doseflow.export.onnx_file import onnx_bytes
from doseflow.export.random_inputs import random_inputs
from doseflow.serve.bundle import GOLDEN_TOLERANCE

PROBE_SIZES = ((2, 11), (5, 16), (3, 17))
"""Replicas and sites at which the arithmetic on shapes is watched."""


@dataclass(frozen=True)
class ExportedNet:
    """The FP32 file, how far it is off the net at most, and the report of its graph."""

    model: bytes
    largest_difference: float
    report: GraphReport


def exported_net(
    net: nn.Module, example: Mapping[str, NDArray[Any]], outputs: Sequence[str], no_batch: Sequence[str] = ()
) -> ExportedNet:
    """
    Export a net, clean its graph, and hold it to the net.

    Parameters
    ----------
    example, outputs, no_batch
        As in `onnx_bytes`.

    Raises
    ------
    ModelWrong
        ONNX Runtime does not answer as the net does.
    """
    raw = onnx_bytes(net, example, outputs, no_batch, fold_constants=False)
    rng = np.random.default_rng(0)
    probes = [random_inputs(example, replicas, sites, no_batch, rng) for replicas, sites in PROBE_SIZES]
    model = cleaned(onnx_bytes(lean_net(net), example, outputs, no_batch), probes)
    difference = largest_difference(net, model, example, outputs, no_batch=no_batch)
    if not difference <= GOLDEN_TOLERANCE:
        raise ModelWrong(f"model.onnx: must be within {GOLDEN_TOLERANCE} of the net, got {difference:.2g}")
    return ExportedNet(model, difference, graph_report(raw, model))
