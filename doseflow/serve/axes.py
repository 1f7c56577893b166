"""
The axes of a net's arrays: which of them are free, and how arrays are padded to a fixed size and cut back.

A net names its free axes: `B` is cities (or replicas of one), `S` is sites. Engines of fixed shapes are asked in a
bucket, whose empty places are zeros: a mask of 0 is "no site here".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.errors import EngineFailed
from doseflow.serve.onnx_header import read_header

BATCH_AXIS, SITE_AXIS = "B", "S"

Axes = Mapping[str, tuple[str | int, ...]]
"""By array: the name of each free axis, the length of each other one."""
Sizes = Mapping[str, int]
"""By free axis: its length."""
Arrays = Mapping[str, NDArray[Any]]


def axes_of_model(model: bytes) -> tuple[dict[str, tuple[str | int, ...]], dict[str, tuple[str | int, ...]]]:
    """
    The axes of an ONNX file's inputs and of its outputs.

    Raises
    ------
    ModelWrong
        It is no ONNX file.
    """
    header = read_header(model)
    inputs, outputs = header.inputs, header.outputs
    return {name: spec.axes for name, spec in inputs.items()}, {name: spec.axes for name, spec in outputs.items()}


def sizes_of(arrays: Arrays, axes: Axes) -> dict[str, int]:
    """
    How long every free axis is.

    Raises
    ------
    EngineFailed
        An array is missing or has another shape, or two arrays do not agree.
    """
    sizes: dict[str, int] = {}
    for name, told in axes.items():
        array = arrays.get(name)
        if array is None or array.ndim != len(told):
            found = "nothing" if array is None else f"the shape {array.shape}"
            raise EngineFailed(f"{name}: must have the axes ({', '.join(map(str, told))}), got {found}")
        for axis, length in zip(told, array.shape, strict=True):
            expected = sizes.setdefault(axis, length) if isinstance(axis, str) else axis
            if length != expected:
                raise EngineFailed(f"{name}: axis {axis} must have {expected} places, got {length}")
    return sizes


def shape_in(told: Sequence[str | int], sizes: Sizes) -> tuple[int, ...]:
    """The shape of an array once its free axes have these lengths."""
    return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in told)


def padded(arrays: Arrays, axes: Axes, sizes: Sizes) -> dict[str, NDArray[Any]]:
    """Each array of `axes` with its free axes filled up with zeros."""
    return {name: padded_to(arrays[name], shape_in(told, sizes)) for name, told in axes.items()}


def padded_to(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An array filled up with zeros at the end of each axis; itself where it has the shape."""
    if array.shape == shape:
        return np.ascontiguousarray(array)
    wide = np.zeros(shape, dtype=array.dtype)
    wide[tuple(slice(length) for length in array.shape)] = array
    return wide


def cut(arrays: Arrays, axes: Axes, sizes: Sizes) -> dict[str, NDArray[Any]]:
    """Each array of `axes` without what its free axes have beyond these lengths."""
    return {name: arrays[name][tuple(map(slice, shape_in(told, sizes)))] for name, told in axes.items()}


def least_bucket(sizes: Sizes, buckets: Sequence[Sizes]) -> Sizes | None:
    """The smallest bucket that holds these sizes, None where none does; an axis without a bound holds any length."""
    fitting = [one for one in buckets if all(length <= one.get(axis, length) for axis, length in sizes.items())]
    return min(fitting, key=lambda one: np.prod([int(length) for length in one.values()]), default=None)
