"""What a process of its own costs each question, and memory over many restarts."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.bench.inference.inputs import inputs_of_cities
from doseflow.errors import EngineFailed
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle
from doseflow.serve.engine_choice import OpenHere
from doseflow.serve.engine_params import EngineParams
from doseflow.serve.engine_process import EngineProcess, ProcessParams

RUNS, RESTARTS = 200, 200


class PlainEcho:
    """Answers with its own process's number; loads nothing."""

    name = "echo"

    def run(self, inputs: object) -> dict[str, np.ndarray]:
        """The number."""
        del inputs
        return {"pid": np.array([os.getpid()])}


def hop_figures(bundle: Bundle, num_sites: int = 200) -> list[Figure]:
    """Medians of the same questions in turn, here and in the other process."""
    opening = OpenHere(bundle.folder.absolute(), "onnx_cpu", "fp32", EngineParams())
    inputs = inputs_of_cities(bundle, 1, 1, num_sites)
    here, there = opening(), EngineProcess("onnx_cpu", opening)
    seconds: dict[str, list[float]] = {"here": [], "there": []}
    try:
        for _ in range(RUNS):
            for name, engine in (("here", here), ("there", there)):
                began = time.perf_counter()
                engine.run(inputs)
                seconds[name].append(time.perf_counter() - began)
    finally:
        there.close()
    told = {"net": bundle.manifest.name, "sites": num_sites}
    more = 1000 * (np.median(seconds["there"]) - np.median(seconds["here"]))
    fastest = 1000 * (np.min(seconds["there"]) - np.min(seconds["here"]))
    return [
        Figure("process_hop_milliseconds", float(more), "milliseconds", told | {"of": "median"}, RUNS),
        Figure("process_hop_milliseconds", float(fastest), "milliseconds", told | {"of": "fastest"}, RUNS),
    ]


def restart_figures(num_restarts: int = RESTARTS) -> list[Figure]:
    """Memory of the asking process before and after its engine's process was killed many times."""
    params = ProcessParams(answer_seconds=20.0, first_pause_seconds=0.001, longest_pause_seconds=0.01)
    engine = EngineProcess("echo", partial(PlainEcho), params)
    try:
        for _ in range(5):
            _kill(engine)
        before = _resident_bytes(), len(os.listdir("/proc/self/fd"))
        for _ in range(num_restarts):
            _kill(engine)
        after = _resident_bytes(), len(os.listdir("/proc/self/fd"))
    finally:
        engine.close()
    told = {"restarts": num_restarts}
    return [
        Figure("memory_grown", (after[0] - before[0]) / 2**20, "MiB", told, num_restarts),
        Figure("descriptors_grown", float(after[1] - before[1]), "1", told, num_restarts),
    ]


def _kill(engine: EngineProcess) -> None:
    pid = int(_ready(engine).run({})["pid"][0])
    os.kill(pid, signal.SIGKILL)
    while engine.is_ready:
        try:
            engine.run({})
        except EngineFailed:
            break
        time.sleep(0.001)
    _ready(engine)


def _ready(engine: EngineProcess) -> Engine:
    while not engine.is_ready:
        time.sleep(0.001)
    return engine


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
