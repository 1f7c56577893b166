"""
What every gateway promises, each against a real peer that answers, refuses, stops and is started again.

The MQTT broker is a process, killed between deliveries; HTTP peers are servers of their own thread, stopped and started.
`tools/kill_trial.py` kills a receiver of webhooks in the middle of deliveries.
"""

# ruff: noqa: S607, E501, N815 - the broker is found on the path
from __future__ import annotations

import asyncio
import base64
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

sys.path.append(str(Path(__file__).parents[1] / "store"))

from store_samples import START, make_city, one_of_each_kind

from doseflow.dispatch.fhir_order import focus_of, task_of
from doseflow.domain.decisions import acting_site_id, expecting_site_id
from doseflow.domain.orders import Order, OrderReceipt, OrderState
from doseflow.errors import GatewayFailed, GatewayHeldBack, GatewayRefused
from doseflow.gateways.fhir_tasks import FhirTasks
from doseflow.gateways.messages import Address, Messages
from doseflow.gateways.mqtt_orders import MqttBroker, MqttOrders
from doseflow.gateways.way_back import poll_tasks, receipt_taker
from doseflow.gateways.web_push import WebPush, make_push_keys
from doseflow.live.clocks import WallClock
from doseflow.ports import OutboxEntry, PushSubscription

CITY = make_city()
NAMES = {site.site_id: site.name for site in CITY.sites}


def entries(topic: str = "order", state: OrderState = OrderState.PROPOSED) -> list[OutboxEntry]:
    """An order of each kind, due in half an hour of real time."""
    now = datetime.now(UTC)
    found = []
    for number, decision in enumerate(one_of_each_kind()):
        order = Order(
            f"c1-{number}", "c1", acting_site_id(decision), expecting_site_id(decision), decision,
            f"reason {number}", f"原因 {number}", state, now, now + timedelta(minutes=30),
        )  # fmt: skip
        found.append(OutboxEntry(number, topic, order, 0))
    return found


