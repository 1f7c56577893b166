"""Reading a request's body with a limit that holds while it streams in."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

DRAIN_FACTOR = 8
"""So many times the limit is read and thrown away, so that an honest sender gets its answer; then we hang up."""


@dataclass(frozen=True, slots=True)
class LimitedBody:
    """What came in: at most the limit is kept, `num_bytes` is the true size as far as it was seen or announced."""

    kept: bytes
    num_bytes: int
    is_whole: bool


async def read_limited(request: Request, max_bytes: int) -> LimitedBody:
    """Read a body, keeping no more than `max_bytes` of it in memory."""
    kept = bytearray()
    seen = 0
    async for chunk in request.stream():
        seen += len(chunk)
        kept += chunk[: max(0, max_bytes - len(kept))]
        if seen > DRAIN_FACTOR * max_bytes:
            break
    return LimitedBody(bytes(kept), max(seen, _announced_bytes(request)), seen <= max_bytes)


def _announced_bytes(request: Request) -> int:
    announced = request.headers.get("content-length", "")
    return int(announced) if announced.isascii() and announced.isdigit() and len(announced) < 16 else 0
