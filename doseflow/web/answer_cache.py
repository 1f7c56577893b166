"""One kept answer: many screens that ask for the same moment cost one reading of the state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable


class AnswerCache:
    """Keeps the answer to the latest key; whoever asks for it while it is being made waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Hashable = None
        self._answer = b""

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer for a key, made by `make` when it is not the kept one."""
        with self._lock:
            if self._key is None or key != self._key:
                self._answer = make()
                self._key = key
            return self._answer
