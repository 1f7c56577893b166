"""The HTTP API is a contract: what stands here is what others rely on."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from doseflow.bootstrap import OpenCity, open_city
from doseflow.dispatch.relay import relay_once
from doseflow.gateways.city_client import CityClient
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import HttpSettings, Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.web.app import create_app
from doseflow.web.server import serving

PROBLEM = "application/problem+json"


@dataclass
class Doors:
    """A small city behind its open doors."""

    opened: OpenCity
    city: SimulatedCity
    clock: SimulatedClock
    http: httpx.Client

    def reports(self) -> list[dict]:
        """This period's reports, five minutes on."""
        self.city.advance(5)
        self.clock.set(self.city.now)
        return [json.loads(report) for report in self.city.reports()]

    def cycle(self) -> dict:
        """Everybody reports, and a cycle runs."""
        assert self.http.post("/api/v1/reports", json=self.reports()).status_code == 202
        answer = self.http.post("/api/v1/cycles")
        assert answer.status_code == 201
        return answer.json()

    def hand_over(self) -> None:
        """Tell the sites what is in the outbox."""
        asyncio.run(relay_once(self.opened.live.outbox, self.opened.gateways, self.clock, self.opened.settings.relay))

    def an_order(self) -> dict:
        """An order that was sent."""
        for _ in range(12):
            self.cycle()
            self.hand_over()
            sent = self.http.get("/api/v1/orders", params={"state": "sent"}).json()["orders"]
            if sent:
                return sent[0]
        raise AssertionError("twelve cycles made no order")


@cache
def morning_city() -> SimulatedCity:
    """Eight sites in the morning: making them takes a hundred times longer than copying them."""
    return SimulatedCity.from_name("synthetic:8", faults=NO_FAULTS)


