"""The manifest of a model bundle: what the model is, what it was made from, and the digests of its files."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import orjson
from annotated_types import Ge, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from doseflow.errors import ModelWrong

FORMAT_VERSION = 1
"""Version of the folder's layout and of this schema."""
MODEL_FILE, GOLDEN_FILE, MANIFEST_FILE = "model.onnx", "golden.npz", "manifest.json"

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,60}$")]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class FileDigest(BaseModel):
    """What a file of the bundle must be."""

    model_config = _STRICT
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    num_bytes: Annotated[int, Ge(1)]


class Origin(BaseModel):
    """The command that makes the same model again."""

    model_config = _STRICT
    command: _Text
    seed: Annotated[int, Ge(0)]
    doseflow_version: _Text


class TrainingData(BaseModel):
    """What the model has learned from; `first_on` and `last_on` are None where the days are simulated."""

    model_config = _STRICT
    source: _Text
    families: tuple[_Text, ...] = ()
    num_days: Annotated[int, Ge(1)]
    first_on: date | None = None
    last_on: date | None = None


class Manifest(BaseModel):
    """What stands in `manifest.json`; `feature_schema_version` is that of the arrays the model is fed."""

    model_config = _STRICT
    name: _Name
    format_version: int
    feature_schema_version: int
    licence: _Text
    origin: Origin
    data: TrainingData
    metrics: dict[str, float]
    opset: Annotated[int, Ge(1)]
    max_sites: Annotated[int, Ge(1)]
    inputs: Annotated[tuple[_Text, ...], MinLen(1), MaxLen(100)]
    outputs: Annotated[tuple[_Text, ...], MinLen(1), MaxLen(100)]
    files: dict[str, FileDigest]


def read_manifest(data: bytes) -> Manifest:
    """
    Read a manifest.

    Raises
    ------
    ModelWrong
        It is no manifest, or one of another format.
    """
    try:
        document: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ModelWrong(f"{MANIFEST_FILE}: must be JSON: {error}") from error
    # Before the rest, which another version may lay out differently.
    version = document.get("format_version") if isinstance(document, dict) else None
    if version != FORMAT_VERSION:
        raise ModelWrong(f"{MANIFEST_FILE}: format_version must be {FORMAT_VERSION}, got {version!r}")
    try:
        manifest = Manifest.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ModelWrong(f"{MANIFEST_FILE}: {where}: {first['msg'].lower()}") from error
    expected = {MODEL_FILE, GOLDEN_FILE}
    if set(manifest.files) != expected:
        raise ModelWrong(f"{MANIFEST_FILE}: files must be {sorted(expected)}, got {sorted(manifest.files)}")
    return manifest
