"""The manifest of a folder of engine files: what they were built from, by what, for which cards and shapes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import orjson
from annotated_types import Ge, Gt, MinLen
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from doseflow.errors import ModelWrong
from doseflow.serve.manifest import FileDigest
from doseflow.serve.precision import WIDEST_TOLERANCE, Precision

ENGINE_FORMAT_VERSION = 1
ENGINE_MANIFEST_FILE, LAYERS_FILE, ENGINE_GOLDEN_FILE = "engine.json", "layers.json", "golden.npz"

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
_FileName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.]{1,80}$")]
_Capability = Annotated[str, StringConstraints(pattern=r"^\d{1,2}\.\d$")]


class EngineFile(BaseModel):
    """
    One engine file.

    `shapes` are the lengths of the free axes that it is run with. `activation_bytes` are taken on the card while it
    runs, `weight_bytes` as long as it is loaded.
    """

    model_config = _STRICT
    file: _FileName
    shapes: Annotated[tuple[dict[str, int], ...], MinLen(1)]
    num_layers: Annotated[int, Ge(1)]
    num_kernels: Annotated[int, Ge(0)]
    activation_bytes: Annotated[int, Ge(0)]
    weight_bytes: Annotated[int, Ge(0)]


class EngineManifest(BaseModel):
    """
    What stands in `engine.json`.

    `card` and `driver_version` are those it was built on, where it must run there too; `left_out` has the compute
    capabilities that were asked for and could not be built, with the reason.
    """

    model_config = _STRICT
    format_version: int
    backend: Literal["tensorrt", "tensorrt-rtx"]
    library_version: _Text
    net: _Text
    precision: Precision
    model_sha256: _Text
    golden_tolerance: Annotated[float, Gt(0)]
    capabilities: tuple[_Capability, ...]
    left_out: dict[str, str] = {}
    card: str | None = None
    driver_version: int | None = None
    input_axes: dict[str, tuple[str | int, ...]]
    output_axes: dict[str, tuple[str | int, ...]]
    engines: Annotated[tuple[EngineFile, ...], MinLen(1)]
    files: dict[str, FileDigest]

    @model_validator(mode="after")
    def _is_held_to_something(self) -> Self:
        widest = WIDEST_TOLERANCE[self.precision]
        if self.golden_tolerance > widest:
            raise ValueError(f"golden_tolerance of {self.precision} must be at most {widest:g}")
        return self


def read_engine_manifest(data: bytes) -> EngineManifest:
    """
    Read a manifest.

    Raises
    ------
    ModelWrong
        It is none, or one of another format.
    """
    try:
        document: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ModelWrong(f"{ENGINE_MANIFEST_FILE}: must be JSON: {error}; build the engine again") from error
    version = document.get("format_version") if isinstance(document, dict) else None
    if version != ENGINE_FORMAT_VERSION:
        raise ModelWrong(
            f"{ENGINE_MANIFEST_FILE}: format_version must be {ENGINE_FORMAT_VERSION}, got {version!r}; build the engine"
            " again with this version"
        )
    try:
        return EngineManifest.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ModelWrong(f"{ENGINE_MANIFEST_FILE}: {where}: {first['msg'].lower()}; build the engine again") from error
