"""
What is checked at the door before anything is read: the host name, and who asks for a change.

A page of another origin cannot read our answers, but without these checks it could make a browser on this machine send
us orders (cross-site request), or reach us under a name of its own (DNS rebinding).
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from doseflow.web.error_responses import FOREIGN_HOST, FOREIGN_ORIGIN, problem_answer
from doseflow.web.json_answer import ProblemAnswer

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
ANY_HOST = "*"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class DoorChecks:
    """Refuses unknown host names, and changes asked for by pages of another origin; `*` allows every host."""

    def __init__(self, app: ASGIApp, allowed_hosts: Sequence[str] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._allowed_hosts = frozenset(host.lower() for host in allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the refusal, or go on."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ProblemAnswer | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if ANY_HOST not in self._allowed_hosts and _without_port(host) not in self._allowed_hosts:
            return problem_answer(FOREIGN_HOST, f"host: {host!r} is not served here; allow it with http.allowed_hosts")
        origin = headers.get("origin")
        if scope["method"] not in _SAFE_METHODS and origin is not None and not _is_same(origin, host):
            return problem_answer(FOREIGN_ORIGIN, f"origin: {origin!r} may not change anything here")
        return None


def _without_port(host: str) -> str:
    name = host.lower()
    if name.startswith("["):
        return name[: name.find("]") + 1]
    return name.rsplit(":", 1)[0] if ":" in name else name


def _is_same(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False
