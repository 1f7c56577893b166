"""
Orders to an outside system by HTTP POST, signed as Standard Webhooks says (standardwebhooks.com, specification 1.0).

What it tells: every new order and every withdrawal, whole. What it cannot tell: whether a site read it; that comes back
as a receipt. The receiver recognises a repeat by the header `webhook-id`, which is the same at every attempt.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx
import orjson
import standardwebhooks

from doseflow.errors import GatewayFailed, SettingsWrong
from doseflow.ports import OutboxEntry

TOPIC_TO_EVENT = {"order": "order.made", "withdrawal": "order.withdrawn"}
"""The event type of each topic of the outbox."""
MIN_SECRET_BYTES = 24
"""Standard Webhooks, section "Signature scheme"."""


class Webhook:
    """
    Posts to one URL.

    Parameters
    ----------
    secret
        Shared with the receiver: base64 of at least 24 bytes, with or without `whsec_` before it.
    timeout_seconds
        For connecting, for sending and for the answer, each.

    Raises
    ------
    SettingsWrong
        The URL or the secret cannot be used.
    """

    name = "webhook"

    def __init__(self, url: str, secret: str, timeout_seconds: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsWrong(f"webhook.url: must begin with https:// or http:// and name a host, got {url!r}")
        self._url = url
        self._host = parts.hostname
        self._timeout_seconds = timeout_seconds
        self._signer = standardwebhooks.Webhook(_secret_bytes(secret))
        # Made once: it reads all the certificates of the machine.
        self._trust = ssl.create_default_context()

    async def deliver(self, entry: OutboxEntry) -> None:
        """
        Post one change.

        Raises
        ------
        GatewayFailed
            No connection, no answer in time, or an answer other than 2xx.
        """
        body, headers = self._message(entry)
        try:
            # A client an entry: the relay may run in a new event loop each time, and a kept connection belongs to one.
            async with httpx.AsyncClient(timeout=self._timeout_seconds, verify=self._trust) as client:
                response = await client.post(self._url, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise GatewayFailed(f"{self._host} did not answer: {type(error).__name__} {error}".rstrip()) from error
        if not response.is_success:
            raise GatewayFailed(f"{self._host} answered {response.status_code}")

    def _message(self, entry: OutboxEntry) -> tuple[bytes, dict[str, str]]:
        # Real time, even while a simulated day runs: receivers refuse what was signed long ago.
        signed_at = datetime.now(UTC)
        body = orjson.dumps(
            {"type": TOPIC_TO_EVENT[entry.topic], "timestamp": signed_at, "data": entry.order},
            option=orjson.OPT_SERIALIZE_NUMPY,
        )
        message_id = f"{entry.order.order_id}-{entry.topic}"
        return body, {
            "content-type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(signed_at.timestamp())),
            "webhook-signature": self._signer.sign(message_id, signed_at, body.decode()),
        }


def _secret_bytes(secret: str) -> bytes:
    try:
        decoded = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise SettingsWrong("webhook.secret: must be base64, with or without whsec_ before it") from error
    if len(decoded) < MIN_SECRET_BYTES:
        raise SettingsWrong(f"webhook.secret: must hold at least {MIN_SECRET_BYTES} bytes, got {len(decoded)}")
    return decoded