class HttpPeer:
    """A small FHIR server and receiver of anything else; it fails as it is told to."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.delay_seconds = 0.0
        self.resources: dict[tuple[str, str], dict] = {}
        self.versions: list[dict] = []
        self.bodies: list[tuple[bytes, dict[str, str]]] = []
        self.port = 0
        self._server: ThreadingHTTPServer | None = None
        self.start()

    def start(self) -> None:
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                time.sleep(peer.delay_seconds)
                status, value = (peer.status, {}) if peer.status >= 300 else peer.take(self, body)
                raw = json.dumps(value).encode()
                self.send_response(status)
                for name, header in peer.headers.items():
                    self.send_header(name, header)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_POST = do_PUT = do_GET = answer

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def take(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict]:
        parts = urlsplit(request.path)
        kind = parts.path.rsplit("/", 1)[-1]
        if request.command == "GET":
            since = parse_qs(parts.query)["_lastUpdated"][0].removeprefix("gt")
            fresh = [
                one
                for one in self.versions
                if datetime.fromisoformat(one["meta"]["lastUpdated"]) > datetime.fromisoformat(since)
            ]
            return 200, {"resourceType": "Bundle", "type": "searchset", "entry": [{"resource": one} for one in fresh]}
        if "fhir" not in request.path:
            self.bodies.append((body, {name.lower(): value for name, value in request.headers.items()}))
            return 201, {}
        query = parts.query if request.command == "PUT" else request.headers["if-none-exist"]
        order_id = unquote(query).split("|")[1]
        if request.command == "PUT" or (kind, order_id) not in self.resources:
            self.resources[kind, order_id] = json.loads(body) | {"id": f"id-{order_id}"}
        return 200, self.resources[kind, order_id]


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    started = HttpPeer()
    yield started
    started.stop()


class Subscriptions:
    """Browsers of every site."""

    def __init__(self, url: str) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        raw = b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
        self.auth = b"0123456789abcdef"
        coded = [base64.urlsafe_b64encode(one).decode().rstrip("=") for one in (raw, self.auth)]
        self.all = [PushSubscription(url, *coded)]

    def of_site(self, site_id: str) -> list[PushSubscription]:
        return self.all

    def forget(self, endpoint: str) -> None:
        self.all = []


def fhir(peer: HttpPeer) -> FhirTasks:
    return FhirTasks(f"http://127.0.0.1:{peer.port}/fhir", "token", 0.5, "urn:doseflow")


def messages(peer: HttpPeer, gap: float = 0.0) -> Messages:
    url = f"json://127.0.0.1:{peer.port}/people?cto=0.5&rto=0.5"
    return Messages([Address("*", url)], min_gap_seconds=gap, site_names=NAMES, timezone="UTC", clock=WallClock())


def push(peer: HttpPeer) -> WebPush:
    key, _ = make_push_keys()
    subscriptions = Subscriptions(f"http://127.0.0.1:{peer.port}/push")
    return WebPush(
        key, "mailto:a@example.org", subscriptions, timeout_seconds=0.5, site_names=NAMES, timezone="UTC", clock=WallClock()
    )  # fmt: skip


@pytest.mark.parametrize("make", [fhir, messages, push])
def test_an_outage_and_a_slow_peer_are_failures_and_afterwards_it_is_told(peer: HttpPeer, make: Any) -> None:
    gateway, one = make(peer), entries()[:1]
    peer.status = 503
    with pytest.raises(GatewayFailed) as raised:
        asyncio.run(gateway.deliver(one))
    assert not isinstance(raised.value, GatewayRefused | GatewayHeldBack)
    peer.status, peer.delay_seconds = 200, 1.5
    with pytest.raises(GatewayFailed):
        asyncio.run(gateway.deliver(one))
    peer.delay_seconds = 0.0
    peer.stop()
    with pytest.raises(GatewayFailed):
        asyncio.run(gateway.deliver(one))
    peer.start()
    asyncio.run(gateway.deliver(one))


def test_fhir_has_one_valid_task_of_each_order_however_often_it_is_told(peer: HttpPeer) -> None:
    resources = pytest.importorskip("fhir.resources.R4B")
    gateway, told = fhir(peer), entries()
    for _ in range(2):
        asyncio.run(gateway.deliver(told))
    withdrawn = [
        replace(one, topic="withdrawal", order=replace(one.order, state=OrderState.WITHDRAWN)) for one in told[:2]
    ]
    asyncio.run(gateway.deliver(withdrawn))

    tasks = {order_id: one for (kind, order_id), one in peer.resources.items() if kind == "Task"}
    assert sorted(tasks) == sorted(one.order.order_id for one in told)
    assert [tasks[f"c1-{number}"]["status"] for number in range(3)] == ["cancelled", "cancelled", "requested"]
    assert tasks["c1-2"]["focus"] == {"reference": "SupplyRequest/id-c1-2"}
    assert tasks["c1-3"]["focus"] == {"reference": "SupplyDelivery/id-c1-3"}
    for resource in peer.resources.values():
        resources.get_fhir_model_class(resource["resourceType"]).model_validate(resource)


@pytest.mark.parametrize("state", OrderState)
def test_every_state_of_an_order_makes_a_valid_task(state: OrderState) -> None:
    resources = pytest.importorskip("fhir.resources.R4B")
    for one in entries(state=state):
        for resource in (task_of(one.order, "urn:doseflow", START), focus_of(one.order, "urn:doseflow")):
            if resource is not None:
                resources.get_fhir_model_class(resource["resourceType"]).model_validate(resource)


def test_fhir_says_how_long_to_wait_and_a_refusal_is_one_for_good(peer: HttpPeer) -> None:
    peer.status, peer.headers = 429, {"retry-after": "17"}
    with pytest.raises(GatewayFailed) as raised:
        asyncio.run(fhir(peer).deliver(entries()[:1]))
    assert raised.value.retry_after_seconds == 17
    peer.status = 422
    with pytest.raises(GatewayRefused, match="answered 422"):
        asyncio.run(fhir(peer).deliver(entries()[:1]))


class Desk:
    """Remembers what came back."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, OrderReceipt, str | None]] = []
        self.unknown: list[str] = []

    def take(self, source: str, order_id: str, receipt: OrderReceipt, site_id: str | None = None) -> None:
        self.taken.append((order_id, receipt, site_id))

    def note_unknown(self, source: str, system: str, code: str, text: str) -> None:
        self.unknown.append(code)

    def mark(self, source: str, ok: bool, text: str = "") -> None:
        """Nothing to remember."""


class Positions(dict):
    def position(self, gateway: str) -> str | None:
        return self.get(gateway)

    def go_on_from(self, gateway: str, position: str) -> None:
        self[gateway] = position


