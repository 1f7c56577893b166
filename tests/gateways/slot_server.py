"""A real HTTP publisher of SMART Scheduling Links, with ETags, that fails as it is told to."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


@dataclass
class Published:
    """What a publisher offers by path, what it answers instead, and what it was asked."""

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    instead: dict[str, Response] = field(default_factory=dict)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    """Path, query and status of each answer."""

    def offer(self, **files: bytes) -> None:
        """Files by kind and a name, such as `Slot_a`, with a manifest of them."""
        output = [{"type": name.split("_")[0], "url": f"/{name}.ndjson"} for name in files]
        self.bodies = {f"/{name}.ndjson": body for name, body in files.items()}
        manifest = {"transactionTime": "2026-05-04T08:00:00Z", "output": output}
        self.bodies["/$bulk-publish"] = json.dumps(manifest).encode()

    def statuses(self) -> dict[str, int]:
        """The last status by path."""
        return {path: status for path, _, status in self.asked}

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        response = self.instead.get(path) or self._file(path, request)
        self.asked.append((path, request.url.query, response.status_code))
        return response

    def _file(self, path: str, request: Request) -> Response:
        body = self.bodies.get(path)
        if body is None:
            return Response(status_code=404)
        etag = f'"{hashlib.sha256(body).hexdigest()[:12]}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers={"etag": etag})
        return Response(body, headers={"etag": etag})


@contextmanager
def publishing() -> Iterator[Published]:
    published = Published()
    app = Starlette(routes=[Route("/{path:path}", published.answer)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    published.url = f"http://127.0.0.1:{port}/$bulk-publish"
    try:
        yield published
    finally:
        server.should_exit = True
        thread.join(timeout=5)
