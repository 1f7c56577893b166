"""
Cold-chain loggers by MQTT (3.1.1 or 5): transmissions of WHO PQS E006/DS01 as payloads, QoS 1, a persistent session.

It can tell what `intake.cold_chain_records` reads. A message is acknowledged after it is stored and not before, so that
the broker sends it again where we were killed in between. Traps: a retained message comes again at every start, and one
of QoS 1 may come twice; both are known by logger and moment. QoS 0 is lost when we are down, whoever publishes it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import structlog

from doseflow.errors import EnvironmentUnfit, GatewayFailed, ReportRefused, StoreUnavailable

log = structlog.get_logger(__name__)

QOS_AT_LEAST_ONCE = 1
MAX_UNACKNOWLEDGED = 20
"""Messages that a broker of MQTT 5 may send ahead of our acknowledgements."""
SESSION_SECONDS = 7 * 24 * 3600
"""How long a broker of MQTT 5 keeps what comes while we are away."""
_WILDCARD = "+"


@dataclass(frozen=True, slots=True)
class MqttLoggerParams:
    """
    The broker that loggers publish to; without a host nobody is listened to.

    The level of a topic that the first `+` of `topic` stands for names the logger of records that name none.
    """

    host: str | None = None
    port: int = 1883
    topic: str = "cold-chain/+"
    client_id: str = "doseflow-cold-chain"
    protocol: Literal["3.1.1", "5"] = "5"
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    ca_file: str | None = None
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise ValueError(f"port: must lie in 1..65535, got {self.port}")
        if not 0 < self.first_wait_seconds <= self.longest_wait_seconds <= 3600:
            raise ValueError("longest_wait_seconds: must lie in first_wait_seconds..3600")
        if not self.topic or not self.client_id:
            raise ValueError("topic: must be given, and client_id too, since the broker keeps our session by it")


Take = Callable[[bytes, str | None], Awaitable[None]]
"""Stores one payload with the logger that its topic names; what is refused for good raises ReportRefused."""
Tell = Callable[[str], Awaitable[None]]
"""Told why the broker cannot be heard just now."""


def require_mqtt_library() -> None:
    """
    Look for the library before the doors open.

    Raises
    ------
    EnvironmentUnfit
    """
    try:
        import aiomqtt  # noqa: F401
    except ImportError as error:
        raise EnvironmentUnfit("mqtt_loggers.host: needs the library of `pip install 'doseflow[mqtt]'`") from error


async def listen_to_loggers(params: MqttLoggerParams, take: Take, tell: Tell, stop: asyncio.Event) -> None:
    """Hear the broker until `stop` is set; one that is away is tried again, later and later."""
    wait_seconds = params.first_wait_seconds
    while not stop.is_set():
        hearing = asyncio.create_task(_hear(params, take))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait((hearing, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        hearing.cancel()
        try:
            await hearing
        except asyncio.CancelledError:
            continue
        except GatewayFailed as error:
            log.warning("mqtt_loggers_lost", reason=str(error), again_in_seconds=wait_seconds)
            await _tell(tell, str(error))
        except Exception as error:  # the boundary of the broker: whatever it sends, we listen again
            log.exception("mqtt_loggers_failed", again_in_seconds=wait_seconds)
            await _tell(tell, f"{type(error).__name__}: {error}")
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), wait_seconds)
        wait_seconds = min(2 * wait_seconds, params.longest_wait_seconds)


async def _tell(tell: Tell, why: str) -> None:
    with suppress(StoreUnavailable):  # a store that is away cannot be told
        await tell(why)


async def _hear(params: MqttLoggerParams, take: Take) -> None:
    from aiomqtt import MqttError

    try:
        await _take_all(params, take)
    except (MqttError, OSError) as error:
        raise GatewayFailed(f"the broker {params.host}:{params.port} is not heard: {error}") from error


async def _take_all(params: MqttLoggerParams, take: Take) -> None:
    async with _client(params) as client:
        await client.subscribe(params.topic, qos=QOS_AT_LEAST_ONCE)
        log.info("mqtt_loggers_heard", host=params.host, topic=params.topic)
        async for message in client.messages:
            payload = bytes(message.payload or b"")
            await _take_one(params, take, payload, logger_of(params.topic, str(message.topic)))
            # aiomqtt has no way to acknowledge; paho, on which it stands, has.
            client._client.ack(message.mid, message.qos)


async def _take_one(params: MqttLoggerParams, take: Take, payload: bytes, logger_id: str | None) -> None:
    """Take one message; it stays in hand while the store is away, since not every broker sends it again."""
    wait_seconds = params.first_wait_seconds
    while True:
        try:
            await take(payload, logger_id)
        except ReportRefused:
            return  # it is in quarantine, and would be refused again
        except StoreUnavailable as error:
            log.warning("mqtt_message_not_stored", reason=str(error), again_in_seconds=wait_seconds)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(2 * wait_seconds, params.longest_wait_seconds)
        else:
            return


def _client(params: MqttLoggerParams) -> Any:
    import aiomqtt

    is_5 = params.protocol == "5"
    client = aiomqtt.Client(
        params.host or "",
        params.port,
        identifier=params.client_id,
        protocol=aiomqtt.ProtocolVersion.V5 if is_5 else aiomqtt.ProtocolVersion.V311,
        username=params.username,
        password=params.password,
        clean_session=None if is_5 else False,
        **({"clean_start": False, "properties": _session_properties()} if is_5 else {}),
        tls_context=ssl.create_default_context(cafile=params.ca_file) if params.tls else None,
    )
    client._client.manual_ack_set(True)
    return client


def _session_properties() -> Any:
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties

    properties: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    properties.SessionExpiryInterval = SESSION_SECONDS
    properties.ReceiveMaximum = MAX_UNACKNOWLEDGED
    return properties


def logger_of(topic_filter: str, topic: str) -> str | None:
    """The level of a topic that the filter's first `+` stands for, None where it has none."""
    levels, told = topic_filter.split("/"), topic.split("/")
    if _WILDCARD not in levels or levels.index(_WILDCARD) >= len(told):
        return None
    return told[levels.index(_WILDCARD)][:100] or None
