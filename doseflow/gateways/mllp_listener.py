"""
A listener for HL7 v2 over MLLP (HL7 v2.8, appendix C; Minimal Lower Layer Protocol): VT, the message, FS, CR.

What it tells: one message after another of each connection, each answered before the next is read, so that a sender's
order is kept. What it cannot tell: who is at the other end. MLLP has no sign-in and no encryption: listen on loopback
behind a TLS tunnel, or in a network of its own.

Traps: senders that leave the last CR out, send keep-alive bytes between messages, or begin a frame and never end it;
hence limits on a frame's size, on silence and on connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

START = b"\x0b"
END = b"\x1c"
READ_BYTES = 65_536
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MllpParams:
    """Where HL7 v2 messages are listened for, and how much is borne with."""

    is_on: bool = False
    """Listen at all."""
    host: str = "127.0.0.1"
    """Address to listen on; MLLP knows no sign-in, so that opening it to a network is a decision."""
    port: int = 2575
    """Port to listen on; 2575 is the one registered for HL7."""
    max_message_bytes: int = 262_144
    """Largest message; a longer one is rejected and its connection closed."""
    max_connections: int = 16
    """Connections at once; a further one is closed at once."""
    idle_seconds: float = 3600.0
    """A connection silent for so long is closed."""
    frame_seconds: float = 30.0
    """A message must be whole so long after it began."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("port", 0, 65_535),
            ("max_message_bytes", 1024, 2**26),
            ("max_connections", 1, 10_000),
            ("idle_seconds", 0.1, 7 * 86_400),
            ("frame_seconds", 0.1, 3600),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {value}")


class MllpListener:
    """
    Answers each message by a function.

    Parameters
    ----------
    answer
        Called in a thread with the bytes of a message; gives those of its acknowledgement.
    too_large
        The acknowledgement of a message over the limit.
    """

    def __init__(self, params: MllpParams, answer: Callable[[bytes], bytes], too_large: Callable[[], bytes]) -> None:
        self._params = params
        self._answer = answer
        self._too_large = too_large
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port that is listened on, once it is."""
        if self._server is None:
            raise RuntimeError("the listener has not been started")
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._serve, self._params.host, self._params.port)

    async def stop(self) -> None:
        """Stop listening and close what is open; a message whose answer was not sent will be sent again."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._connections) >= self._params.max_connections:
            log.warning("mllp_connection_refused", connections=len(self._connections))
            writer.close()
            return
        self._connections.add(task)
        try:
            await self._converse(_Frames(reader, self._params), writer)
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            pass
        except Exception:  # the boundary of a connection: the others go on
            log.exception("mllp_connection_failed")
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, frames: _Frames, writer: asyncio.StreamWriter) -> None:
        while (frame := await frames.next()) is not None:
            if len(frame) > self._params.max_message_bytes:
                await _send(writer, self._too_large())
                return
            await _send(writer, await asyncio.to_thread(self._answer, frame))


class _Frames:
    """The messages of a connection; one too large comes as its beginning, one byte over the limit."""

    def __init__(self, reader: asyncio.StreamReader, params: MllpParams) -> None:
        self._reader = reader
        self._params = params
        self._kept = bytearray()

    async def next(self) -> bytes | None:
        """The next message, None when the other end has hung up."""
        async with asyncio.timeout(self._params.idle_seconds):
            while (start := self._kept.find(START)) < 0:
                self._kept.clear()
                if not await self._read():
                    return None
        del self._kept[: start + 1]
        async with asyncio.timeout(self._params.frame_seconds):
            seen = 0
            while (end := self._kept.find(END, seen)) < 0:
                seen = len(self._kept)
                if seen > self._params.max_message_bytes:
                    return bytes(self._kept[: self._params.max_message_bytes + 1])
                if not await self._read():
                    return None
        frame = bytes(self._kept[:end])
        del self._kept[: end + 1]
        return frame

    async def _read(self) -> bool:
        chunk = await self._reader.read(READ_BYTES)
        self._kept += chunk
        return bool(chunk)


async def _send(writer: asyncio.StreamWriter, answer: bytes) -> None:
    writer.write(START + answer + END + b"\r")
    await writer.drain()


async def listen(listener: MllpListener, stop: asyncio.Event) -> None:
    """Listen until `stop` is set; where the port cannot be had, say so and leave the rest of the service alone."""
    try:
        await listener.start()
    except OSError as error:
        log.error("mllp_not_listening", reason=str(error))
        return
    log.info("mllp_listening", port=listener.port)
    try:
        await stop.wait()
    finally:
        await listener.stop()
