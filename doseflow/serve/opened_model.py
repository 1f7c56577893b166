"""A bundle opened, held to its golden outputs, and warm: what may answer a city."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from doseflow.ports import Engine
from doseflow.serve.batcher import Batcher
from doseflow.serve.bundle import Bundle, open_bundle
from doseflow.serve.city_packing import CityPacking
from doseflow.serve.engine_choice import RefusedEngine, choose_engine
from doseflow.serve.engine_params import EngineParams
from doseflow.serve.precision import Precision

PACKAGED_BUNDLES = Path(__file__).parent / "bundles"
"""Folder of the bundles that come with doseflow."""


@dataclass(frozen=True)
class OpenedModel:
    """A bundle, the engine that runs it, how far that was off the golden outputs, and which engines were refused."""

    bundle: Bundle
    engine: Engine
    golden_difference: float
    precision: Precision = "fp32"
    refused: tuple[RefusedEngine, ...] = ()
    batcher: Batcher | None = None

    def door(self) -> Engine:
        """The engine as one city sees it; each call is for another city."""
        return self.engine if self.batcher is None else self.batcher.door(object())


def open_model(
    folder: Path,
    *,
    feature_schema_version: int | None = None,
    input_axes: Mapping[str, str] | None = None,
    params: EngineParams | None = None,
) -> OpenedModel:
    """
    Open a bundle's net with the first engine that can run it.

    Raises
    ------
    ModelWrong
        The bundle is broken or of another version, the engine's answers are not the golden ones, or cities cannot
        share a run of it.
    EngineUnfit, EngineFailed
        No engine can answer the golden inputs.
    """
    bundle = open_bundle(folder, feature_schema_version=feature_schema_version, input_axes=input_axes)
    params = params or EngineParams()
    packing = CityPacking(bundle.model) if params.batching.is_on else None
    chosen = choose_engine(bundle, params)
    batcher = None if packing is None else Batcher(chosen.engine, packing, params.batching)
    return OpenedModel(bundle, chosen.engine, chosen.golden_difference, chosen.precision, chosen.refused, batcher)