def test_a_refused_task_comes_back_as_a_refusal_with_its_reason_and_an_odd_status_is_kept(peer: HttpPeer) -> None:
    def version(order_id: str, status: str) -> dict:
        at = datetime.now(UTC).isoformat()
        identifier = [{"system": "urn:doseflow/order-id", "value": order_id}]
        reason = {"text": "nobody is free"}
        return {"resourceType": "Task", "id": order_id, "identifier": identifier, "status": status, "statusReason": reason, "meta": {"versionId": "2", "lastUpdated": at}}  # fmt: skip

    peer.versions = [version("c1-0", "rejected"), version("c1-1", "pondering"), {"resourceType": "Task"} | {"meta": {"lastUpdated": datetime.now(UTC).isoformat()}}]  # fmt: skip
    desk, positions = Desk(), Positions()
    for _ in range(2):
        asyncio.run(poll_tasks(fhir(peer), desk, positions, WallClock()))

    assert [(order_id, receipt.status, receipt.reason) for order_id, receipt, _ in desk.taken[:1]] == [("c1-0", "refused", "nobody is free")]  # fmt: skip
    assert len({receipt.receipt_id for _, receipt, _ in desk.taken}) == 1
    assert set(desk.unknown) == {"pondering"}


def test_people_get_one_message_for_all_and_none_too_soon_after_it(peer: HttpPeer) -> None:
    gateway = messages(peer, gap=60.0)
    asyncio.run(gateway.deliver(entries()[:3]))
    body = json.loads(peer.bodies[0][0])
    assert (body["title"], body["message"].count("reason")) == ("Site 0: 3 new", 3)
    with pytest.raises(GatewayHeldBack):
        asyncio.run(gateway.deliver(entries()[3:5]))
    assert len(peer.bodies) == 1


def test_a_push_can_be_read_by_its_browser_alone_and_an_ended_subscription_is_forgotten(peer: HttpPeer) -> None:
    http_ece = pytest.importorskip("http_ece")
    gateway = push(peer)
    asyncio.run(gateway.deliver(entries()[:2]))
    raw, headers = peer.bodies[0]
    kept = gateway._subscriptions
    clear = http_ece.decrypt(raw, private_key=kept.key, auth_secret=kept.auth, version="aes128gcm")
    assert json.loads(clear)["title"] == "Site 0: 2 new"
    assert headers["authorization"].startswith("vapid t=")
    peer.status = 410
    asyncio.run(gateway.deliver(entries()[:2]))
    assert not gateway.reaches("site-0000")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Any]:
    if shutil.which("mosquitto") is None:
        pytest.skip("MQTT IS NOT TESTED HERE: there is no mosquitto")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = tmp_path / "mosquitto.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_packet_size 100000\n")
    running: list[subprocess.Popen] = []

    def start() -> int:
        running.append(subprocess.Popen(["mosquitto", "-c", str(config)], stderr=subprocess.DEVNULL))
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.02)
        raise AssertionError("the broker did not start")

    start.kill = lambda: (running[-1].kill(), running[-1].wait())
    yield start
    for process in running:
        process.kill()
        process.wait()


def test_mqtt_tells_in_order_survives_a_kill_of_the_broker_and_brings_receipts_back(broker: Any) -> None:
    aiomqtt = pytest.importorskip("aiomqtt")
    port = broker()
    gateway = MqttOrders(MqttBroker("127.0.0.1", port, timeout_seconds=2.0), "sample", WallClock())
    desk, told = Desk(), entries()[:2]

    async def tell_and_answer() -> list[str]:
        ready = asyncio.Event()
        listening = asyncio.create_task(gateway.receive(receipt_taker(desk, "mqtt", WallClock()), ready.set))
        await asyncio.wait_for(ready.wait(), 5)
        async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5) as site:
            await site.subscribe("doseflow/sample/site-0000/orders", qos=1)
            await gateway.deliver(told)
            seen = []
            async for message in site.messages:
                seen.append(json.loads(message.payload)["data"]["order_id"])
                if len(seen) == len(told):
                    break
            answer = {
                "order_id": "c1-0",
                "status": "refused",
                "reason": "nobody is free",
                "at": datetime.now(UTC).isoformat(),
            }
            for body in (b"\xff", json.dumps(answer).encode()):
                await site.publish("doseflow/sample/site-0000/receipts", body, qos=1)
        for _ in range(100):
            if desk.taken:
                break
            await asyncio.sleep(0.02)
        listening.cancel()
        return seen

    assert asyncio.run(tell_and_answer()) == ["c1-0", "c1-1"]
    assert [(one, receipt.status, site) for one, receipt, site in desk.taken] == [("c1-0", "refused", "site-0000")]
    broker.kill()
    with pytest.raises(GatewayFailed):
        asyncio.run(gateway.deliver(told))
    broker()
    assert asyncio.run(tell_and_answer()) == ["c1-0", "c1-1"]
