"""The listener to a broker of cold-chain loggers, beside the doors of a serving city."""

from __future__ import annotations

import asyncio

from doseflow.gateways.mqtt_loggers import MqttLoggerParams, listen_to_loggers, require_mqtt_library
from doseflow.live.cold_chain_door import take_cold_chain
from doseflow.live.live_city import LiveCity

SOURCE = "cold_chain:mqtt"


async def run_logger_listener(live: LiveCity, params: MqttLoggerParams, stop: asyncio.Event) -> None:
    """
    Take what loggers publish until `stop` is set; nothing where no broker is named.

    Raises
    ------
    EnvironmentUnfit
        The library is not installed.
    """
    if params.host is None:
        return
    require_mqtt_library()

    async def take(payload: bytes, logger_id: str | None) -> None:
        await asyncio.to_thread(take_cold_chain, live, payload, SOURCE, logger_id)

    async def tell(why: str) -> None:
        await asyncio.to_thread(live.sources.book.mark, SOURCE, live.clock.now(), False, why)

    await listen_to_loggers(params, take, tell, stop)
