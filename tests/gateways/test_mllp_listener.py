"""A real listener on a port of its own, and senders that behave and that do not."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.gateways.mllp_listener import MllpListener, MllpParams, listen

ON = MllpParams(is_on=True, port=0, max_message_bytes=2000, max_connections=3, idle_seconds=5, frame_seconds=5)


@contextlib.asynccontextmanager
async def listening(params: MllpParams = ON, answer=lambda raw: b"ack:" + raw) -> AsyncIterator[MllpListener]:
    listener = MllpListener(params, answer, lambda: b"too large")
    await listener.start()
    try:
        yield listener
    finally:
        await listener.stop()


def framed(text: bytes) -> bytes:
    return b"\x0b" + text + b"\x1c\r"


async def said_by(listener: MllpListener, *pieces: bytes, wait: float = 0.0) -> bytes:
    """Everything that the listener says until it hangs up or we have half-closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(wait)
    with contextlib.suppress(OSError):
        writer.write_eof()
    said = b""
    with contextlib.suppress(ConnectionError):
        said = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return said


def test_messages_are_answered_one_after_another_in_their_order() -> None:
    async def play() -> bytes:
        async with listening() as listener:
            return await said_by(listener, b"".join(framed(b"%d" % number) for number in range(20)))

    assert asyncio.run(play()) == b"".join(framed(b"ack:%d" % number) for number in range(20))


@pytest.mark.parametrize("noise", [b"", b"\r\n", b"\x00\x00", b"garbage"])
def test_a_frame_in_pieces_and_bytes_between_frames_change_nothing(noise: bytes) -> None:
    async def play() -> bytes:
        async with listening() as listener:
            return await said_by(listener, noise, b"\x0b", b"MSH|", b"x\x1c", noise + b"\x0by\x1c\r", wait=0.01)

    assert asyncio.run(play()) == framed(b"ack:MSH|x") + framed(b"ack:y")


def test_a_message_over_the_limit_is_rejected_and_its_connection_closed() -> None:
    seen: list[bytes] = []

    async def play() -> bytes:
        async with listening(answer=lambda raw: seen.append(raw) or b"ack") as listener:
            return await said_by(listener, b"\x0b" + b"x" * 5000, framed(b"after"))

    assert asyncio.run(play()) in {framed(b"too large"), b""}
    assert seen == []


@pytest.mark.parametrize("pieces", [(b"",), (b"\x0bnever ended",)])
def test_silence_before_or_within_a_frame_ends_the_connection(pieces: tuple[bytes, ...]) -> None:
    params = MllpParams(is_on=True, port=0, idle_seconds=0.2, frame_seconds=0.2)

    async def play() -> float:
        async with listening(params) as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(pieces[0])
            started = time.monotonic()
            assert await asyncio.wait_for(reader.read(), 5) == b""
            writer.close()
            return time.monotonic() - started

    assert asyncio.run(play()) < 4


def test_a_connection_beyond_the_limit_is_closed_and_a_free_place_is_given_again() -> None:
    async def play() -> None:
        async with listening() as listener:
            held = [await asyncio.open_connection("127.0.0.1", listener.port) for _ in range(3)]
            for reader, writer in held:
                writer.write(framed(b"in"))
                assert await reader.readexactly(8) == framed(b"ack:in")[:8]
            assert await said_by(listener, b"") == b""
            for _, writer in held:
                writer.close()
            await asyncio.sleep(0.1)
            assert await said_by(listener, framed(b"again")) == framed(b"ack:again")

    asyncio.run(play())


def test_an_answer_that_fails_ends_its_own_connection_alone() -> None:
    def answer(raw: bytes) -> bytes:
        if raw == b"bad":
            raise ZeroDivisionError
        return b"ack"

    async def play() -> tuple[bytes, bytes]:
        async with listening(answer=answer) as listener:
            return await said_by(listener, framed(b"bad")), await said_by(listener, framed(b"good"))

    assert asyncio.run(play()) == (b"", framed(b"ack"))


def test_a_port_that_is_taken_leaves_the_service_alone_and_a_free_one_is_given_back() -> None:
    async def play() -> None:
        async with listening() as first:
            taken = MllpListener(MllpParams(is_on=True, port=first.port), lambda raw: raw, lambda: b"")
            await asyncio.wait_for(listen(taken, asyncio.Event()), 5)
            port = first.port
        stop = asyncio.Event()
        again = MllpListener(MllpParams(is_on=True, port=port), lambda raw: raw, lambda: b"")
        task = asyncio.create_task(listen(again, stop))
        await asyncio.sleep(0.1)
        assert await said_by(again, framed(b"x")) == framed(b"x")
        stop.set()
        await asyncio.wait_for(task, 5)

    asyncio.run(play())


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=30), max_size=5))
def test_any_bytes_leave_a_listener_that_answers_the_next_sender(pieces: list[bytes]) -> None:
    async def play() -> bytes:
        async with listening() as listener:
            await said_by(listener, *pieces)
            return await said_by(listener, framed(b"next"))

    assert asyncio.run(play()) == framed(b"ack:next")
