"""The sites' client against the real doors, and against another side that misbehaves."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from doseflow.bootstrap import open_city
from doseflow.errors import GatewayFailed
from doseflow.gateways.city_client import MAX_BODY_BYTES, CityClient
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import HttpSettings, Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.web.server import serving


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def real_doors(tmp_path_factory):
    """A small simulated city, the living system that serves it, and the address of its doors."""
    city = SimulatedCity.from_name("synthetic:6", faults=NO_FAULTS)
    clock = SimulatedClock(city.now)
    store = StoreSettings(url=f"sqlite:///{tmp_path_factory.mktemp('store') / 'city.sqlite'}")
    settings = Settings(planner="static", http=HttpSettings(port=free_port()), store=store)
    opened = open_city(settings, clock=clock, city=city.city)
    try:
        with serving(opened.live, settings) as url:
            yield city, clock, url
    finally:
        opened.close()


@contextmanager
def other_side(answer):
    """A plain HTTP server; `answer(method, path, body)` gives status and bytes."""

    class Doors(BaseHTTPRequestHandler):
        def reply(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, content = answer(self.command, self.path, body)
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = reply  # noqa: N815 - the names are the library's

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Doors)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_reports_are_accepted_by_the_real_doors_and_a_repeat_is_refused(real_doors):
    city, clock, url = real_doors
    city.advance(5)
    clock.set(city.now)
    reports = city.reports()
    with CityClient(url) as client:
        first, again = client.send_reports(reports), client.send_reports(reports)
        assert (first.accepted, first.refused) == (6, 0)
        assert (again.accepted, again.refused) == (0, 6)
        assert "before" in again.first_reason
        assert client.counts == {"reports_accepted": 6, "reports_refused": 6}


def test_of_a_list_with_a_bad_report_the_good_ones_are_accepted(real_doors):
    city, clock, url = real_doors
    city.advance(5)
    clock.set(city.now)
    reports = city.reports()
    reports[2] = json.dumps({**json.loads(reports[2]), "doses_given": -6}).encode()
    with CityClient(url) as client:
        outcome = client.send_reports(reports)
    assert (outcome.accepted, outcome.refused) == (5, 1)
    assert outcome.first_reason.startswith("doses_given: must be at least 0")


def test_orders_of_the_real_doors_are_a_list(real_doors):
    with CityClient(real_doors[2]) as client:
        assert client.orders(states=("sent", "acknowledged"), site_id="site-00001") == []


def test_a_receipt_for_an_order_nobody_made_is_refused_and_counted(real_doors):
    with CityClient(real_doors[2]) as client:
        assert not client.send_receipt("no/such order", {"status": "done", "at": real_doors[0].now.isoformat()})
        assert client.counts == {"receipts_refused": 1}


def test_no_report_is_no_call():
    with CityClient(f"http://127.0.0.1:{free_port()}") as client:
        assert client.send_reports([]).accepted == 0


def test_nobody_there_is_a_failure_that_names_the_call():
    with CityClient(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(GatewayFailed, match="POST /api/v1/reports: no answer"):
            client.send_reports([b"{}"])
        with pytest.raises(GatewayFailed, match="GET /api/v1/orders: no answer"):
            client.orders()


def test_a_failing_other_side_is_a_failure_and_no_refusal():
    with other_side(lambda *_: (503, b'{"detail": "the store does not answer"}')) as url, CityClient(url) as client:
        with pytest.raises(GatewayFailed, match="503 the store does not answer"):
            client.send_receipt("order-1", {"status": "done"})
        assert client.counts == {}


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"orders": }', b"{}"])
def test_an_answer_that_is_no_list_of_orders_is_a_failure(content):
    with (
        other_side(lambda *_: (200, content)) as url,
        CityClient(url) as client,
        pytest.raises(GatewayFailed, match="not a list of orders"),
    ):
        client.orders()


def test_every_state_asked_for_is_in_the_query():
    asked = []

    def answer(_method, path, _body):
        asked.append(path)
        return 200, b'{"orders": []}'

    with other_side(answer) as url, CityClient(url) as client:
        client.orders(states=("sent", "under_way"), site_id="a b")
    assert "state=sent&state=under_way" in asked[0]
    assert "site_id=a" in asked[0]


def test_many_reports_go_in_parts_the_doors_take_each_once_and_in_order():
    bodies = []

    def answer(_method, _path, body):
        bodies.append(body)
        return 202, b"{}"

    reports = [json.dumps({"n": k, "pad": "x" * 900_000}).encode() for k in range(15)]
    with other_side(answer) as url, CityClient(url) as client:
        assert client.send_reports(reports).accepted == 15
    assert len(bodies) > 1
    assert max(map(len, bodies)) < MAX_BODY_BYTES + 1_000
    assert [one["n"] for body in bodies for one in json.loads(body)] == list(range(15))
