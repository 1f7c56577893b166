"""CountedEngine: an engine whose answers are timed for the metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from doseflow.ports import Engine


class CountedEngine:
    """Tells `answered` the seconds of each answer; a question that failed is not an answer."""

    def __init__(self, engine: Engine, answered: Callable[[float], None]) -> None:
        self.name = engine.name
        self._engine = engine
        self._answered = answered

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        The engine's answer.

        Raises
        ------
        EngineFailed
        """
        began_seconds = time.perf_counter()
        outputs = self._engine.run(inputs)
        self._answered(time.perf_counter() - began_seconds)
        return outputs

    def close(self) -> None:
        """End the engine, where it can be ended."""
        end = getattr(self._engine, "close", None)
        if end is not None:
            end()
