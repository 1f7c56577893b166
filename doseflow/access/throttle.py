"""How many attempts are listened to: counted by name, by address, and by both, over a window that slides."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from math import ceil

from doseflow.access.params import ThrottleParams

MOST_COUNTED = 20_000
"""Names and addresses remembered at most; the one heard of longest ago is forgotten first."""


class Throttle:
    """
    Counts attempts before they are judged, so that many at once are not listened to either; thread-safe.

    A name is stopped for the address that tries it long before it is stopped for everybody: whoever guesses passwords
    should not be able to lock its owner out.
    """

    def __init__(self, params: ThrottleParams, monotonic_seconds: Callable[[], float]) -> None:
        self._params = params
        self._now = monotonic_seconds
        self._lock = threading.Lock()
        self._attempts: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def wait_seconds(self, name: str, address: str) -> int:
        """0 and the attempt is counted; or, not counted, in how many seconds one is listened to again."""
        with self._lock:
            limits = self._limits(name, address)
            wait = max(self._wait(key, limit) for key, limit in limits.items())
            if wait <= 0:
                for key in limits:
                    self._counted(key).append(self._now())
            return ceil(wait)

    def forget(self, name: str, address: str) -> None:
        """The attempt was a good one: nothing is held against this name from this address any more."""
        with self._lock:
            self._attempts.pop((name, address), None)
            for key in ((name, ""), ("", address)):
                if self._attempts.get(key):
                    self._attempts[key].pop()

    def _limits(self, name: str, address: str) -> dict[tuple[str, str], int]:
        params = self._params
        return {
            (name, address): params.most_for_name_from_address,
            ("", address): params.most_from_address,
            (name, ""): params.most_for_name,
        }

    def _wait(self, key: tuple[str, str], limit: int) -> float:
        attempts, window_seconds = self._attempts.get(key), 60 * self._params.window_minutes
        while attempts and attempts[0] <= self._now() - window_seconds:
            attempts.popleft()
        if not attempts or len(attempts) < limit:
            return 0.0
        return attempts[0] + window_seconds - self._now()

    def _counted(self, key: tuple[str, str]) -> deque[float]:
        attempts = self._attempts.setdefault(key, deque())
        self._attempts.move_to_end(key)
        while len(self._attempts) > MOST_COUNTED:
            self._attempts.popitem(last=False)
        return attempts
