"""
Messages to the browsers of site heads by Web Push (RFC 8030), encrypted (RFC 8291) and signed by our own key (VAPID,
RFC 8292), through whatever push service the browser has.

One message a site for all that changed at once; a later one takes the place of an unread one (`Topic`, RFC 8030 section
5.4), and none outlives the orders in it (`TTL`, 5.2). It cannot tell whether it was read. A subscription that the push
service says has ended (404, 410) is forgotten.

Trap: the address of a subscription comes from a browser. Only https is pushed to, but on this machine itself.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import orjson

from doseflow.dispatch.quiet_words import quiet_message
from doseflow.errors import EnvironmentUnfit, GatewayFailed, SettingsWrong
from doseflow.ports import Clock, OutboxEntry, PushSubscription

GONE = frozenset({404, 410})
MIN_TTL_SECONDS = 60
HOSTS_OF_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})
_MISSING = "gateways.push: needs the libraries of `pip install 'doseflow[messages]'`; {} is missing"


class Subscriptions(Protocol):
    """Where the subscriptions of browsers are kept."""

    def of_site(self, site_id: str) -> list[PushSubscription]:
        """The subscriptions to a site."""

    def forget(self, endpoint: str) -> None:
        """Forget a browser."""


class WebPush:
    """
    Pushes to browsers.

    Parameters
    ----------
    private_key
        Of VAPID: the 32 bytes of the key in base64url, as `doseflow orders push-keys` prints it.
    contact
        `mailto:` or `https:` address that a push service may turn to (RFC 8292, section 2.1).

    Raises
    ------
    EnvironmentUnfit, SettingsWrong
    """

    name = "push"
    group_size = 100

    def __init__(
        self,
        private_key: str,
        contact: str,
        subscriptions: Subscriptions,
        *,
        timeout_seconds: float,
        site_names: Mapping[str, str],
        timezone: str,
        clock: Clock,
    ) -> None:
        self.public_key = public_key_of(private_key)
        if not contact.startswith(("mailto:", "https://")):
            raise SettingsWrong(f"gateways.push.contact: must begin with mailto: or https://, got {contact!r}")
        self._private_key = private_key
        self._contact = contact
        self._subscriptions = subscriptions
        self._timeout_seconds = timeout_seconds
        self._site_names = site_names
        self._timezone = timezone
        self._clock = clock

    def reaches(self, site_id: str) -> bool:
        """Whether a browser has asked to be told of the site."""
        return bool(self._subscriptions.of_site(site_id))

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """
        Push to every browser of the site; the others are pushed to even where one fails.

        Raises
        ------
        GatewayFailed
            Not one browser was reached.
        """
        subscriptions = await asyncio.to_thread(self._subscriptions.of_site, entries[0].order.site_id)
        pushes = (asyncio.to_thread(self._push, one, entries) for one in subscriptions)
        failures = [failure for failure in await asyncio.gather(*pushes) if failure is not None]
        if failures and len(failures) == len(subscriptions):
            raise failures[0]

    def _push(self, subscription: PushSubscription, entries: Sequence[OutboxEntry]) -> GatewayFailed | None:
        from pywebpush import WebPushException, webpush  # type: ignore[import-untyped]

        host = urlsplit(subscription.endpoint).hostname or ""
        try:
            webpush(
                _as_browser_gives_it(subscription),
                self._payload(entries, subscription.language),
                vapid_private_key=self._private_key,
                vapid_claims={"sub": self._contact},
                ttl=self._ttl_seconds(entries),
                headers={"topic": _topic(entries[0].order.site_id), "urgency": "high"},
                timeout=self._timeout_seconds,
            )
        except WebPushException as error:
            return self._failed(subscription, host, error)
        except (OSError, ValueError) as error:
            return GatewayFailed(f"{host} did not answer: {type(error).__name__}")
        return None

    def _failed(self, subscription: PushSubscription, host: str, error: Any) -> GatewayFailed | None:
        status = None if error.response is None else error.response.status_code
        if status in GONE:
            self._subscriptions.forget(subscription.endpoint)
            return None
        if status is None:
            return GatewayFailed(f"{host}: {error.message}")
        waits = error.response.headers.get("retry-after", "")
        return GatewayFailed(f"{host} answered {status}", float(waits) if waits.isdigit() else None)

    def _payload(self, entries: Sequence[OutboxEntry], language: str) -> bytes:
        site_id = entries[0].order.site_id
        message = quiet_message(entries, self._site_names.get(site_id, site_id), self._timezone, language)
        return orjson.dumps({"title": message.title, "body": message.body, "site_id": site_id, "tag": site_id})

    def _ttl_seconds(self, entries: Sequence[OutboxEntry]) -> int:
        left = max(entry.order.due_at for entry in entries) - self._clock.now()
        return max(MIN_TTL_SECONDS, int(left.total_seconds()))


def may_be_pushed_to(endpoint: str) -> bool:
    """Whether an address is one of a push service: https, or on this machine."""
    parts = urlsplit(endpoint)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in HOSTS_OF_THIS_MACHINE)


def make_push_keys() -> tuple[str, str]:
    """
    A new private key and its public key, both in base64url.

    Raises
    ------
    EnvironmentUnfit
    """
    vapid = _vapid()()
    vapid.generate_keys()
    private = vapid.private_key.private_numbers().private_value.to_bytes(32, "big")
    return _base64url(private), _public_of(vapid)


def public_key_of(private_key: str) -> str:
    """
    The public key of a private one: what a browser needs to subscribe.

    Raises
    ------
    EnvironmentUnfit, SettingsWrong
    """
    vapid = _vapid()
    try:
        return _public_of(vapid.from_string(private_key))
    except Exception as error:  # the library raises whatever its parsers do
        raise SettingsWrong(
            "gateways.push.private_key: must be a key as `doseflow orders push-keys` prints it"
        ) from error


def _public_of(vapid: Any) -> str:
    numbers = vapid.public_key.public_numbers()
    return _base64url(b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big"))


def _vapid() -> Any:
    try:
        import pywebpush  # noqa: F401 - so that what is missing is said at the start
        from py_vapid import Vapid  # type: ignore[import-untyped]
    except ImportError as error:
        raise EnvironmentUnfit(_MISSING.format(error.name)) from error
    return Vapid


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _as_browser_gives_it(subscription: PushSubscription) -> dict[str, Any]:
    keys = {"p256dh": subscription.public_key, "auth": subscription.auth}
    return {"endpoint": subscription.endpoint, "keys": keys}


def _topic(site_id: str) -> str:
    """At most 32 letters of base64url, which is all that a push service takes."""
    return _base64url(hashlib.sha256(site_id.encode()).digest()[:24])
