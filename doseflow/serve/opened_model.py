"""A bundle opened, held to its golden outputs, and warm: what may answer a city."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle, golden_check, open_bundle

PACKAGED_BUNDLES = Path(__file__).parent / "bundles"
"""Folder of the bundles that come with doseflow."""


@dataclass(frozen=True)
class OpenedModel:
    """A bundle, the engine that runs it, and how far the engine was off the golden outputs."""

    bundle: Bundle
    engine: Engine
    golden_difference: float


def open_model(
    folder: Path,
    *,
    feature_schema_version: int | None = None,
    input_axes: Mapping[str, str] | None = None,
    num_threads: int = 1,
) -> OpenedModel:
    """
    Open a bundle's FP32 net on the processor.

    Raises
    ------
    ModelWrong
        The bundle is broken or of another version, or the engine's answers are not the golden ones.
    EngineFailed
        The engine cannot answer the golden inputs.
    """
    # Here, since it loads a large library that only a city with a net needs.
    from doseflow.serve.onnx_engine import OnnxEngine

    bundle = open_bundle(folder, feature_schema_version=feature_schema_version, input_axes=input_axes)
    engine = OnnxEngine(bundle.model, num_threads=num_threads)
    difference = golden_check(bundle, engine)
    engine.warm_up(bundle.golden_inputs)
    return OpenedModel(bundle, engine, difference)