@contextlib.contextmanager
def open_doors(folder, port: int) -> Iterator[Doors]:
    city = copy.deepcopy(morning_city())
    clock = SimulatedClock(city.now)
    store = StoreSettings(url=f"sqlite:///{folder / 'contract.sqlite'}")
    settings = Settings(store=store, http=HttpSettings(port=port))
    opened = open_city(settings, clock=clock, city=city.city)
    with (
        contextlib.closing(opened),
        serving(opened.live, settings) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        yield Doors(opened, city, clock, client)


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def doors(tmp_path, free_port):
    with open_doors(tmp_path, free_port) as doors:
        yield doors


def problem(answer: httpx.Response) -> dict:
    assert answer.headers["content-type"] == PROBLEM
    body = answer.json()
    assert {"type", "title", "status", "detail"} <= set(body)
    assert body["status"] == answer.status_code
    return body


def test_before_the_first_cycle_everything_answers_and_says_what_is_missing(doors):
    assert doors.http.get("/healthz").json() == {"status": "ok"}
    ready = doors.http.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    reasons = [check["reason"] for check in ready.json()["checks"] if not check["ok"]]
    assert reasons == ["no cycle has run since the start"]
    assert problem(doors.http.get("/api/v1/cycles/latest"))["status"] == 404
    assert doors.http.get("/api/v1/orders").json()["orders"] == []
    sites = doors.http.get("/api/v1/sites").json()
    assert len(sites["sites"]) == 8
    assert {site["wait_minutes"] for site in sites["sites"]} == {None}


def test_a_cycle_shows_in_every_answer(doors):
    cycle = doors.cycle()
    latest = doors.http.get("/api/v1/cycles/latest").json()
    assert latest == cycle
    assert {"cycle_id", "completed_at", "planner", "sites", "orders", "stage_milliseconds"} <= set(latest)
    assert latest["sites"] == 8
    assert abs(sum(latest["stage_milliseconds"].values()) - latest["total_milliseconds"]) < 0.05
    sites = doors.http.get("/api/v1/sites").json()
    assert sites["cycle_id"] == cycle["cycle_id"]
    assert all(site["age_minutes"] == 0 for site in sites["sites"])
    plan = doors.http.get(f"/api/v1/plans/{cycle['plan_id']}").json()
    assert (plan["plan_id"], len(plan["decisions"])) == (cycle["plan_id"], cycle["decisions"])
    orders = doors.http.get("/api/v1/orders").json()["orders"]
    assert len(orders) == cycle["orders"]
    recent = doors.http.get("/api/v1/cycles").json()
    assert recent["latest"] == cycle


def test_after_a_restart_the_latest_cycle_and_state_are_still_there(tmp_path, free_port):
    with open_doors(tmp_path, free_port) as doors:
        cycle = doors.cycle()
        waits = [site["wait_minutes"] for site in doors.http.get("/api/v1/sites").json()["sites"]]
    with open_doors(tmp_path, free_port) as doors:
        latest = doors.http.get("/api/v1/cycles/latest").json()
        assert (latest["cycle_id"], latest["orders"]) == (cycle["cycle_id"], cycle["orders"])
        assert latest["decisions"] is None
        assert [site["wait_minutes"] for site in doors.http.get("/api/v1/sites").json()["sites"]] == waits


def test_a_site_in_full_shows_its_fan_lots_fridges_orders_and_reports(doors):
    doors.cycle()
    site_id = doors.city.city.sites[0].site_id
    detail = doors.http.get(f"/api/v1/sites/{site_id}").json()
    assert detail["site"]["site_id"] == site_id
    assert len(detail["forecast"]) == 24
    assert detail["lots"]
    assert len(detail["fridges"]) == len(doors.city.city.sites[0].fridges)
    assert detail["latest_reports"][0]["report"]["site_id"] == site_id
    assert len(detail["classes"]) == 17


def test_an_order_has_its_decision_reasons_and_due_time(doors):
    order = doors.an_order()
    assert {
        "order_id", "cycle_id", "site_id", "expecting_site_id", "kind", "family", "decision", "reason_en", "reason_zh",
        "state", "created_at", "due_at", "refusal_reason", "approval", "decide_by", "is_waiting",
    } == set(order)  # fmt: skip
    assert order["decision"]["kind"] == order["kind"]
    assert order["reason_en"]
    assert order["reason_zh"]
    assert datetime.fromisoformat(order["due_at"]) > datetime.fromisoformat(order["created_at"])
    assert doors.http.get(f"/api/v1/orders/{order['order_id']}").json() == order


def test_orders_are_filtered_by_state_and_site_and_cut_at_the_limit(doors):
    order = doors.an_order()
    everything = doors.http.get("/api/v1/orders").json()["orders"]
    own = doors.http.get("/api/v1/orders", params={"site_id": order["site_id"]}).json()["orders"]
    assert own == [each for each in everything if each["site_id"] == order["site_id"]]
    both = doors.http.get("/api/v1/orders", params={"state": ["sent", "withdrawn"]}).json()["orders"]
    assert both == [each for each in everything if each["state"] in ("sent", "withdrawn")]
    assert doors.http.get("/api/v1/orders", params={"limit": 1}).json()["orders"] == everything[:1]
    wrong = problem(doors.http.get("/api/v1/orders", params={"state": "lost"}))
    assert (wrong["status"], wrong["field"]) == (422, "state.0")


def test_a_receipt_moves_its_order_and_twice_is_once(doors):
    order = doors.an_order()
    path = f"/api/v1/orders/{order['order_id']}/receipts"
    receipt = {"status": "acknowledged", "at": doors.clock.now().isoformat(), "receipt_id": "r1"}
    for _ in range(2):
        answer = doors.http.post(path, json=receipt)
        assert (answer.status_code, answer.json()["state"]) == (200, "acknowledged")
    refusal = {"status": "refused", "at": doors.clock.now().isoformat(), "reason": "nobody can be spared"}
    assert doors.http.post(path, json=refusal).json()["refusal_reason"] == "nobody can be spared"
    late = problem(doors.http.post(path, json={"status": "done", "at": doors.clock.now().isoformat()}))
    assert (late["status"], late["field"]) == (409, "status")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"status": "refused", "at": "2021-05-20T00:00:00Z"}', "reason"),
        (b'{"status": "eaten", "at": "2021-05-20T00:00:00Z"}', "status"),
        (b'{"status": "done", "at": "2121-05-20T00:00:00Z"}', "at"),
        (b'{"status": "done", "at": "2021-05-20T00:00:00"}', "at"),
        (b'{"status": ', "body"),
        (b"\xff", "body"),
        (b'{"status": "done"}' + b" " * 70_000, "body"),
    ],
)
def test_a_receipt_that_is_no_receipt_names_its_field(doors, body, field):
    order = doors.an_order()
    answer = problem(doors.http.post(f"/api/v1/orders/{order['order_id']}/receipts", content=body))
    assert (answer["status"], answer["field"]) == (422, field)
    assert doors.http.get(f"/api/v1/orders/{order['order_id']}").json()["state"] == "sent"


