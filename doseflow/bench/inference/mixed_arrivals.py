"""
What gathering gains: cities of several sizes ask at random moments, once each run alone and once gathered.

`capacity_per_second` is how many answers a second of the gathering thread's working time gives: cities laid side by
side, the run, and answers taken apart, but no waiting. `batching_gain` is its ratio, gathered over one by one, under
the same arrivals: where both ways keep up with them, nothing else can tell. `served_gain` is the ratio of answers that
came in time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.bench.figures import Figure
from doseflow.bench.inference.inputs import inputs_of_cities
from doseflow.errors import EngineFailed
from doseflow.ports import Engine
from doseflow.serve.axes import Arrays
from doseflow.serve.batcher import Batcher
from doseflow.serve.bundle import Bundle
from doseflow.serve.city_packing import CityPacking
from doseflow.serve.engine_params import BatchParams
from doseflow.telemetry.deadline import deadline_at

CITY_SITES = (16, 32, 32, 64, 64, 128, 208)
TARGET_GAIN = 3.0


@dataclass(frozen=True, slots=True)
class ArrivalTrial:
    """Questions a second (Poisson), for how long, and by when each must be answered."""

    questions_per_second: float = 200.0
    seconds: float = 10.0
    gather_milliseconds: float = BatchParams().gather_milliseconds
    deadline_seconds: float = 0.1
    seed: int = 1
    device: str = "cpu"
    precision: str = "fp32"


@dataclass
class ArrivalOutcome:
    """Questions answered in time, those that were not, latencies, and the time that was worked for all of them."""

    answered: int = 0
    missed: int = 0
    latencies_seconds: list[float] = field(default_factory=list)
    busy_seconds: float = 0.0
    num_runs: int = 0
    num_questions_run: int = 0
    wall_seconds: float = 0.0


class _Uncut:
    """The engine without deadlines: no run is cut short here; what is late is counted by who asked."""

    def __init__(self, engine: Engine) -> None:
        self.name, self._engine = engine.name, engine
        if hasattr(engine, "run_together"):
            self.run_together = self._run_together

    def run(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        with deadline_at(None):
            return self._engine.run(inputs)

    def _run_together(self, questions: Sequence[Arrays]) -> list[dict[str, NDArray[Any]]]:
        engine: Any = self._engine
        with deadline_at(None):
            answers: list[dict[str, NDArray[Any]]] = engine.run_together(questions)
            return answers


def mixed_arrivals(bundle: Bundle, engine: Engine, trial: ArrivalTrial) -> list[Figure]:
    """Figures of a net under the same arrivals, alone and gathered."""
    questions = [inputs_of_cities(bundle, 1, seed, sites) for seed, sites in enumerate(CITY_SITES)]
    for inputs in questions:
        engine.run(inputs)
    alone = _lived(bundle, engine, questions, trial, BatchParams(most_together=1, gather_milliseconds=0.0))
    params_gathered = BatchParams(gather_milliseconds=trial.gather_milliseconds)
    gathered = _lived(bundle, engine, questions, trial, params_gathered)
    params: dict[str, Any] = {"net": bundle.manifest.name, "device": trial.device, "engine": engine.name}
    params |= {"precision": trial.precision, "questions_per_second": trial.questions_per_second}
    params |= {"gather_milliseconds": trial.gather_milliseconds}
    figures = [
        figure for name, one in (("alone", alone), ("gathered", gathered)) for figure in _told(name, one, params)
    ]
    gain = _capacity(gathered) / _capacity(alone)
    served = _rate(gathered) / _rate(alone) if alone.answered else float("inf")
    target = TARGET_GAIN if trial.device == "cuda" else None
    met = None if target is None else gain >= target
    num = alone.answered + alone.missed
    return [
        *figures,
        Figure("batching_gain", gain, "1", params, num, trial.seed, target=target, met=met),
        Figure("served_gain", served, "1", params, num, trial.seed),
    ]


def _lived(
    bundle: Bundle, engine: Engine, questions: Sequence[Arrays], trial: ArrivalTrial, params: BatchParams
) -> ArrivalOutcome:
    outcome, lock = ArrivalOutcome(), threading.Lock()

    def count(num_questions: int, seconds: float, _num_waiting: int) -> None:
        outcome.busy_seconds += seconds
        outcome.num_runs += 1
        outcome.num_questions_run += num_questions

    packing, params = CityPacking(bundle.model), replace(params, most_waiting_of_city=64)
    batcher = Batcher(_Uncut(engine), packing, params, on_run=count)
    rng = np.random.default_rng(trial.seed)
    num = int(trial.questions_per_second * trial.seconds)
    moments = np.cumsum(rng.exponential(1 / trial.questions_per_second, num))
    cities = rng.integers(0, len(questions), num)

    def ask(city: int, due_at: float) -> None:
        try:
            with deadline_at(due_at + trial.deadline_seconds):
                batcher.ask(city, questions[city])
        except EngineFailed:
            with lock:
                outcome.missed += 1
            return
        with lock:
            outcome.answered += 1
            outcome.latencies_seconds.append(time.monotonic() - due_at)

    began = time.monotonic() + 0.1
    with ThreadPoolExecutor(64) as pool:
        for moment, city in zip(moments.tolist(), cities.tolist(), strict=True):
            time.sleep(max(began + moment - time.monotonic(), 0.0))
            pool.submit(ask, city, began + moment)
    outcome.wall_seconds = time.monotonic() - began
    batcher.close()
    return outcome


def _capacity(outcome: ArrivalOutcome) -> float:
    # Answers that came too late were work as well.
    return outcome.num_questions_run / outcome.busy_seconds if outcome.busy_seconds else float("nan")


def _rate(outcome: ArrivalOutcome) -> float:
    return outcome.answered / outcome.wall_seconds


def _told(name: str, outcome: ArrivalOutcome, params: dict[str, Any]) -> list[Figure]:
    told, num = params | {"way": name}, outcome.answered + outcome.missed
    milliseconds = 1000 * np.asarray(outcome.latencies_seconds or [np.nan])
    return [
        Figure("answered_in_time_per_second", _rate(outcome), "1/s", told, num),
        Figure("missed_share", outcome.missed / max(num, 1), "1", told, num),
        Figure("latency_p50_milliseconds", float(np.percentile(milliseconds, 50)), "milliseconds", told, num),
        Figure("latency_p99_milliseconds", float(np.percentile(milliseconds, 99)), "milliseconds", told, num),
        Figure("capacity_per_second", _capacity(outcome), "1/s", told, outcome.num_runs),
        Figure("questions_per_run", outcome.num_questions_run / max(outcome.num_runs, 1), "1", told, outcome.num_runs),
    ]
