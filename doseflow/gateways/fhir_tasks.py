"""
Orders to a FHIR R4 server by REST (hl7.org/fhir/R4/http.html), and its answers back.

An order is a Task, created on the condition that none has its identifier (`If-None-Exist`, section 3.1.0.8.1), and what
it is about, a SupplyRequest or SupplyDelivery, before it in the same way. A withdrawal is a conditional update
(`PUT Task?identifier=...`, 3.1.0.4.3), which needs no id of the server's and does no harm twice.

Answers are fetched by `Task?_lastUpdated=gt...`, which every server can do; one that can push may `PUT` its Tasks to
`/api/v1/fhir/Task/{id}` instead, or as well. What it cannot tell: whether anybody read the Task.

Traps: a search is allowed to lag behind a write, so that each poll begins a little before the last one ended; links to
the next page are followed only within the server's own address, since the call carries our token.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urljoin, urlsplit

import httpx
import orjson

from doseflow.dispatch.fhir_order import Resource, focus_of, order_system, task_of
from doseflow.errors import GatewayFailed, SettingsWrong
from doseflow.gateways.http_answer import no_answer, require_taken
from doseflow.intake.fhir_receipt import moment_of
from doseflow.ports import OutboxEntry

MEDIA_TYPE = "application/fhir+json"
OVERLAP = timedelta(seconds=5)
"""Each poll begins so long before the newest Task of the one before."""
MAX_PAGES = 50
PAGE_TASKS = 200


class FhirTasks:
    """
    Tells one FHIR server, and asks it.

    Parameters
    ----------
    base_url
        The service base, for example `https://fhir.hospital.example/r4`.
    token
        Sent as `Authorization: Bearer`; None where the server wants none.
    system_base
        What our systems of codes and identifiers begin with.

    Raises
    ------
    SettingsWrong
        The URL cannot be used.
    """

    name = "fhir"
    group_size = 1

    def __init__(self, base_url: str, token: str | None, timeout_seconds: float, system_base: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsWrong(f"gateways.fhir.url: must begin with https:// or http://, got {base_url!r}")
        self._base = base_url.rstrip("/") + "/"
        self._host = parts.hostname
        self._timeout_seconds = timeout_seconds
        self._system_base = system_base.rstrip("/")
        self._headers = {"accept": MEDIA_TYPE, "content-type": MEDIA_TYPE}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        self._trust = ssl.create_default_context()

    @property
    def system(self) -> str:
        """The system of order ids as identifiers."""
        return order_system(self._system_base)

    def reaches(self, site_id: str) -> bool:  # noqa: ARG002 - all of them
        """The server is told of every site."""
        return True

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """
        Create the Tasks of orders, and cancel those of withdrawals.

        Raises
        ------
        GatewayFailed, GatewayRefused
        """
        async with self._client() as client:
            for entry in entries:
                await self._tell(client, entry)

    async def tasks_since(self, moment: datetime) -> AsyncIterator[Resource]:
        """
        Tasks that were changed after a moment, oldest change first.

        Raises
        ------
        GatewayFailed
        """
        since = (moment - OVERLAP).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        url: str | None = urljoin(
            self._base, f"Task?_lastUpdated=gt{quote(since)}&_sort=_lastUpdated&_count={PAGE_TASKS}"
        )
        async with self._client() as client:
            for _ in range(MAX_PAGES):
                if url is None:
                    return
                bundle = await self._page(client, url)
                for task in _tasks(bundle):
                    yield task
                url = self._next(bundle, url)

    async def _tell(self, client: httpx.AsyncClient, entry: OutboxEntry) -> None:
        identifier = f"identifier={quote(self.system, safe='')}%7C{quote(entry.order.order_id, safe='')}"
        is_withdrawal = entry.topic == "withdrawal"
        focus = focus_of(entry.order, self._system_base)
        reference = None
        if focus is not None:
            written = await self._write(client, focus, identifier, is_update=is_withdrawal)
            by_identifier = {"type": focus["resourceType"], "identifier": focus["identifier"][0]}
            reference = by_identifier if written is None else {"reference": written}
        task = task_of(entry.order, self._system_base, datetime.now(UTC), reference)
        await self._write(client, task, identifier, is_update=is_withdrawal)

    async def _write(
        self, client: httpx.AsyncClient, resource: Resource, identifier: str, *, is_update: bool
    ) -> str | None:
        """Create or update by identifier; the reference of what is there then, as far as the server tells."""
        kind = resource["resourceType"]
        body = orjson.dumps(resource)
        try:
            if is_update:
                response = await client.put(f"{kind}?{identifier}", content=body)
            else:
                response = await client.post(kind, content=body, headers={"if-none-exist": identifier})
        except httpx.HTTPError as error:
            raise no_answer(self._host, error) from error
        require_taken(response, self._host, _outcome_text(response))
        return _reference(response, kind)

    async def _page(self, client: httpx.AsyncClient, url: str) -> Resource:
        try:
            response = await client.get(url)
            require_taken(response, self._host, _outcome_text(response))
            bundle = response.json()
        except httpx.HTTPError as error:
            raise no_answer(self._host, error) from error
        except ValueError as error:
            raise GatewayFailed(f"{self._host} answered something that is not JSON") from error
        if not isinstance(bundle, dict) or bundle.get("resourceType") != "Bundle":
            raise GatewayFailed(f"{self._host} answered something that is not a Bundle")
        return bundle

    def _next(self, bundle: Resource, here: str) -> str | None:
        links = bundle.get("link")
        for link in links if isinstance(links, list) else []:
            if isinstance(link, dict) and link.get("relation") == "next" and isinstance(link.get("url"), str):
                url = urljoin(here, link["url"])
                return url if urlsplit(url)[:2] == urlsplit(self._base)[:2] else None
        return None

    def _client(self) -> httpx.AsyncClient:
        # A client a delivery: the relay may run in a new event loop each time, and a kept connection belongs to one.
        return httpx.AsyncClient(
            base_url=self._base, timeout=self._timeout_seconds, verify=self._trust, headers=self._headers
        )


def newest_change(tasks: Sequence[Resource], before: datetime) -> datetime:
    """The latest `meta.lastUpdated` of Tasks, or `before` where none is later."""
    told = [moment_of(meta.get("lastUpdated")) for task in tasks if isinstance(meta := task.get("meta"), dict)]
    return max([before, *(moment for moment in told if moment is not None)])


def _tasks(bundle: Resource) -> list[Resource]:
    entries = bundle.get("entry")
    found = [entry.get("resource") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return [task for task in found if isinstance(task, dict) and task.get("resourceType") == "Task"]


def _reference(response: httpx.Response, kind: str) -> str | None:
    """From the header Location, `[base]/Kind/id/_history/version`, or from the body."""
    parts = response.headers.get("location", "").split("/")
    if kind in parts[:-1]:
        return f"{kind}/{parts[parts.index(kind) + 1]}"
    try:
        body = response.json()
    except ValueError:
        return None
    return (
        f"{kind}/{body['id']}" if isinstance(body, dict) and body.get("resourceType") == kind and "id" in body else None
    )


def _outcome_text(response: httpx.Response) -> str:
    """The first issue of an OperationOutcome."""
    try:
        issue = response.json()["issue"][0]
        said = issue.get("diagnostics") or issue.get("details", {}).get("text") or issue.get("code")
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""
    return " ".join(str(said).split())[:300]
