"""
Orders to sites by MQTT 5 (OASIS standard, 2019-03-07), and their receipts back.

An order goes to `doseflow/{city}/{site}/orders` with quality of service 1, and counts as told when the broker has
acknowledged it (section 4.3.2). It carries a message expiry (3.3.2.3.3), so that a broker never hands a site an order
that was due long ago, and says where its receipt is wanted (response topic, 4.10). Receipts come on
`doseflow/{city}/{site}/receipts` in a session that outlives a cut (3.1.2.11.2); each is acknowledged once it is stored.

What it cannot tell: whether the site is listening. The broker keeps messages only for sites that have subscribed with a
session of their own; a site that may be away for longer uses the site inbox too. Traps: a broker answers a publication
nobody may make with a reason code of 0x80 and more, which is not an error of the connection; ids may hold `/`, `+` and
`#`, which mean something in a topic and are percent-encoded.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import structlog

from doseflow.errors import EnvironmentUnfit, GatewayFailed, GatewayRefused, SettingsWrong, StoreUnavailable
from doseflow.gateways.order_event import TOPIC_TO_EVENT, event_bytes, message_id
from doseflow.ports import Clock, OutboxEntry

SESSION_SECONDS = 7 * 24 * 3600
"""How long the broker keeps receipts for us while we are away."""
WITHDRAWAL_EXPIRY_SECONDS = 3600
REFUSED_FOR_GOOD = frozenset({0x90, 0x95, 0x99})
"""Reason codes of PUBACK (3.4.2.1) that are about the message: topic name, packet size, payload format."""
FIRST_FAILURE_CODE = 0x80
log = structlog.get_logger(__name__)

TakeMessage = Callable[[str, bytes], None]
"""Takes a receipt as it came, and the site whose topic it came on; raises StoreUnavailable to get it again."""


@dataclass(frozen=True, slots=True)
class MqttBroker:
    """Where the broker is, and who we are to it; `is_encrypted` is TLS with the certificates of the machine."""

    host: str
    port: int = 1883
    username: str | None = None
    password: str | None = None
    is_encrypted: bool = False
    timeout_seconds: float = 5.0


class MqttOrders:
    """
    Tells one broker, and listens to it.

    Raises
    ------
    EnvironmentUnfit
        The library is missing.
    """

    name = "mqtt"
    group_size = 20

    def __init__(self, broker: MqttBroker, city_id: str, clock: Clock) -> None:
        self._library = _library()
        self._broker = broker
        self._city_id = city_id
        self._clock = clock

    def reaches(self, site_id: str) -> bool:  # noqa: ARG002 - all of them
        """Every site has its topic."""
        return True

    def topic(self, site_id: str, what: str) -> str:
        """Topic of a site's `orders` or `receipts`."""
        return f"doseflow/{_level(self._city_id)}/{_level(site_id)}/{what}"

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """
        Publish changes of one site in order, each when the broker has taken the one before.

        Raises
        ------
        GatewayFailed, GatewayRefused
        """
        try:
            # A connection a delivery: the relay may run in a new event loop each time.
            async with self._connected(f"doseflow-{secrets.token_hex(6)}", session_seconds=0) as (client, codes):
                for entry in entries:
                    await self._publish(client, codes, entry)
        except (self._library.MqttError, OSError, TimeoutError) as error:
            raise GatewayFailed(
                f"{self._broker.host} did not answer: {type(error).__name__} {error}".rstrip()
            ) from error

    async def receive(self, take: TakeMessage, listening: Callable[[], None] = lambda: None) -> None:
        """
        Hand every receipt to `take`, until the connection breaks; `listening` is called once it stands.

        Raises
        ------
        GatewayFailed
            The broker does not answer any more.
        """
        client_id = f"doseflow-{_level(self._city_id)}-receipts"
        try:
            async with self._connected(client_id, session_seconds=SESSION_SECONDS) as (client, _):
                await client.subscribe(f"doseflow/{_level(self._city_id)}/+/receipts", qos=1)
                listening()
                async for message in client.messages:
                    await self._hand_over(client, message, take)
        except (self._library.MqttError, OSError, TimeoutError) as error:
            raise GatewayFailed(f"{self._broker.host} hung up: {error}") from error

    async def _hand_over(self, client: Any, message: Any, take: TakeMessage) -> None:
        site_id = unquote(str(message.topic).split("/")[-2])
        try:
            await asyncio.to_thread(take, site_id, bytes(message.payload))
        except StoreUnavailable as error:
            # Not acknowledged: the broker sends it again when we are back.
            raise GatewayFailed(f"a receipt could not be stored: {error}") from error
        client._client.ack(message.mid, message.qos)

    async def _publish(self, client: Any, codes: dict[int, int], entry: OutboxEntry) -> None:
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        order = entry.order
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        properties.ContentType = "application/json"
        properties.MessageExpiryInterval = self._expiry_seconds(entry)
        properties.ResponseTopic = self.topic(order.site_id, "receipts")
        properties.CorrelationData = order.order_id.encode()
        properties.UserProperty = [("id", message_id(entry)), ("type", TOPIC_TO_EVENT[entry.topic])]
        topic = self.topic(order.site_id, "orders")
        codes.clear()
        await client.publish(topic, event_bytes(entry, datetime.now(UTC)), qos=1, properties=properties)
        code = max(codes.values(), default=0)
        if code >= FIRST_FAILURE_CODE:
            text = f"{self._broker.host} answered 0x{code:02x} to {topic}"
            raise GatewayRefused(text) if code in REFUSED_FOR_GOOD else GatewayFailed(text)

    def _expiry_seconds(self, entry: OutboxEntry) -> int:
        if entry.topic == "withdrawal":
            return WITHDRAWAL_EXPIRY_SECONDS
        return max(1, int((entry.order.due_at - self._clock.now()).total_seconds()))

    @asynccontextmanager
    async def _connected(self, client_id: str, *, session_seconds: int) -> AsyncIterator[tuple[Any, dict[int, int]]]:
        """A client, and the reason codes of its publications by their number."""
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        broker = self._broker
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = session_seconds
        client = self._library.Client(
            broker.host,
            broker.port,
            username=broker.username,
            password=broker.password,
            identifier=client_id,
            protocol=self._library.ProtocolVersion.V5,
            clean_start=session_seconds == 0,
            properties=properties,
            timeout=broker.timeout_seconds,
            tls_params=self._library.TLSParameters() if broker.is_encrypted else None,
        )
        codes: dict[int, int] = {}
        # aiomqtt tells neither reason codes of PUBACK nor lets us acknowledge: both are paho's, which it wraps.
        inner = client._client
        inner.manual_ack_set(on=True)
        told = inner.on_publish

        def on_publish(paho: Any, userdata: Any, mid: int, code: Any, properties: Any) -> None:
            codes[mid] = code.value
            told(paho, userdata, mid, code, properties)

        inner.on_publish = on_publish
        async with client:
            yield client, codes


def _level(text: str) -> str:
    return quote(text, safe="")


def _library() -> ModuleType:
    try:
        import aiomqtt
    except ImportError as error:
        raise EnvironmentUnfit(
            f"gateways.mqtt: needs the libraries of `pip install 'doseflow[mqtt]'`; {error.name} is missing"
        ) from error
    return aiomqtt


def broker_of(url: str, *, username: str | None, password: str | None, timeout_seconds: float) -> MqttBroker:
    """
    The broker at `mqtt://host:port` or `mqtts://host:port`.

    Raises
    ------
    SettingsWrong
    """
    parts = urlsplit(url)
    is_encrypted = parts.scheme == "mqtts"
    if parts.scheme not in {"mqtt", "mqtts"} or not parts.hostname:
        raise SettingsWrong(f"gateways.mqtt.url: must begin with mqtt:// or mqtts:// and name a host, got {url!r}")
    port = parts.port or (8883 if is_encrypted else 1883)
    return MqttBroker(parts.hostname, port, username, password, is_encrypted, timeout_seconds)
