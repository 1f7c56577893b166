"""Inputs of any number of replicas and sites, drawn from those of an example; needs no training library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


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
