import contextlib
from functools import partial

import numpy as np

from doseflow.errors import EngineFailed
from doseflow.serve.counted_engine import CountedEngine
from doseflow.telemetry.metrics import make_metrics


class Doubling:
    name = "doubling"

    def run(self, inputs):
        if not np.isfinite(inputs["x"]).all():
            raise EngineFailed("x: must be finite")
        return {"y": 2 * inputs["x"]}


def test_answers_are_the_engines_and_only_those_that_came_are_timed():
    metrics = make_metrics()
    engine = CountedEngine(Doubling(), partial(metrics.engines.answered, "policy"))
    assert engine.run({"x": np.ones(2)})["y"].tolist() == [2, 2]
    with contextlib.suppress(EngineFailed):
        engine.run({"x": np.array([np.nan])})
    counted = metrics.registry.get_sample_value("doseflow_engine_seconds_count", {"engine": "policy"})
    assert (engine.name, counted) == ("doubling", 1)
