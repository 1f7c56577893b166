"""A real HTTP server on this machine that takes webhooks, and fails as often as it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """What came in, and what to answer."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    """Status codes of the next answers; 200 when there are no more."""
    failing_sites: dict[str, int] = field(default_factory=dict)
    """Status code for every order of a site."""
    delay_seconds: float = 0.0
    bodies: list[dict] = field(default_factory=list)
    raw: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, raw: bytes, headers: dict[str, str]) -> int:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            body = json.loads(raw)
            self.bodies.append(body)
            self.raw.append((raw, headers))
            status = self.failing_sites.get(body["data"]["site_id"]) or (self.answers.pop(0) if self.answers else 200)
        time.sleep(self.delay_seconds)
        with self._lock:
            self._now -= 1
        return status

    def told(self) -> list[tuple[str, str]]:
        """Event type and order id of everything that came in."""
        return [(body["type"], body["data"]["order_id"]) for body in self.bodies]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(receiver.take(raw, {name.lower(): value for name, value in self.headers.items()}))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/orders"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
