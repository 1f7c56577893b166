"""The first engine in order that runs here and gives the golden answers; why each before it does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from doseflow.errors import DoseflowError, EngineFailed, EngineUnfit, ModelWrong
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle, golden_check, open_bundle
from doseflow.serve.engine_kinds import ENGINE_KINDS, precisions_for
from doseflow.serve.engine_params import EngineName, EngineParams
from doseflow.serve.engine_process import EngineProcess
from doseflow.serve.precision import Precision
from doseflow.serve.swapped_engine import SwappedEngine
from doseflow.telemetry.deadline import deadline_at

log = structlog.get_logger(__name__)

OPENING_SECONDS = 120.0
"""For the golden inputs and the warm-up, when nobody waits."""
WARM_UP_RUNS = 2


@dataclass(frozen=True, slots=True)
class RefusedEngine:
    """
    What was tried before the chosen one, and why it is not it.

    Where `precision` is given, the engine was refused in it alone, and a finer one was tried on it next.
    """

    name: EngineName
    why: str
    precision: Precision | None = None


@dataclass(frozen=True)
class ChosenEngine:
    """An engine that has given the golden answers and is warm, how far it was off, and who was refused before it."""

    engine: Engine
    name: EngineName
    precision: Precision
    golden_difference: float
    refused: tuple[RefusedEngine, ...] = ()


@dataclass(frozen=True)
class OpenHere:
    """Opens a bundle's net in the process that calls it, held to its golden outputs and warm; can be pickled."""

    folder: Path
    name: EngineName
    precision: Precision
    params: EngineParams

    def __call__(self) -> Engine:
        """
        The engine.

        Raises
        ------
        EngineUnfit, EngineFailed, ModelWrong
        """
        bundle = open_bundle(self.folder)
        engine = ENGINE_KINDS[self.name].open_net(bundle, self.precision, self.params)
        prove(bundle, engine, self.precision)
        return engine


def choose_engine(bundle: Bundle, params: EngineParams) -> ChosenEngine:
    """
    The engine that answers a city.

    Where the first in order is an accelerator's and may take long, `onnx_cpu` answers until that stands.

    Raises
    ------
    ModelWrong, EngineUnfit, EngineFailed
        No engine in order can; the text has a sentence of each.
    """
    able = [name for name in params.order if ENGINE_KINDS[name].why_not() is None]
    if not (able and ENGINE_KINDS[able[0]].is_accelerator and params.starts_on_cpu):
        return first_in_order(bundle, params)
    on_cpu = first_in_order(bundle, replace(params, order=("onnx_cpu",), precision=None))
    return replace(on_cpu, engine=SwappedEngine(on_cpu.engine, _better(bundle, params)))


def first_in_order(bundle: Bundle, params: EngineParams) -> ChosenEngine:
    """
    The first engine that opens and gives the golden answers.

    Raises
    ------
    ModelWrong, EngineUnfit, EngineFailed
    """
    refused: list[RefusedEngine] = []
    errors: list[DoseflowError] = []
    for name in params.order:
        try:
            chosen = _opened_in_some_precision(bundle, name, params)
        except (EngineUnfit, EngineFailed, ModelWrong) as error:
            errors.append(error)
            refused.append(RefusedEngine(name, str(error)))
            continue
        return replace(chosen, refused=(*refused, *chosen.refused))
    if len(errors) == 1 and not isinstance(errors[0], EngineUnfit):
        raise errors[0]
    sentences = "; ".join(f"{one.name}: {one.why}" for one in refused)
    raise EngineUnfit(f"engines.order: no engine can run {bundle.manifest.name}: {sentences}")


def prove(bundle: Bundle, engine: Engine, precision: Precision) -> float:
    """
    Hold an engine to the golden outputs and run it a few times for nothing; how far it was off.

    Raises
    ------
    ModelWrong, EngineFailed
    """
    with deadline_at(time.monotonic() + OPENING_SECONDS):
        difference = golden_check(bundle, engine, precision)
        for _ in range(WARM_UP_RUNS):
            engine.run(bundle.golden_inputs)
    return difference


def _opened_in_some_precision(bundle: Bundle, name: EngineName, params: EngineParams) -> ChosenEngine:
    """A card that is off in a coarse precision, or has no file of it, may still be right in a finer one."""
    why = ENGINE_KINDS[name].why_not()
    if why is not None:
        raise EngineUnfit(f"cannot run here: {why}")
    precisions = precisions_for(bundle, ENGINE_KINDS[name], params.precision)
    refused: list[RefusedEngine] = []
    for precision in precisions:
        try:
            return replace(_opened(bundle, name, precision, params), refused=tuple(refused))
        except (EngineUnfit, EngineFailed, ModelWrong) as error:
            if len(precisions) == 1:
                raise
            refused.append(RefusedEngine(name, f"in {precision}: {error}", precision))
    raise EngineUnfit("; ".join(one.why for one in refused))


def _opened(bundle: Bundle, name: EngineName, precision: Precision, params: EngineParams) -> ChosenEngine:
    kind = ENGINE_KINDS[name]
    in_own_process = kind.is_accelerator if params.in_own_process is None else params.in_own_process
    if in_own_process:
        engine: Engine = EngineProcess(name, OpenHere(bundle.folder.absolute(), name, precision, params))
    else:
        engine = kind.open_net(bundle, precision, params)
    try:
        return ChosenEngine(engine, name, precision, prove(bundle, engine, precision))
    except DoseflowError:
        if isinstance(engine, EngineProcess):
            engine.close()
        raise


def _better(bundle: Bundle, params: EngineParams) -> Callable[[], Engine | None]:
    def open_better() -> Engine | None:
        chosen = first_in_order(bundle, params)
        for one in chosen.refused:
            log.error("engine_refused", net=bundle.manifest.name, engine=one.name, why=one.why)
        return chosen.engine

    return open_better