@pytest.mark.parametrize("path", ["sites/nowhere", "plans/never", "orders/none", "nothing"])
def test_what_does_not_exist_is_a_404_that_names_it(doors, path):
    answer = problem(doors.http.get(f"/api/v1/{path}"))
    assert answer["status"] == 404
    assert path.split("/")[-1] in answer["detail"]


def test_a_receipt_for_no_order_is_404_and_a_wrong_method_405(doors):
    receipt = {"status": "done", "at": doors.clock.now().isoformat()}
    assert problem(doors.http.post("/api/v1/orders/none/receipts", json=receipt))["status"] == 404
    answer = doors.http.delete("/api/v1/orders")
    assert problem(answer)["status"] == 405
    assert "GET" in answer.headers["allow"]


def test_commands_hold_from_the_next_cycle_on(doors):
    doors.cycle()
    site_id = doors.city.city.sites[2].site_id

    def flags() -> tuple[bool, bool]:
        site = doors.http.get("/api/v1/sites").json()["sites"][2]
        return site["is_frozen"], site["is_suspended"]

    for command, expected in (
        ("freeze", (True, False)), ("suspend", (True, True)), ("unfreeze", (False, True)), ("resume", (False, False)),
    ):  # fmt: skip
        assert (
            doors.http.post(f"/api/v1/commands/{command}", json={"site_id": site_id, "reason": "a drill"}).status_code
            == 200
        )
        doors.cycle()
        assert flags() == expected
    unknown = problem(doors.http.post("/api/v1/commands/freeze", json={"site_id": "nowhere", "reason": "a drill"}))
    assert (unknown["status"], unknown["field"]) == (404, "site_id")
    wrong = problem(doors.http.post("/api/v1/commands/freeze", json={"site_id": 3, "reason": "a drill"}))
    assert (wrong["status"], wrong["field"]) == (422, "site_id")
    assert (
        problem(doors.http.post("/api/v1/commands/explode", json={"site_id": site_id, "reason": "a drill"}))["field"]
        == "command"
    )


def changed(**fields):
    return lambda report: {**report, **fields}


def moved(**delta):
    def move(report):
        valid_at = datetime.fromisoformat(report["valid_at"]) + timedelta(**delta)
        return {**report, "valid_at": valid_at.isoformat()}

    return move


BAD_REPORTS = {
    "wrong type": (changed(waiting_people="many"), 422, "waiting_people"),
    "number as text": (changed(doses_given="7"), 422, "doses_given"),
    "unknown site": (changed(site_id="nowhere"), 404, "site_id"),
    "future time": (moved(hours=2), 422, "valid_at"),
    "ancient time": (moved(days=-400), 422, "valid_at"),
    "time without offset": (changed(valid_at="2021-05-20T08:00:00"), 422, "valid_at"),
    "negative doses": (changed(doses_given=-3), 422, "doses_given"),
    "not a number": (changed(walk_in_share=1.5), 422, "walk_in_share"),
    "unknown field": (changed(colour="red"), 422, "colour"),
}
BAD_BODIES = {
    "broken UTF-8": (b'{"site_id": "\xff\xfe"}', 400, "body"),
    "broken JSON": (b'{"site_id": ', 400, "body"),
    "empty": (b"", 400, "body"),
    "a number": (b"7", 400, "body"),
    "10 MB": (b"[" + b" " * 10_000_000 + b"]", 413, "body"),
    "10 MB of one text": (b'{"site_id": "' + b"x" * 10_000_000 + b'"}', 413, "body"),
}


def newest_in_quarantine(doors) -> dict:
    return doors.http.get("/api/v1/quarantine", params={"limit": 1}).json()["quarantined"][0]


def assert_a_cycle_still_runs(doors) -> None:
    cycle = doors.cycle()
    assert doors.http.get("/api/v1/cycles/latest").json()["cycle_id"] == cycle["cycle_id"]


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_a_bad_report_names_its_field_goes_to_quarantine_and_stops_nothing(doors, name):
    spoil, status, field = BAD_REPORTS[name]
    body = spoil(doors.reports()[0])
    answer = problem(doors.http.post("/api/v1/reports", json=body))
    assert (answer["status"], answer["field"]) == (status, field)
    kept = newest_in_quarantine(doors)
    assert (kept["field"], kept["reason"]) == (field, answer["reason"])
    assert json.loads(kept["raw_text"] if len(kept["raw_text"]) < 2000 else json.dumps(body)) == body
    assert_a_cycle_still_runs(doors)


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_cannot_be_read_is_refused_kept_and_stops_nothing(doors, name):
    body, status, field = BAD_BODIES[name]
    answer = problem(doors.http.post("/api/v1/reports", content=body))
    assert (answer["status"], answer["field"]) == (status, field)
    kept = newest_in_quarantine(doors)
    assert (kept["field"], kept["num_bytes"]) == (field, len(body))
    assert len(kept["raw_text"]) <= 2000
    assert_a_cycle_still_runs(doors)


