"""
One publisher of SMART Scheduling Links, polled over HTTP: manifest first, then its files, each only if changed.

What it tells and cannot tell stands in `intake.smart_feed`. Conditional requests are RFC 9110, section 13; the manifest
may be asked for changes only, by `_since` of FHIR bulk data. What a file no longer holds is not taken for deleted.

Traps: bodies that end too soon (their ETag is not believed), compressed bodies that grow (the limit counts what comes
out), manifests that point at other hosts (only those that the settings name are asked), redirects (not followed).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx

from doseflow.errors import GatewayFailed, MessageRefused, SettingsWrong
from doseflow.intake.smart_feed import FeedFile, Manifest, read_manifest

LINES_AT_ONCE = 500
MAX_MANIFEST_BYTES = 4 * 2**20
NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class SlotFeedParams:
    """Which publishers of SMART Scheduling Links are polled, and how gently."""

    urls: tuple[str, ...] = ()
    """Manifests, `https://.../$bulk-publish`; none is off."""
    poll_seconds: float = 300.0
    """Time between two polls."""
    since: bool = False
    """Ask the manifest for changes since the last poll (`_since`); many publishers do not know it."""
    other_hosts: tuple[str, ...] = ()
    """Hosts besides the manifest's own from which its files may be read."""
    timeout_seconds: float = 20.0
    """For connecting, and for each silence while something is read."""
    max_file_bytes: int = 256 * 2**20
    """Largest file, after decompression."""
    max_line_bytes: int = 65_536
    """Longest line; a longer one ends the file."""
    max_wait_seconds: float = 3600.0
    """Longest time between two tries while a publisher fails; it doubles from `poll_seconds`."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("poll_seconds", 0.05, 86_400),
            ("timeout_seconds", 0.1, 600),
            ("max_file_bytes", 1024, 2**34),
            ("max_line_bytes", 256, 2**24),
            ("max_wait_seconds", 0.05, 7 * 86_400),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {value}")


@dataclass(frozen=True, slots=True)
class PollOutcome:
    """What one poll brought: files read whole, files unchanged, and a sentence for each that failed."""

    read: int
    unchanged: int
    failures: tuple[str, ...]


class SlotPublisher:
    """
    Polls one manifest; what it remembers between polls lives in memory, so that a restart reads everything once.

    Raises
    ------
    SettingsWrong
        The URL names no host.
    """

    def __init__(self, url: str, params: SlotFeedParams) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsWrong(f"slot_feeds.urls: must begin with https:// or http:// and name a host, got {url!r}")
        self.host = parts.hostname
        self._url = url
        self._params = params
        self._hosts = {parts.netloc.lower(), *(host.lower() for host in params.other_hosts)}
        self._validators: dict[str, dict[str, str]] = {}
        self._manifest: Manifest | None = None
        self._places_are_new = False

    async def poll(self, take: Callable[[str, Sequence[bytes]], None]) -> PollOutcome:
        """
        Read what has changed; `take` gets the kind and some lines of a file at a time, in a thread.

        Raises
        ------
        GatewayFailed
            The manifest cannot be had, or the publisher is busy; that a file cannot be had is told in the outcome.
        """
        async with httpx.AsyncClient(timeout=self._params.timeout_seconds, follow_redirects=False) as client:
            try:
                manifest = await self._current_manifest(client)
            except (httpx.HTTPError, MessageRefused) as error:
                raise GatewayFailed(f"{self.host}: the manifest cannot be read: {_plain(error)}") from error
            return await self._read_files(client, manifest, take)

    async def _read_files(
        self, client: httpx.AsyncClient, manifest: Manifest, take: Callable[[str, Sequence[bytes]], None]
    ) -> PollOutcome:
        read = unchanged = 0
        failures: list[str] = []
        for file in manifest.files:
            try:
                is_read = await self._read_file(client, file, take)
            except (httpx.HTTPError, GatewayFailed) as error:
                if getattr(error, "retry_after_seconds", None) is not None:
                    raise
                failures.append(f"{file.kind} {urlsplit(file.url).path}: {_plain(error)}")
                self._validators.pop(file.url, None)
                self._places_are_new = True
                continue
            self._places_are_new |= is_read and file.kind != "Slot"
            read, unchanged = read + is_read, unchanged + (not is_read)
        self._places_are_new = bool(failures)
        return PollOutcome(read, unchanged, tuple(failures))

    async def _current_manifest(self, client: httpx.AsyncClient) -> Manifest:
        since = self._manifest.transaction_time if self._manifest and self._params.since else ""
        async with self._asked(client, self._url, {"_since": since} if since else {}) as response:
            if response.status_code == NOT_MODIFIED and self._manifest is not None:
                return self._manifest
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_MANIFEST_BYTES:
                    raise GatewayFailed(f"{self.host}: the manifest is over {MAX_MANIFEST_BYTES} bytes")
            manifest = read_manifest(bytes(body), self._url)
            self._remember(self._url, response)
        self._manifest = manifest
        return manifest

    async def _read_file(
        self, client: httpx.AsyncClient, file: FeedFile, take: Callable[[str, Sequence[bytes]], None]
    ) -> bool:
        """Read one file; False where it has not changed."""
        if urlsplit(file.url).netloc.lower() not in self._hosts or urlsplit(file.url).scheme not in {"http", "https"}:
            raise GatewayFailed("stands at a host that slot_feeds.other_hosts does not name")
        # A slot is placed by its Location: where those are new, or were not had, unchanged slots are read again.
        if self._places_are_new and file.kind == "Slot":
            self._validators.pop(file.url, None)
        async with self._asked(client, file.url, {}) as response:
            if response.status_code == NOT_MODIFIED:
                return False
            waiting: list[bytes] = []
            async for line in self._lines(response):
                waiting.append(line)
                if len(waiting) >= LINES_AT_ONCE:
                    await asyncio.to_thread(take, file.kind, waiting)
                    waiting = []
            if waiting:
                await asyncio.to_thread(take, file.kind, waiting)
            self._remember(file.url, response)
        return True

    async def _lines(self, response: httpx.Response) -> AsyncIterator[bytes]:
        seen, rest = 0, b""
        async for chunk in response.aiter_bytes():
            seen += len(chunk)
            if seen > self._params.max_file_bytes:
                raise GatewayFailed(f"is over {self._params.max_file_bytes} bytes")
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line
            if len(rest) > self._params.max_line_bytes:
                raise GatewayFailed(f"has a line over {self._params.max_line_bytes} bytes")
        if rest.strip():
            yield rest

    @asynccontextmanager
    async def _asked(
        self, client: httpx.AsyncClient, url: str, params: dict[str, str]
    ) -> AsyncIterator[httpx.Response]:
        headers = {"accept": "application/fhir+ndjson, application/json", **({} if params else self._conditions(url))}
        async with client.stream("GET", url, params=params or None, headers=headers) as response:
            if response.status_code in {429, 503}:
                raise GatewayFailed(f"{self.host} answered {response.status_code}", _retry_after(response))
            if not response.is_success and not (response.status_code == NOT_MODIFIED and self._conditions(url)):
                raise GatewayFailed(f"answered {response.status_code}")
            yield response

    def _conditions(self, url: str) -> dict[str, str]:
        return self._validators.get(url, {})

    def _remember(self, url: str, response: httpx.Response) -> None:
        conditions = {}
        if etag := response.headers.get("etag"):
            conditions["if-none-match"] = etag
        elif modified := response.headers.get("last-modified"):
            conditions["if-modified-since"] = modified
        self._validators[url] = conditions


def _retry_after(response: httpx.Response) -> float:
    said = response.headers.get("retry-after", "")
    if said.isascii() and said.isdigit() and len(said) < 8:
        return float(said)
    try:
        now = parsedate_to_datetime(response.headers["date"])
        return max(0.0, (parsedate_to_datetime(said) - now).total_seconds())
    except (KeyError, TypeError, ValueError):
        return 0.0


def _plain(error: Exception) -> str:
    return str(error) or type(error).__name__
