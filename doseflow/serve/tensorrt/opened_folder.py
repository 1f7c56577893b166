"""Engine files found for a bundle's net and opened; and the same files held to their golden answers."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from doseflow.errors import DoseflowError, EngineUnfit, ModelWrong
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle
from doseflow.serve.golden_difference import largest_difference, why_off
from doseflow.serve.precision import Precision
from doseflow.serve.tensorrt.compiled_engine import TensorrtEngine
from doseflow.serve.tensorrt.engine_folder import EngineFolder, engine_folders, open_engine_folder, sha256_of
from doseflow.serve.tensorrt.engine_manifest import ENGINE_GOLDEN_FILE
from doseflow.serve.tensorrt.library import Backend

KEPT_FOLDER = "kept"
_IN, _OUT = "in_", "out_"


def open_built_engine(backend: Backend, bundle: Bundle, precision: Precision, folder: str | None) -> Engine:
    """
    The engine that was built for a bundle's net.

    Raises
    ------
    EngineUnfit
        None was built, or what was built does not fit this machine.
    ModelWrong
        A file is damaged.
    """
    if folder is None:
        raise EngineUnfit(
            f"engines.folder is not set; run `doseflow engine build --backend {backend} --out FOLDER`"
            " and set it to FOLDER"
        )
    found = find_built(backend, bundle, precision, Path(folder))
    return TensorrtEngine(found, Path(folder) / KEPT_FOLDER)


def find_built(backend: Backend, bundle: Bundle, precision: Precision, folder: Path) -> EngineFolder:
    """
    The folder of engine files that were built from exactly this net.

    Raises
    ------
    EngineUnfit
        There is none; the text says how to build it.
    ModelWrong
        The one there is, is damaged.
    """
    digest = sha256_of(bundle.model_of(precision))
    damaged: list[DoseflowError] = []
    for candidate in engine_folders(folder):
        try:
            opened = open_engine_folder(candidate)
        except ModelWrong as error:
            damaged.append(error)
            continue
        if opened.manifest.backend == backend and opened.manifest.model_sha256 == digest:
            return opened
    if damaged:
        raise damaged[0]
    raise EngineUnfit(
        f"{folder} has no {backend} engine of {bundle.manifest.name} in {precision}; run `doseflow engine build"
        f" --backend {backend} --precision {precision} --out {folder}`"
    )


def verify_folder(folder: Path) -> float:
    """
    Run the golden inputs on the card.

    Returns
    -------
    float
        The largest difference, in the output's unit or, above 1, as a share of it.

    Raises
    ------
    EngineUnfit
        There is no card, or the files do not fit it.
    ModelWrong
        A file is damaged, or an answer is too far off.
    """
    opened = open_engine_folder(folder)
    return hold_to_golden(opened, TensorrtEngine(opened))


def hold_to_golden(opened: EngineFolder, engine: Engine) -> float:
    """
    Compare an engine with the golden answers of its folder.

    Raises
    ------
    ModelWrong, EngineFailed
    """
    with np.load(io.BytesIO(opened.contents[ENGINE_GOLDEN_FILE]), allow_pickle=False) as arrays:
        golden = dict(arrays)
    answered = engine.run({name.removeprefix(_IN): array for name, array in golden.items() if name.startswith(_IN)})
    largest = 0.0
    for name, expected in ((name.removeprefix(_OUT), one) for name, one in golden.items() if name.startswith(_OUT)):
        got = answered[name]
        why = why_off(got, expected, opened.manifest.golden_tolerance, opened.manifest.precision)
        if why is not None:
            raise ModelWrong(f"{opened.folder.name}: {name} {why}; do not use this engine on this card")
        largest = max(largest, largest_difference(got, expected))
    return largest
