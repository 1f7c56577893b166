"""Latency and questions a second of one engine, by batch, from arrays on the host to arrays on the host."""

from __future__ import annotations

import time

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.bench.inference.inputs import inputs_of_cities
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle
from doseflow.serve.engine_params import BATCHES

RUNS, WARM_UP_RUNS = 300, 20


def latency_figures(bundle: Bundle, engine: Engine, device: str, precision: str) -> list[Figure]:
    """`latency_p50_milliseconds`, `latency_p99_milliseconds` and `requests_per_second`, cities of 200 sites."""
    figures = []
    for batch in BATCHES:
        inputs = inputs_of_cities(bundle, batch, seed=1)
        for _ in range(WARM_UP_RUNS):
            engine.run(inputs)
        seconds = np.array([_timed(engine, inputs) for _ in range(RUNS)])
        told = {"net": bundle.manifest.name, "engine": engine.name, "precision": precision}
        told |= {"batch": str(batch), "device": device}
        p50, p99 = 1000 * np.percentile(seconds, [50, 99])
        figures += [
            Figure("latency_p50_milliseconds", float(p50), "milliseconds", dict(told), RUNS),
            Figure("latency_p99_milliseconds", float(p99), "milliseconds", dict(told), RUNS),
            Figure("requests_per_second", batch / float(np.median(seconds)), "1/s", dict(told), RUNS),
        ]
    return figures


def _timed(engine: Engine, inputs: dict[str, np.ndarray]) -> float:
    began = time.perf_counter()
    engine.run(inputs)
    return time.perf_counter() - began
