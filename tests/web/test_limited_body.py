import asyncio

import pytest
from fastapi import Request

from doseflow.web.limited_body import DRAIN_FACTOR, LimitedBody, read_limited

LIMIT = 1000


def read(chunks: list[bytes], announced: str | None = None) -> tuple[LimitedBody, int]:
    """The body, and how many chunks were asked for."""
    waiting = list(chunks)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    headers = [] if announced is None else [(b"content-length", announced.encode())]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    body = asyncio.run(read_limited(Request(scope, receive), LIMIT))
    return body, len(chunks) - len(waiting)


@pytest.mark.parametrize("sizes", [[0], [1], [LIMIT], [400, 600], [LIMIT - 1, 1]])
def test_a_body_within_the_limit_is_whole(sizes):
    chunks = [bytes([65 + idx]) * size for idx, size in enumerate(sizes)]
    body, _ = read(chunks)
    assert body == LimitedBody(b"".join(chunks), sum(sizes), True)


def test_over_the_limit_no_more_than_the_limit_is_kept_and_the_size_is_true():
    body, _ = read([b"a" * 700, b"b" * 700])
    assert body == LimitedBody(b"a" * 700 + b"b" * 300, 1400, False)


def test_an_endless_body_is_hung_up_on():
    body, asked = read([b"x" * LIMIT] * 100)
    assert asked == DRAIN_FACTOR + 1
    assert not body.is_whole
    assert len(body.kept) == LIMIT


@pytest.mark.parametrize(("announced", "told"), [("5000000", 5_000_000), ("-7", 1400), ("9" * 30, 1400)])
def test_an_announced_size_is_told_when_it_is_a_number(announced, told):
    body, _ = read([b"a" * 1400], announced)
    assert body.num_bytes == told
