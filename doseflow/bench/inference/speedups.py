"""How many times as fast as FP32 the other precisions of a net are on the processor here."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import numpy as np

from doseflow.bench.inference.onnx_runs import session_of
from doseflow.export.random_inputs import Arrays
from doseflow.serve.precision import Precision

NUM_ROUNDS, RUNS_PER_TURN = 40, 3


def speedups_on_processor(
    models: Mapping[Precision, bytes], inputs: Arrays, num_rounds: int = NUM_ROUNDS
) -> dict[Precision, float]:
    """By the median over rounds in which all take turns, so that a slow minute of the machine is everybody's."""
    num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    sessions = {precision: session_of(model, "cpu", num_threads=num_threads) for precision, model in models.items()}
    seconds: dict[Precision, list[float]] = {precision: [] for precision in models}
    for _ in range(num_rounds):
        for precision, session in sessions.items():
            for _ in range(RUNS_PER_TURN):
                began = time.perf_counter()
                session.run(None, inputs)
                seconds[precision].append(time.perf_counter() - began)
    full = np.median(seconds["fp32"])
    return {precision: float(full / np.median(taken)) for precision, taken in seconds.items()}
