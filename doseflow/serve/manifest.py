"""The manifest of a model bundle: what the model is, what it was made from, and the digests of its files."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Self

import orjson
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from doseflow.errors import ModelWrong
from doseflow.serve.precision import MODEL_FILES, Precision, is_finer_or_same
from doseflow.serve.variant import Variant

FORMAT_VERSION = 2
"""Version of the folder's layout and of this schema; a bundle of another one is refused, and exported anew."""
OPSET = 18
"""The one operator set that every engine here takes."""
MODEL_FILE, GOLDEN_FILE, MANIFEST_FILE = MODEL_FILES["fp32"], "golden.npz", "manifest.json"
WEIGHTS_FILE = "weights.npz"
"""The weights as they were trained, by name: for exporting the net anew. What serves never reads them."""

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,60}$")]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
_Axes = Annotated[str, StringConstraints(pattern=r"^[A-Z]( [A-Z]){0,7}$")]


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
    """
    What stands in `manifest.json`.

    `feature_schema_version` is that of the arrays the model is fed; `axes` are the letters of every input and output,
    in order; `lowest_precision` says for each output how coarse a net that serves may be.
    """

    model_config = _STRICT
    name: _Name
    format_version: int
    feature_schema_version: int
    licence: _Text
    origin: Origin
    data: TrainingData
    metrics: dict[str, float]
    opset: Annotated[int, Ge(OPSET), Le(OPSET)]
    max_sites: Annotated[int, Ge(1)]
    inputs: Annotated[tuple[_Text, ...], MinLen(1), MaxLen(100)]
    outputs: Annotated[tuple[_Text, ...], MinLen(1), MaxLen(100)]
    axes: dict[str, _Axes]
    lowest_precision: dict[str, Precision] = {}
    variants: Annotated[tuple[Variant, ...], MinLen(1), MaxLen(len(MODEL_FILES))]
    files: dict[str, FileDigest]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        precisions = [one.precision for one in self.variants]
        if precisions[0] != "fp32" or len(set(precisions)) < len(precisions):
            raise ValueError("variants must begin with fp32 and have each precision once")
        expected = {GOLDEN_FILE, *(one.file for one in self.variants)}
        if set(self.files) - {WEIGHTS_FILE} != expected:
            raise ValueError(f"files must be {sorted(expected)}, got {sorted(self.files)}")
        named = {*self.inputs, *self.outputs}
        if set(self.axes) != named:
            raise ValueError(f"axes must be those of {sorted(named)}, got {sorted(self.axes)}")
        if not set(self.lowest_precision) <= set(self.outputs):
            raise ValueError(f"lowest_precision must be of outputs, got {sorted(self.lowest_precision)}")
        for one in self.variants:
            self._require_fine_enough(one)
        return self

    def _require_fine_enough(self, variant: Variant) -> None:
        if any(one.serves for one in variant.devices.values()):
            for output, lowest in self.lowest_precision.items():
                if not is_finer_or_same(variant.precision, lowest):
                    raise ValueError(f"{variant.precision} must not serve: {output} must be {lowest} or better")

    def variant(self, precision: Precision) -> Variant:
        """
        What is said of a precision.

        Raises
        ------
        ModelWrong
            The bundle has none of it.
        """
        for one in self.variants:
            if one.precision == precision:
                return one
        has = ", ".join(one.precision for one in self.variants)
        raise ModelWrong(f"{self.name}: precision must be one of {has}, got {precision}")

    def digests(self) -> dict[Precision, str]:
        """SHA-256 of the net's file in each precision."""
        return {one.precision: self.files[one.file].sha256 for one in self.variants}


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
        raise ModelWrong(
            f"{MANIFEST_FILE}: format_version must be {FORMAT_VERSION}, got {version!r}: a bundle of another format"
            " must be exported anew"
        )
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ModelWrong(f"{MANIFEST_FILE}: {where}: {first['msg'].lower()}") from error
