"""
The moment by which work of this thread must be done, as absolute monotonic time.

It travels with the work instead of through every signature: whoever begins a cycle sets it, an engine reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline_at(monotonic_seconds: float | None) -> Iterator[None]:
    """Within, work must be done at that moment of `time.monotonic`; None lifts what held outside."""
    token = _deadline.set(monotonic_seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def current_deadline() -> float | None:
    """The deadline that holds here, None where none does."""
    return _deadline.get()
