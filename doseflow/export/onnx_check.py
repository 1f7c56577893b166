"""An exported net held to the net itself, on random inputs of sizes that the export never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from doseflow.export.onnx_file import outputs_of
from doseflow.serve.onnx_engine import OnnxEngine

SHAPES = ((1, 70), (3, 20), (6, 9), (29, 2), (1, 1))
"""Replicas and sites that are tried in turn."""
NUM_INPUTS = 1000
"""Replicas that are compared in all; the first to reach it ends the comparison."""

Arrays = dict[str, NDArray[Any]]


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


def random_inputs(
    example: Mapping[str, NDArray[Any]], replicas: int, sites: int, no_batch: Sequence[str], rng: np.random.Generator
) -> Arrays:
    """
    Inputs for so many replicas and sites.

    Each channel, a place of the last axis beyond B and S, is drawn from the values it has in the example and scaled by
    a half to twice; one that is only 0 or 1 stays so. Whole numbers are positions of sites.
    """
    inputs: Arrays = {}
    for name, array in example.items():
        axes = 1 if name in no_batch else 2
        shape = ((sites,) if name in no_batch else (replicas, sites)) + array.shape[axes:]
        if np.issubdtype(array.dtype, np.integer):
            inputs[name] = rng.integers(0, sites, shape).astype(array.dtype)
            continue
        channels = array.reshape(-1, array.shape[-1] if array.ndim > axes else 1)
        inputs[name] = _drawn(channels, int(np.prod(shape)), rng).reshape(shape).astype(array.dtype)
    return inputs


def _drawn(channels: NDArray[Any], num_values: int, rng: np.random.Generator) -> NDArray[Any]:
    num_rows, num_channels = channels.shape
    rows = rng.integers(0, num_rows, (num_values // num_channels, num_channels))
    is_flag = ((channels == 0) | (channels == 1)).all(axis=0)
    factor = np.where(is_flag, 1.0, rng.uniform(0.5, 2.0, rows.shape))
    drawn: NDArray[Any] = np.take_along_axis(channels, rows, axis=0) * factor
    return drawn
