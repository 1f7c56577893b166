"""What happened, for whoever listens now: screens subscribe, the city publishes, nobody waits for a slow listener."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, past tense; `payload` is ready to be sent as JSON."""

    event_id: int
    name: str
    payload: dict[str, Any]


class EventFeed:
    """Hands each event to every subscriber; one that falls `max_waiting` events behind loses its oldest."""

    def __init__(self, max_waiting: int = 100) -> None:
        self._max_waiting = max_waiting
        self._subscribers: set[tuple[asyncio.AbstractEventLoop, asyncio.Queue[Event | None]]] = set()
        self._next_id = 1

    def publish(self, name: str, payload: dict[str, Any]) -> None:
        """Tell everybody; safe from any thread."""
        event = Event(self._next_id, name, payload)
        self._next_id += 1
        self._offer(event)

    def close(self) -> None:
        """End every subscription."""
        self._offer(None)

    async def subscribe(self) -> AsyncIterator[Event]:
        """Events from now on, until the feed closes."""
        entry = (asyncio.get_running_loop(), asyncio.Queue[Event | None](self._max_waiting))
        self._subscribers.add(entry)
        try:
            while (event := await entry[1].get()) is not None:
                yield event
        finally:
            self._subscribers.discard(entry)

    def _offer(self, event: Event | None) -> None:
        for loop, queue in list(self._subscribers):
            if not loop.is_closed():
                loop.call_soon_threadsafe(_put, queue, event)


def _put(queue: asyncio.Queue[Event | None], event: Event | None) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)
