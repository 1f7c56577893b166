"""SwappedEngine: answers at once with the engine at hand, and with a better one as soon as that stands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from numpy.typing import NDArray

from doseflow.errors import DoseflowError
from doseflow.ports import Engine
from doseflow.serve.engine_process import EngineProcess

log = structlog.get_logger(__name__)


class SwappedEngine:
    """
    Two engines of one net, of which the better is opened (or built) beside the cycles.

    While the better one's process is started anew, the one at hand answers again.

    Parameters
    ----------
    at_hand
        Answers until then.
    open_better
        Opens the better one, held to its golden outputs and warm; None or an error leaves the one at hand.
    """

    def __init__(self, at_hand: Engine, open_better: Callable[[], Engine | None]) -> None:
        self.name = at_hand.name
        self._at_hand, self._open_better = at_hand, open_better
        self._better: Engine | None = None
        self._opening = threading.Thread(target=self._open, name="open-better-engine", daemon=True)
        self._opening.start()

    @property
    def answering(self) -> Engine:
        """The engine that would answer now."""
        better = self._better
        is_away = better is None or (isinstance(better, EngineProcess) and not better.is_ready)
        return self._at_hand if better is None or is_away else better

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
        """
        return self.answering.run(inputs)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the better one stands or could not be opened; whether it stands."""
        self._opening.join(timeout_seconds)
        return self._better is not None

    def _open(self) -> None:
        try:
            self._better = self._open_better()
        except DoseflowError as error:
            log.error("better_engine_refused", stays_with=self._at_hand.name, why=str(error))
            return
        if self._better is not None:
            self.name = self._better.name
            log.info("better_engine_stands", engine=self.name, before=self._at_hand.name)
