"""An exported net held to the net itself, on random inputs of sizes that the export never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from doseflow.export.onnx_file import outputs_of
from doseflow.export.random_inputs import random_inputs
from doseflow.serve.onnx_engine import OnnxEngine

SHAPES = ((1, 70), (3, 20), (6, 9), (29, 2), (1, 1))
"""Replicas and sites that are tried in turn."""
NUM_INPUTS = 1000
"""Replicas that are compared in all; the first to reach it ends the comparison."""


def largest_difference(
    net: nn.Module,
    model: bytes,
    example: Mapping[str, NDArray[Any]],
    outputs: Sequence[str],
    *,
    no_batch: Sequence[str] = (),
    num_inputs: int = NUM_INPUTS,
    seed: int = 1,
) -> float:
    """
    How far ONNX Runtime is off the net at most, in the output's unit or, above 1, as a share of it; NaN if either is.

    Parameters
    ----------
    example, outputs, no_batch
        As the model was exported with; random inputs are drawn from the example's values.
    """
    engine, rng = OnnxEngine(model), np.random.default_rng(seed)
    largest, num_done, turn = 0.0, 0, 0
    while num_done < num_inputs:
        replicas, sites = SHAPES[turn % len(SHAPES)]
        inputs = random_inputs(example, replicas, sites, no_batch, rng)
        answered = engine.run(inputs)
        for name, expected in outputs_of(net, inputs, outputs).items():
            off = np.abs(answered[name] - expected) / np.maximum(np.abs(expected), 1.0)
            largest = float(np.maximum(largest, off.max()))
        num_done, turn = num_done + replicas, turn + 1
    return largest
