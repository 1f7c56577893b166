"""
A model bundle: a folder with the net in one or more precisions, golden inputs and outputs, and a manifest that says
what they are.

Nothing of a bundle is used before its digest is checked, and what was checked is what is used: files are read once.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from doseflow.errors import ModelWrong
from doseflow.ports import Engine
from doseflow.serve.bundle_axes import check_caller, check_golden, check_header
from doseflow.serve.golden_difference import largest_difference, why_off
from doseflow.serve.manifest import (
    FORMAT_VERSION,
    GOLDEN_FILE,
    MANIFEST_FILE,
    MODEL_FILE,
    WEIGHTS_FILE,
    Manifest,
    read_manifest,
)
from doseflow.serve.precision import MODEL_FILES, WIDEST_TOLERANCE, Precision
from doseflow.serve.variant import Variant

MAX_MANIFEST_BYTES = 256 * 1024
MAX_FILE_BYTES = 64 * 2**20
"""No model of this project comes near it; a larger file is not read at all."""
MAX_GOLDEN_BYTES = 256 * 2**20
"""Of all golden arrays together, unpacked."""
GOLDEN_TOLERANCE = WIDEST_TOLERANCE["fp32"]
"""Largest difference of FP32 to a golden output, in its unit or, above 1, as a share of it."""
_IN, _OUT = "in_", "out_"

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Bundle:
    """A bundle whose digests hold; `models` has the file of every precision."""

    folder: Path
    manifest: Manifest
    models: Mapping[Precision, bytes]
    golden_inputs: Arrays
    golden_outputs: Arrays

    @property
    def model(self) -> bytes:
        """The FP32 net, which every bundle has."""
        return self.models["fp32"]

    def model_of(self, precision: Precision) -> bytes:
        """
        The net in a precision.

        Raises
        ------
        ModelWrong
            The bundle has none of it.
        """
        return self.models[self.manifest.variant(precision).precision]


def open_bundle(
    folder: Path, *, feature_schema_version: int | None = None, input_axes: Mapping[str, str] | None = None
) -> Bundle:
    """
    Read a bundle and check it.

    Parameters
    ----------
    feature_schema_version
        Version of the arrays that the caller would feed; None does not look.
    input_axes
        Axis letters of the arrays that the caller would feed, by name, such as "B S T F"; None does not look.

    Raises
    ------
    ModelWrong
        A file is missing, too large or not the one of the manifest, or the model is of another version.
    """
    manifest = read_manifest(_bytes_of(folder / MANIFEST_FILE, MAX_MANIFEST_BYTES))
    if feature_schema_version is not None and manifest.feature_schema_version != feature_schema_version:
        raise ModelWrong(
            f"{folder.name}: feature_schema_version must be {feature_schema_version}, got"
            f" {manifest.feature_schema_version}: the model was made for other inputs"
        )
    if input_axes is not None:
        check_caller(input_axes, manifest)
    contents = {name: _checked(folder / name, manifest) for name in manifest.files if name != WEIGHTS_FILE}
    golden = _arrays_of(contents[GOLDEN_FILE], GOLDEN_FILE)
    inputs = {name.removeprefix(_IN): array for name, array in golden.items() if name.startswith(_IN)}
    outputs = {name.removeprefix(_OUT): array for name, array in golden.items() if name.startswith(_OUT)}
    for kind, told, found in (("inputs", manifest.inputs, inputs), ("outputs", manifest.outputs, outputs)):
        if set(told) != set(found):
            raise ModelWrong(f"{GOLDEN_FILE}: {kind} must be {sorted(told)}, got {sorted(found)}")
    models = {one.precision: contents[one.file] for one in manifest.variants}
    headers = [check_header(models[one.precision], one.file, manifest) for one in manifest.variants]
    for one in headers:
        check_golden(one, inputs | outputs, manifest)
    return Bundle(folder, manifest, models, inputs, outputs)


def read_weights(bundle: Bundle) -> Arrays:
    """
    The weights of a bundle's net as they were trained, by name.

    Raises
    ------
    ModelWrong
        The bundle has none, or they are not those of the manifest.
    """
    if WEIGHTS_FILE not in bundle.manifest.files:
        raise ModelWrong(f"{bundle.folder.name}: must have {WEIGHTS_FILE}, from which the net is exported anew")
    return _arrays_of(_checked(bundle.folder / WEIGHTS_FILE, bundle.manifest), WEIGHTS_FILE)


def write_bundle(
    folder: Path,
    model: bytes,
    golden_inputs: Mapping[str, NDArray[Any]],
    golden_outputs: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
    coarser: Sequence[tuple[bytes, Variant]] = (),
    weights: Mapping[str, NDArray[Any]] | None = None,
) -> Manifest:
    """
    Write a bundle; the manifest last, so that a folder with a manifest is whole.

    Parameters
    ----------
    model
        The FP32 net.
    facts
        The fields of `Manifest` that do not follow from the files.
    coarser
        The net in other precisions, each with what is said of it.
    weights
        As they were trained, by name.

    Raises
    ------
    ModelWrong
        The facts are not those of a manifest.
    """
    named = {f"{_IN}{name}": array for name, array in golden_inputs.items()}
    named |= {f"{_OUT}{name}": array for name, array in golden_outputs.items()}
    contents = {MODEL_FILE: model, GOLDEN_FILE: _packed(named)} | {one.file: data for data, one in coarser}
    if weights is not None:
        contents[WEIGHTS_FILE] = _packed(weights)
    full = Variant(precision="fp32", file=MODEL_FILE, golden_tolerance=GOLDEN_TOLERANCE)
    document = dict(facts) | {
        "format_version": FORMAT_VERSION,
        "variants": [one.model_dump() for one in (full, *(one for _, one in coarser))],
        "inputs": list(golden_inputs),
        "outputs": list(golden_outputs),
        "files": {name: {"sha256": _sha256(data), "num_bytes": len(data)} for name, data in contents.items()},
    }
    text = orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"
    manifest = read_manifest(text)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST_FILE, WEIGHTS_FILE, *MODEL_FILES.values()):
        (folder / name).unlink(missing_ok=True)
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    (folder / MANIFEST_FILE).write_bytes(text)
    return manifest


def golden_check(bundle: Bundle, engine: Engine, precision: Precision = "fp32") -> float:
    """
    Hold an engine to the bundle's golden outputs; an engine may be silently wrong on a machine it does not suit.

    Returns
    -------
    float
        The largest difference found, at most the tolerance that the manifest has for the precision.

    Raises
    ------
    ModelWrong
        An output is missing, has another shape, or is too far off.
    EngineFailed
    """
    tolerance = bundle.manifest.variant(precision).golden_tolerance
    answered = engine.run(bundle.golden_inputs)
    largest = 0.0
    for name, expected in bundle.golden_outputs.items():
        got = answered.get(name)
        if got is None or got.shape != expected.shape:
            shape = None if got is None else got.shape
            raise ModelWrong(f"golden check: {name} of engine {engine.name} must be {expected.shape}, got {shape}")
        why = why_off(got, expected, tolerance, precision)
        if why is not None:
            raise ModelWrong(f"golden check: {name} of engine {engine.name} {why}")
        largest = max(largest, largest_difference(got, expected))
    return largest


def _bytes_of(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ModelWrong(f"{path}: cannot be read ({error.strerror})") from error
    if len(data) > limit:
        raise ModelWrong(f"{path.name}: must have at most {limit} bytes")
    return data


def _checked(path: Path, manifest: Manifest) -> bytes:
    data, told = _bytes_of(path, MAX_FILE_BYTES), manifest.files[path.name]
    if len(data) != told.num_bytes:
        raise ModelWrong(f"{path.name}: must have {told.num_bytes} bytes, got {len(data)}")
    if _sha256(data) != told.sha256:
        raise ModelWrong(f"{path.name}: its SHA-256 must be {told.sha256}, got {_sha256(data)}")
    return data


def _packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _arrays_of(data: bytes, name: str) -> Arrays:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            num_bytes = sum(entry.file_size for entry in archive.infolist())
        if num_bytes > MAX_GOLDEN_BYTES:
            raise ModelWrong(f"{name}: must unpack to at most {MAX_GOLDEN_BYTES} bytes, got {num_bytes}")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return dict(arrays)
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ModelWrong(f"{name}: must be arrays as NumPy saves them: {error}") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
