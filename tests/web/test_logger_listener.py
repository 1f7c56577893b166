"""Loggers that publish to a real broker, which is killed and started again in the middle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from datetime import timedelta

import pytest

from doseflow.errors import StoreUnavailable
from doseflow.gateways.mqtt_loggers import MqttLoggerParams, logger_of
from doseflow.live.sources import SourceParams
from doseflow.web.logger_listener import SOURCE, run_logger_listener

aiomqtt = pytest.importorskip("aiomqtt")
amqtt_broker = pytest.importorskip("amqtt.broker")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def broker_config(port: int) -> dict:
    plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    return {"listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}}, "plugins": plugins}


@contextlib.asynccontextmanager
async def broker_within(port: int):
    """A broker in this process, whose sessions can be looked into; it may be slow to let go of them."""
    broker = amqtt_broker.Broker(broker_config(port))
    await broker.start()
    try:
        yield broker
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(broker.shutdown(), 2)


BROKER = """
import asyncio, json, sys
from amqtt.broker import Broker
async def serve():
    await Broker(json.loads(sys.argv[1])).start()
    await asyncio.Event().wait()
asyncio.run(serve())
"""


@contextlib.asynccontextmanager
async def broker_process(port: int):
    """A broker in a process of its own, killed at the end without a word."""
    process = subprocess.Popen([sys.executable, "-c", BROKER, json.dumps(broker_config(port))])
    try:
        await until(lambda: is_open(port), 20)
        yield
    finally:
        process.kill()
        process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.asynccontextmanager
async def listening(live, port: int):
    stop = asyncio.Event()
    params = MqttLoggerParams("127.0.0.1", port, protocol="3.1.1", first_wait_seconds=0.05, longest_wait_seconds=0.2)
    task = asyncio.create_task(run_logger_listener(live, params, stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, 10)


async def publish(port: int, payload: bytes, *, retain: bool = False) -> None:
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.publish("cold-chain/SN-1", payload, qos=1, retain=retain)


def payload_of(live, minutes_ago: int, celsius: float = 5.0) -> bytes:
    at = live.clock.now() - timedelta(minutes=minutes_ago)
    return json.dumps([{"ABST": f"{at:%Y%m%dT%H%M%SZ}", "TVC": celsius, "ALRM": None}]).encode()


async def until(holds, seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


def celsius_kept(live) -> list[float | None]:
    now = live.clock.now()
    return [one.temperature_celsius for one in live.sources.points.of("SN-1", now - timedelta(hours=5), now)]


@pytest.fixture
def live(make_city, tmp_path):
    site = make_city().live.city.sites[0]
    table = tmp_path / "loggers.csv"
    table.write_text(f"logger_id,site_id,fridge_id\nSN-1,{site.site_id},{site.fridges[0].fridge_id}\n")
    return make_city(sources=SourceParams(loggers=str(table))).live


def test_what_is_published_before_and_after_the_broker_was_killed_arrives_once(live):
    async def play() -> None:
        port = free_port()
        async with contextlib.AsyncExitStack() as stack:
            async with broker_process(port):
                await publish(port, payload_of(live, 60, 4.0), retain=True)
                await stack.enter_async_context(listening(live, port))
                await until(lambda: celsius_kept(live) == [4.0])
                await publish(port, payload_of(live, 45, 5.0))
                await publish(port, payload_of(live, 45, 5.0))
                await until(lambda: celsius_kept(live) == [4.0, 5.0])
            await until(lambda: any(one.last_error for one in live.sources.book.states()))
            async with broker_process(port):
                # The new broker knows nobody: what is published is kept for whoever comes.
                await publish(port, payload_of(live, 30, 6.0), retain=True)
                await until(lambda: celsius_kept(live) == [4.0, 5.0, 6.0])

    asyncio.run(asyncio.wait_for(play(), 60))
    assert live.run_cycle().state.fridges.temperature_celsius[0] == 6.0


def test_a_message_is_acknowledged_only_once_the_store_has_it(live, monkeypatch):
    kept, is_away, tries = live.sources.points.keep, [True], []

    def keep(points):
        tries.append(points)
        if is_away[0]:
            raise StoreUnavailable("the database does not answer: it is away")
        kept(points)

    monkeypatch.setattr(live.sources.points, "keep", keep)

    async def play() -> None:
        port = free_port()
        async with broker_within(port) as broker, listening(live, port):
            await until(lambda: "doseflow-cold-chain" in broker.sessions)
            await asyncio.sleep(0.3)
            await publish(port, payload_of(live, 15, 7.0))
            await until(lambda: len(tries) >= 2)
            session, _ = broker.sessions["doseflow-cold-chain"]
            assert session.inflight_out_count == 1
            is_away[0] = False
            await until(lambda: celsius_kept(live) == [7.0] and session.inflight_out_count == 0)

    asyncio.run(asyncio.wait_for(play(), 60))


def test_rubbish_is_kept_in_quarantine_and_does_not_stop_what_comes_after(live):
    async def play() -> None:
        port = free_port()
        async with broker_within(port) as broker, listening(live, port):
            await until(lambda: "doseflow-cold-chain" in broker.sessions)
            await asyncio.sleep(0.3)
            await publish(port, b"rubbish")
            await publish(port, payload_of(live, 15))
            await until(lambda: celsius_kept(live) == [5.0])

    asyncio.run(asyncio.wait_for(play(), 60))
    assert [one.raw for one in live.reports.quarantined()] == [b"rubbish"]
    (state,) = [one for one in live.sources.book.states() if one.source == SOURCE]
    assert (state.num_failed, state.num_ok) == (1, 1)


@pytest.mark.parametrize(
    ("topic_filter", "topic", "logger"),
    [("cold-chain/+", "cold-chain/SN-1", "SN-1"), ("a/+/b/#", "a/x/b/c", "x"), ("a/b", "a/b", None), ("+", "", None)],
)
def test_the_logger_is_the_level_that_the_plus_stands_for(topic_filter, topic, logger):
    assert logger_of(topic_filter, topic) == logger