def test_a_repeated_report_counts_once_and_is_told_so(doors):
    report = doors.reports()[0]
    first = doors.http.post("/api/v1/reports", json=report)
    assert (first.status_code, first.json()["accepted"]) == (202, 1)
    again = problem(doors.http.post("/api/v1/reports", json=report))
    assert again["status"] == 409
    assert again["type"].endswith("repeated-report")
    assert newest_in_quarantine(doors)["site_id"] == report["site_id"]
    assert doors.opened.live.num_pending_reports == 1


def test_of_a_list_the_good_are_accepted_and_every_bad_one_is_named(doors):
    reports = doors.reports()
    mixed = copy.deepcopy(reports)
    mixed[1]["doses_given"] = -1
    mixed[3]["site_id"] = "nowhere"
    mixed.append(mixed[0])
    answer = problem(doors.http.post("/api/v1/reports", json=mixed))
    assert (answer["status"], answer["accepted"]) == (422, len(reports) - 2)
    refused = {each["position"]: (each["field"], each["status"]) for each in answer["refused"]}
    assert refused == {1: ("doses_given", 422), 3: ("site_id", 404), len(reports): ("report_id", 409)}
    assert all(each["reason"] for each in answer["refused"])
    assert doors.opened.live.num_pending_reports == len(reports) - 2


@pytest.mark.parametrize("before", [b"", b" \n", b"\xef\xbb\xbf"])
def test_a_list_of_one_is_answered_as_a_list(doors, before):
    body = before + json.dumps([{**doors.reports()[0], "site_id": "nowhere"}]).encode()
    answer = problem(doors.http.post("/api/v1/reports", content=body))
    assert (answer["status"], answer["accepted"], len(answer["refused"])) == (422, 0, 1)


def test_sites_system_and_doors_understand_each_other(doors):
    with CityClient(str(doors.http.base_url)) as client:
        reports = [json.dumps(report).encode() for report in doors.reports()]
        assert client.send_reports(reports).accepted == len(reports)
        outcome = client.send_reports(reports)
        assert (outcome.accepted, outcome.refused) == (0, len(reports))
        order = doors.an_order()
        assert order in client.orders(states=("sent",))
        assert client.send_receipt(order["order_id"], {"status": "acknowledged", "at": doors.clock.now().isoformat()})
        assert not client.send_receipt("none", {"status": "done", "at": doors.clock.now().isoformat()})


def test_the_document_describes_every_route_and_the_report(doors):
    document = doors.http.get("/openapi.json").json()
    assert {
        "/healthz", "/readyz", "/metrics", "/api/v1/reports", "/api/v1/sites", "/api/v1/cycles/latest",
        "/api/v1/plans/{plan_id}", "/api/v1/orders", "/api/v1/orders/{order_id}/receipts", "/api/v1/events",
    } <= set(document["paths"])  # fmt: skip
    assert document["components"]["schemas"]["SiteReport"]["properties"]["doses_given"]["anyOf"][0]["minimum"] == 0
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            assert any(PROBLEM in each.get("content", {}) for each in operation["responses"].values()), (method, path)


CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def test_whatever_fits_the_document_gets_an_answer_that_fits_it(tmp_path):
    city = copy.deepcopy(morning_city())
    clock = SimulatedClock(city.now)
    store = StoreSettings(url=f"sqlite:///{tmp_path / 'schema.sqlite'}")
    with contextlib.closing(open_city(Settings(store=store), clock=clock, city=city.city)) as opened:
        opened.live.submit(b"[" + b",".join(city.reports()) + b"]")
        opened.live.run_cycle()
        schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(opened.live, allowed_hosts=("*",)))
        operations = [each.ok() for each in schema.get_all_operations()]
        assert len(operations) >= 15
        for operation in operations:
            if operation.path != "/api/v1/events":  # it does not end
                _exercise(operation)


def _exercise(operation) -> None:
    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy())
    def call(case):
        case.call_and_validate(checks=CHECKS)

    call()
