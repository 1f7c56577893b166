"""An order's change as JSON, the same for every system that is told the order whole."""

from __future__ import annotations

from datetime import datetime

import orjson

from doseflow.ports import OutboxEntry

TOPIC_TO_EVENT = {"order": "order.made", "withdrawal": "order.withdrawn"}
"""The event type of each topic of the outbox."""


def event_bytes(entry: OutboxEntry, told_at: datetime) -> bytes:
    """`type`, `timestamp` and, in `data`, the order."""
    event = {"type": TOPIC_TO_EVENT[entry.topic], "timestamp": told_at, "data": entry.order}
    return orjson.dumps(event, option=orjson.OPT_SERIALIZE_NUMPY)


def message_id(entry: OutboxEntry) -> str:
    """The same at every attempt: what a receiver recognises a repeat by."""
    return f"{entry.order.order_id}-{entry.topic}"
