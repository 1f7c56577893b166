"""Figures of one engine: what gathering gains, memory together and apart, and the cost of a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from doseflow.bench.figures import Figure
from doseflow.bench.inference.engine_latency import latency_figures
from doseflow.bench.inference.memory_together import memory_figures
from doseflow.bench.inference.mixed_arrivals import ArrivalTrial, mixed_arrivals
from doseflow.bench.inference.process_hop import hop_figures, restart_figures
from doseflow.errors import EngineUnfit, InputWrong
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle, open_bundle
from doseflow.serve.cuda_driver import cuda_device
from doseflow.serve.engine_choice import prove
from doseflow.serve.engine_kinds import ENGINE_KINDS
from doseflow.serve.engine_params import BatchParams, EngineParams
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.serve.precision import Precision

NETS = ("forecaster", "policy")
PARTS = ("latency", "arrivals", "memory", "hop", "restarts")


@dataclass(frozen=True)
class EngineTrial:
    """
    What is measured: which engine, and which parts; none is all of them.

    `device` may be said, and must then be the one that the engine runs on.
    """

    engine: str = "onnx_cpu"
    device: str | None = None
    precision: Precision = "fp32"
    folder: str | None = None
    seconds: float = 10.0
    gather_milliseconds: float = BatchParams().gather_milliseconds
    parts: tuple[str, ...] = ()


def engine_figures(trial: EngineTrial, say: Callable[[str], None]) -> list[Figure]:
    """
    Measure.

    Raises
    ------
    InputWrong
        There is no such engine or part, or the engine runs on another device.
    EngineUnfit, ModelWrong
        The engine cannot run here, or does not give the golden answers.
    """
    device, parts = _device_of(trial), trial.parts or PARTS
    for part in parts:
        if part not in PARTS:
            raise InputWrong(f"--only: must be one of {', '.join(PARTS)}, got {part!r}")
    figures: list[Figure] = []
    for net in NETS if {"latency", "arrivals"} & set(parts) else ():
        bundle, engine = _opened(net, trial)
        if "latency" in parts:
            say(f"{net}: {trial.engine} by batch")
            figures += latency_figures(bundle, engine, device, trial.precision)
        if "arrivals" in parts:
            say(f"{net}: cities ask {trial.engine}")
            figures += mixed_arrivals(bundle, engine, _arrivals(trial, device))
    if "memory" in parts:
        say("memory together and apart")
        figures += memory_figures()
    for net in NETS if "hop" in parts else ():
        say(f"{net}: here and in another process")
        figures += hop_figures(open_bundle(PACKAGED_BUNDLES / net))
    if "restarts" in parts:
        say("restarts")
        figures += restart_figures()
    return figures


def engine_facts(trial: EngineTrial) -> dict[str, Any]:
    """What stands beside the figures in a file of them: the digests of the nets' files, and the card's name."""
    models = {net: open_bundle(PACKAGED_BUNDLES / net).manifest.digests() for net in NETS}
    return {"models": models, "card": cuda_device().name if _device_of(trial) == "cuda" else None}


def _arrivals(trial: EngineTrial, device: str) -> ArrivalTrial:
    return ArrivalTrial(
        seconds=trial.seconds,
        gather_milliseconds=trial.gather_milliseconds,
        device=device,
        precision=trial.precision,
    )


def _device_of(trial: EngineTrial) -> str:
    for kind in ENGINE_KINDS.values():
        if kind.name == trial.engine:
            if trial.device not in (None, kind.device):
                raise InputWrong(f"--device: {trial.engine} runs on {kind.device}, got {trial.device!r}; leave it out")
            return kind.device
    raise InputWrong(f"--engine: must be one of {', '.join(ENGINE_KINDS)}, got {trial.engine!r}")


def _opened(net: str, trial: EngineTrial) -> tuple[Bundle, Engine]:
    bundle = open_bundle(PACKAGED_BUNDLES / net)
    kind = next(one for one in ENGINE_KINDS.values() if one.name == trial.engine)
    why = kind.why_not()
    if why is not None:
        raise EngineUnfit(f"{trial.engine} cannot run here: {why}")
    params = EngineParams(folder=trial.folder, batching=BatchParams(is_on=True))
    engine = kind.open_net(bundle, trial.precision, params)
    prove(bundle, engine, trial.precision)
    return bundle, engine
