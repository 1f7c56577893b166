"""A folder of engine files on disk: written whole, read only as its manifest says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from doseflow.errors import ModelWrong
from doseflow.serve.bundle import Bundle
from doseflow.serve.manifest import GOLDEN_FILE, FileDigest
from doseflow.serve.tensorrt.build_log import BuildReport, Kernel
from doseflow.serve.tensorrt.engine_manifest import (
    ENGINE_GOLDEN_FILE,
    ENGINE_MANIFEST_FILE,
    LAYERS_FILE,
    EngineManifest,
    read_engine_manifest,
)

_KERNELS = TypeAdapter(dict[str, list[Kernel]])
MAX_ENGINE_BYTES = 512 * 2**20
"""A larger file is not read at all."""


@dataclass(frozen=True)
class EngineFolder:
    """A folder whose digests hold; `contents` has every file but the manifest."""

    folder: Path
    manifest: EngineManifest
    contents: Mapping[str, bytes]


def write_engine_folder(
    folder: Path, bundle: Bundle, engines: Mapping[str, tuple[bytes, BuildReport]], facts: Mapping[str, Any]
) -> EngineManifest:
    """
    Write engine files, their layers, the bundle's golden answers and, last, the manifest.

    Parameters
    ----------
    engines
        By file name: the engine and what became of the net in it.
    facts
        The fields of `EngineManifest` but `files`.
    """
    layers = {name: asdict(report) for name, (_, report) in engines.items()}
    contents = {name: data for name, (data, _) in engines.items()}
    contents[LAYERS_FILE] = orjson.dumps(layers, option=orjson.OPT_INDENT_2) + b"\n"
    contents[ENGINE_GOLDEN_FILE] = (bundle.folder / GOLDEN_FILE).read_bytes()
    files = {name: FileDigest(sha256=sha256_of(data), num_bytes=len(data)) for name, data in contents.items()}
    manifest = EngineManifest.model_validate(dict(facts) | {"files": files})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ENGINE_MANIFEST_FILE).unlink(missing_ok=True)
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    (folder / ENGINE_MANIFEST_FILE).write_bytes(manifest.model_dump_json(indent=2).encode() + b"\n")
    return manifest


def open_engine_folder(folder: Path) -> EngineFolder:
    """
    Read a folder and check it.

    Raises
    ------
    ModelWrong
        A file is missing, cut short or changed; the text says what to do.
    """
    manifest = read_engine_manifest(_bytes_of(folder / ENGINE_MANIFEST_FILE))
    expected = {LAYERS_FILE, ENGINE_GOLDEN_FILE, *(one.file for one in manifest.engines)}
    if set(manifest.files) != expected:
        raise ModelWrong(f"{ENGINE_MANIFEST_FILE}: files must be {sorted(expected)}, got {sorted(manifest.files)}")
    return EngineFolder(folder, manifest, {name: _checked(folder / name, manifest) for name in expected})


def engine_folders(folder: Path) -> Sequence[Path]:
    """The folders of engines in a folder, itself too."""
    if not folder.is_dir():
        return ()
    candidates = [folder, *sorted(one for one in folder.iterdir() if one.is_dir())]
    return [one for one in candidates if (one / ENGINE_MANIFEST_FILE).is_file()]


def kernels_of(opened: EngineFolder) -> dict[str, list[Kernel]]:
    """
    The kernels of every engine file, as the build told them.

    Raises
    ------
    ModelWrong
        The file of layers is none.
    """
    try:
        told = orjson.loads(opened.contents[LAYERS_FILE])
        kernels = {one.file: told[one.file]["kernels"] for one in opened.manifest.engines}
        return _KERNELS.validate_python(kernels)
    except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError) as error:
        raise ModelWrong(
            f"{LAYERS_FILE}: must have the kernels of every engine file; build the engine again"
        ) from error


def sha256_of(data: bytes) -> str:
    """The digest that manifests have."""
    return hashlib.sha256(data).hexdigest()


def _checked(path: Path, manifest: EngineManifest) -> bytes:
    data, told = _bytes_of(path), manifest.files[path.name]
    if len(data) != told.num_bytes:
        short = "cut short" if len(data) < told.num_bytes else "too long"
        raise ModelWrong(
            f"{path.name} is {short}: it must have {told.num_bytes} bytes, got {len(data)}; copy it or build it again"
        )
    if sha256_of(data) != told.sha256:
        raise ModelWrong(f"{path.name} was changed after it was built (its SHA-256 differs); build it again")
    return data


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_ENGINE_BYTES + 1)
    except OSError as error:
        raise ModelWrong(f"{path}: cannot be read ({error.strerror}); build the engine again") from error
    if len(data) > MAX_ENGINE_BYTES:
        raise ModelWrong(f"{path.name}: must have at most {MAX_ENGINE_BYTES} bytes")
    return data
