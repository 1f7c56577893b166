"""
The axes of a net's arrays, held to what the model, its golden arrays and its caller say.

A net that is fed with two axes swapped answers something, and nothing but this finds it before a city does. Letters: B
replicas, S sites, T periods, F features, M plain expectations, N neighbours, Q quantiles, V values. B and S are free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from doseflow.errors import ModelWrong
from doseflow.serve.manifest import GOLDEN_FILE, Manifest
from doseflow.serve.onnx_header import OnnxHeader, TensorSpec, read_header

FREE_AXES = ("B", "S")
FEATURES = "F"
"""The only letter that may have another size in every array."""


def check_header(model: bytes, file_name: str, manifest: Manifest) -> OnnxHeader:
    """
    Hold a model file to its manifest: operator set, names, and axes.

    Raises
    ------
    ModelWrong
    """
    header = read_header(model, file_name)
    if header.opsets != {"": manifest.opset}:
        sets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in header.opsets.items()) or "none"
        raise ModelWrong(f"{file_name}: its opset must be {manifest.opset} of ai.onnx alone, got {sets}")
    if header.has_external_weights:
        raise ModelWrong(f"{file_name}: all weights must be inside the file")
    for kind, told, found in (
        ("inputs", manifest.inputs, header.inputs),
        ("outputs", manifest.outputs, header.outputs),
    ):
        if set(told) != set(found):
            raise ModelWrong(f"{file_name}: {kind} must be {sorted(told)}, got {sorted(found)}")
        for name, spec in found.items():
            _check_letters(file_name, name, spec, manifest.axes[name].split())
    return header


def check_golden(header: OnnxHeader, arrays: Mapping[str, NDArray[Any]], manifest: Manifest) -> None:
    """
    Hold golden arrays to the types and axes of the model; a letter must have one size wherever it stands.

    Raises
    ------
    ModelWrong
    """
    sizes: dict[str, tuple[int, str]] = {}
    for name, spec in (header.inputs | header.outputs).items():
        array, letters = arrays[name], manifest.axes[name].split()
        if array.dtype != spec.dtype or array.ndim != len(letters):
            raise ModelWrong(
                f"{GOLDEN_FILE}: {name} must be {spec.dtype} with axes {manifest.axes[name]}, got {array.dtype}"
                f" {array.shape}"
            )
        for letter, axis, size in zip(letters, spec.axes, array.shape, strict=True):
            first, where = sizes.setdefault(letter, (size, name)) if letter != FEATURES else (size, name)
            if size != first:
                raise ModelWrong(f"{GOLDEN_FILE}: {letter} must be {first} in {name} as in {where}, got {size}")
            if isinstance(axis, int) and axis != size:
                raise ModelWrong(f"{GOLDEN_FILE}: {letter} of {name} must be {axis} as in the model, got {size}")


def check_caller(input_axes: Mapping[str, str], manifest: Manifest) -> None:
    """
    Hold the manifest to the axes that a caller feeds; it may feed more than the net takes.

    Raises
    ------
    ModelWrong
    """
    for name in manifest.inputs:
        told, expected = manifest.axes[name], input_axes.get(name)
        if told != expected:
            raise ModelWrong(
                f"{manifest.name}: axes of {name} must be {expected or 'none'}, got {told}: the model was made for"
                " other inputs"
            )


def _check_letters(file_name: str, name: str, spec: TensorSpec, letters: list[str]) -> None:
    free = [axis if isinstance(axis, str) else None for axis in spec.axes]
    expected = [letter if letter in FREE_AXES else None for letter in letters]
    if free != expected:
        told = " ".join(map(str, spec.axes))
        raise ModelWrong(f"{file_name}: axes of {name} must be {' '.join(letters)}, got {told}")
