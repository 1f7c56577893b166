"""
Orders to an outside system by HTTP POST, signed as Standard Webhooks says (standardwebhooks.com, specification 1.0).

What it tells: every new order and every withdrawal, whole. What it cannot tell: whether a site read it; that comes back
as a receipt. The receiver recognises a repeat by the header `webhook-id`, which is the same at every attempt.

While a secret is being changed both are given, and every call carries a signature of each, as the specification asks
for; the receiver may change over at any moment in between.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx
import standardwebhooks

from doseflow.errors import SettingsWrong
from doseflow.gateways.http_answer import no_answer, require_taken
from doseflow.gateways.order_event import TOPIC_TO_EVENT, event_bytes, message_id
from doseflow.ports import OutboxEntry

MIN_SECRET_BYTES = 24
"""Standard Webhooks, section "Signature scheme"."""


class Webhook:
    """
    Posts to one URL.

    Parameters
    ----------
    secrets
        Shared with the receiver: each base64 of at least 24 bytes, with or without `whsec_` before it.
    timeout_seconds
        For connecting, for sending and for the answer, each.
    event_types
        What is told, of `order.made` and `order.withdrawn`.

    Raises
    ------
    SettingsWrong
        The URL or a secret cannot be used.
    """

    group_size = 1

    def __init__(
        self,
        url: str,
        secrets: str | Sequence[str],
        timeout_seconds: float,
        *,
        name: str = "webhook",
        event_types: Collection[str] = tuple(TOPIC_TO_EVENT.values()),
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsWrong(f"webhook.url: must begin with https:// or http:// and name a host, got {url!r}")
        self.name = name
        self._url = url
        self._host = parts.hostname
        self._timeout_seconds = timeout_seconds
        self._event_types = frozenset(event_types)
        secrets = (secrets,) if isinstance(secrets, str) else secrets
        self._signers = [standardwebhooks.Webhook(_secret_bytes(secret)) for secret in secrets]
        # Made once: it reads all the certificates of the machine.
        self._trust = ssl.create_default_context()

    def reaches(self, site_id: str) -> bool:  # noqa: ARG002 - all of them
        """The receiver is told of every site."""
        return True

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """
        Post changes, each by itself.

        Raises
        ------
        GatewayFailed
            No connection, no answer in time, or an answer other than 2xx.
        GatewayRefused
            An answer of 4xx that is about the order.
        """
        for entry in entries:
            if TOPIC_TO_EVENT[entry.topic] in self._event_types:
                await self._post(entry)

    async def _post(self, entry: OutboxEntry) -> None:
        body, headers = self._message(entry)
        try:
            # A client an entry: the relay may run in a new event loop each time, and a kept connection belongs to one.
            async with httpx.AsyncClient(timeout=self._timeout_seconds, verify=self._trust) as client:
                response = await client.post(self._url, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise no_answer(self._host, error) from error
        require_taken(response, self._host)

    def _message(self, entry: OutboxEntry) -> tuple[bytes, dict[str, str]]:
        # Real time, even while a simulated day runs: receivers refuse what was signed long ago.
        signed_at = datetime.now(UTC)
        body = event_bytes(entry, signed_at)
        webhook_id = message_id(entry)
        return body, {
            "content-type": "application/json",
            "webhook-id": webhook_id,
            "webhook-timestamp": str(int(signed_at.timestamp())),
            "webhook-signature": " ".join(one.sign(webhook_id, signed_at, body.decode()) for one in self._signers),
        }


def _secret_bytes(secret: str) -> bytes:
    try:
        decoded = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise SettingsWrong("webhook.secret: must be base64, with or without whsec_ before it") from error
    if len(decoded) < MIN_SECRET_BYTES:
        raise SettingsWrong(f"webhook.secret: must hold at least {MIN_SECRET_BYTES} bytes, got {len(decoded)}")
    return decoded
