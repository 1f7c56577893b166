"""
Sends every door ten thousand bodies that are nearly right: looks for a 5xx, an exception, a hang, growing memory.

    python tools/fuzz_doors.py --json docs/results/fuzz-doors.json
    python tools/fuzz_doors.py --examples 500 --door mllp

Bodies are mutations of right ones: bytes turned, cut, doubled; values of JSON put elsewhere, made huge, negative, not a
number, deep, of another type, in another script. HTTP doors are asked in process, through all that stands before them;
MLLP over a real socket; what comes by MQTT and by polling through the code that takes it. Memory is looked at after a
quarter of a door's bodies and at its end.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import json
import random
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from kill_trial import city_where_it_is_morning, templates
from rich.progress import Progress
from starlette.testclient import TestClient

from doseflow.appointment_doors import make_listener
from doseflow.bench.figures import Figure, write_figures
from doseflow.bootstrap import OpenCity, open_city
from doseflow.errors import DoseflowError
from doseflow.gateways.way_back import receipt_taker, take_task
from doseflow.intake.sheet_template import csv_template, xlsx_template
from doseflow.intake.smart_feed import FeedCatalogue, read_manifest
from doseflow.live.cold_chain_door import take_cold_chain
from doseflow.live.receipt_desk import ReceiptDesk
from doseflow.settings import read_settings
from doseflow.web.app import create_app

PROJECT = Path(__file__).parents[1]
EXAMPLES = next(
    folder
    for folder in (PROJECT.parent / "shared/data/interfaces", PROJECT / "tests/data/interfaces")
    if folder.is_dir()
)
"""The original examples where they are beside the project, or else those that may be packaged."""
SLOW_SECONDS = 2.0
ORDERS = "urn:doseflow:order"
KEPT_FINDINGS = 5
ODD: list[Any] = [
    None, True, False, 0, -1, 1e308, -1e308, 2**63, 2**64 + 1, 10**40, 0.1, float("nan"), float("inf"), "NaN",
    "", " ", "\x00", "\ud800", "é" * 5000, "疫苗", "a" * 200_000, "'; DROP TABLE reports; --", "../../etc/passwd",
    "9999-12-31T23:59:59+14:00", "0001-01-01T00:00:00Z", "2026-02-30", "<script>",
    [], {}, [[]], [[[[[[]]]]]], {"a": {"b": {"c": {}}}},
]  # fmt: skip


@dataclass
class DoorRun:
    """What became of a door's bodies."""

    num_bodies: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    grown_mebibytes: float = 0.0


Knock = Callable[[bytes], str]
"""Sends a body; gives a word for the answer, or raises."""


@dataclass(frozen=True)
class Door:
    """A way in, with bodies that are right."""

    name: str
    right: list[bytes]
    knock: Knock


def mutated(right: bytes, chance: random.Random) -> bytes:
    """A body that is nearly right."""
    if chance.random() < 0.6:
        try:
            document = json.loads(right)
        except ValueError:
            pass
        else:
            for _ in range(chance.choice([1, 1, 1, 2, 4])):
                document = _odd_json(document, chance)
            return json.dumps(document, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return _odd_bytes(right, chance)


def _odd_json(document: Any, chance: random.Random) -> Any:
    places = list(_places(document))
    if not places or chance.random() < 0.03:
        return copy.deepcopy(chance.choice(ODD))
    document = copy.deepcopy(document)
    path = chance.choice(places)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    deed = chance.random()
    if deed < 0.6:
        holder[path[-1]] = copy.deepcopy(chance.choice(ODD))
    elif deed < 0.75:
        del holder[path[-1]]
    elif deed < 0.9 and isinstance(holder, dict):
        holder[str(chance.choice(["x", "", "site_id", "疫", "__proto__", path[-1]])) + "2"] = chance.choice(ODD)
    elif isinstance(holder, list):
        holder.extend(copy.deepcopy(holder[:50]))
    else:
        other = document
        for key in chance.choice(places):
            other = other[key]
        holder[path[-1]] = copy.deepcopy(other)
    return document


def _places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _odd_bytes(right: bytes, chance: random.Random) -> bytes:
    body = bytearray(right)
    for _ in range(chance.choice([1, 1, 2, 8, 64])):
        at, deed = chance.randrange(len(body) + 1), chance.randrange(6)
        if deed == 0 and body:
            body[at % len(body)] = chance.randrange(256)
        elif deed == 1:
            del body[at : at + chance.choice([1, 2, 10, 1000])]
        elif deed == 2:
            body[at:at] = chance.randbytes(chance.choice([1, 4, 100]))
        elif deed == 3:
            body[at:at] = body[at : at + chance.choice([1, 20, 500])]
        elif deed == 4:
            body[at:at] = chance.choice(
                [b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"|", b"^", b"\x0b", b"\x1c\r"]
            )
        elif chance.random() < 0.1:
            body *= 3
        if len(body) > 2_000_000:
            del body[2_000_000:]
    return bytes(body)


def make_orders(opened: OpenCity) -> None:
    """Reports that give the city something to order, and a cycle."""
    for number, report in enumerate(templates()):
        waiting = dict.fromkeys(report["waiting_people"], 80 * (number % 2))
        report |= {
            "report_id": f"r{number}",
            "valid_at": opened.live.clock.now().isoformat(),
            "waiting_people": waiting,
        }
        opened.live.submit(json.dumps(report).encode())
    opened.live.run_cycle()


def http_doors(client: TestClient, opened: OpenCity) -> list[Door]:
    """Every door that takes a body, and every address that takes parameters."""
    site, now = opened.live.city.sites[0].site_id, opened.live.clock.now()
    order = next(iter(opened.live.plans.orders(limit=1)), None)
    order_id = order.order_id if order else "none"
    press = {"reason": "a drill", "client_key": "k"}
    report = {"site_id": site, "valid_at": now.isoformat(), "arrivals_people": 3, "waiting_people": {"registration": 4},
              "fridges": [{"fridge_id": opened.live.city.sites[0].fridges[0].fridge_id, "temperature_celsius": 5.0}],
              "booked_people": [1] * 8, "staff": [{"role": "vaccinator", "people": 2,
              "shift_ends_at": (now + timedelta(hours=3)).isoformat()}]}  # fmt: skip
    answering: dict[str, list[Any]] = {
        "reports": [report, [report, report]],
        f"orders/{order_id}/receipts": [{"status": "acknowledged", "at": now.isoformat(), "receipt_id": "r"}],
        "orders/decide": [{"wishes": [{"order_id": order_id, "action": "approve"}], "mode": "all"} | press],
        f"orders/{order_id}/override": [{"quantity": 2} | press],
        "dead-letters/1/resend": [{"reason": "again"}],
        "commands/freeze": [{"site_id": site} | press],
        "commands/suspend": [{"site_id": site} | press],
        "handover": [{"from_officer": "a", "to_officer": "b", "note": "quiet", "client_key": "h"}],
        "handover/1/confirm": [press],
        "playbooks": [{"kind": kind, "site_ids": [site], "fridge_id": None, "lot_number": None} | press
                      for kind in ("suspend_site", "surge", "power_cut", "recall", "fridge_failure")],
        "playbooks/pb-1/end": [press],
        "sign-in": [{"name": "a", "password": "b"}],
    }  # fmt: skip
    answering |= {
        f"orders/{order_id}/{deed}": [press] for deed in ("approve", "reject", "withdraw", "undo", "pin", "unpin")
    }
    doors = [
        Door(f"POST /api/v1/{path}".replace(order_id, "{order_id}"), [json.dumps(one).encode() for one in bodies],
             partial(_post, client, f"/api/v1/{path}", "application/json"))
        for path, bodies in answering.items()
    ]  # fmt: skip
    appointments = [path.read_bytes() for path in sorted(EXAMPLES.glob("fhir_r4/Appointment*.json"))]
    tasks = [path.read_bytes() for path in sorted(EXAMPLES.glob("fhir_r4/Task*.json"))] or [b'{"resourceType":"Task"}']
    cold = [path.read_bytes() for path in sorted(EXAMPLES.glob("cold_chain/*[!a].json"))] or [
        b'{"LSER":"1","records":[]}'
    ]
    fhir, post = "application/fhir+json", partial(_post, client)
    places = [
        b"orders?state=sent&limit=5", b"audit?after_no=1&limit=5", b"sites?at=2026-03-02T10:00:00Z", b"plans/x",
        b"sites/site-00001/day", b"sites/site-00001/reports?limit=3", b"quarantine?limit=2", b"handover?limit=1",
    ]  # fmt: skip
    octets = "application/octet-stream"
    doors += [
        Door("POST /api/v1/fhir/Appointment", appointments, partial(post, "/api/v1/fhir/Appointment", fhir)),
        Door("POST /api/v1/fhir/Task", tasks, partial(post, "/api/v1/fhir/Task", fhir)),
        Door("POST /api/v1/cold-chain", cold, partial(post, "/api/v1/cold-chain?logger=l1", "application/json")),
        Door(
            "POST /api/v1/uploads (csv)",
            [csv_template("en"), csv_template("zh")],
            partial(post, "/api/v1/uploads", "text/csv"),
        ),
        Door("POST /api/v1/uploads (xlsx)", [xlsx_template("en")], partial(post, "/api/v1/uploads", octets)),
        Door("GET /api/v1/...", places, partial(_get, client)),
    ]
    return doors


def _post(client: TestClient, path: str, media: str, body: bytes) -> str:
    status = client.post(path, content=body, headers={"content-type": media}).status_code
    if status >= 500:
        raise AssertionError(f"answered {status}")
    return str(status)


def _get(client: TestClient, body: bytes) -> str:
    path = "".join(chr(byte) if 33 <= byte < 127 and chr(byte) not in "#" else f"%{byte:02X}" for byte in body[:2000])
    status = client.get(f"/api/v1/{path}").status_code if "events" not in path else 0
    if status >= 500:
        raise AssertionError(f"answered {status}")
    return str(status)


def other_doors(opened: OpenCity) -> list[Door]:
    """What comes by MLLP, MQTT and polling."""
    live = opened.live
    desk, now = ReceiptDesk(live), live.clock.now()
    take = receipt_taker(desk, "mqtt", live.clock)
    receipt = {"order_id": "x", "status": "acknowledged", "at": live.clock.now().isoformat()}
    cold = [path.read_bytes() for path in sorted(EXAMPLES.glob("cold_chain/*[!a].json"))] or [b"[]"]
    slots = [line for path in sorted(EXAMPLES.rglob("*.ndjson")) for line in path.read_bytes().splitlines()[:40]]
    manifests = [path.read_bytes() for path in sorted(EXAMPLES.rglob("manifest.json"))]
    tasks = [path.read_bytes() for path in sorted(EXAMPLES.glob("fhir_r4/Task*.json"))]
    catalogue = FeedCatalogue()
    doors = [
        Door("MQTT receipts", [json.dumps(receipt).encode()], lambda body: _quiet(take, "site-00001", body)),
        Door("MQTT loggers", cold, lambda body: _quiet(take_cold_chain, live, body, "mqtt:l", "l")),
        Door("polled FHIR Task", tasks, lambda body: _quiet(take_task, desk, "fhir", _json(body), ORDERS, now)),
        Door("polled slot", slots, lambda body: _quiet(_read_slot, catalogue, body)),
        Door("polled manifest", manifests, lambda body: _quiet(read_manifest, body, "https://a.example/$bulk-publish")),
    ]  # fmt: skip
    return [door for door in doors if door.right]


def _read_slot(catalogue: FeedCatalogue, body: bytes) -> object:
    kind = next((name for name in ("Location", "Schedule", "Slot") if name.encode() in body[:200]), "Slot")
    return catalogue.read_line(kind, body)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _quiet(take: Callable[..., object], *facts: Any) -> str:
    try:
        take(*facts)
    except DoseflowError as error:
        return type(error).__name__
    return "taken"


class MllpSender:
    """One connection to the listener, opened anew whenever it was closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._line: socket.socket | None = None

    def __call__(self, body: bytes) -> str:
        if self._line is None:
            self._line = socket.create_connection(("127.0.0.1", self._port), timeout=5)
        try:
            self._line.sendall(b"\x0b" + body + b"\x1c\r")
            answer = b""
            while not answer.endswith(b"\x1c\r"):
                part = self._line.recv(65536)
                if not part:
                    self._line = None
                    return "closed"
                answer += part
        except ConnectionError:
            self._line = None
            return "closed"
        # A body with an end mark inside is several messages: their answers must not be taken for the next one's.
        if b"\x1c" in body:
            self._line.close()
            self._line = None
        return answer.partition(b"MSA|")[2][:2].decode("ascii", "replace") or "no MSA"


def mllp_door(opened: OpenCity, settings: Any) -> Door:
    listener = make_listener(opened.live, settings)
    assert listener is not None
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(listener.start(), loop).result(10)
    right = [path.read_bytes().replace(b"\n", b"\r") for path in sorted(EXAMPLES.glob("hl7v2/*.hl7"))]
    return Door("MLLP", right, MllpSender(listener.port))


def run_door(door: Door, num_bodies: int, seed: int, advance: Callable[[int], object]) -> DoorRun:
    """Send a door its bodies."""
    chance, run, quarter = random.Random(f"{seed} {door.name}"), DoorRun(), 0.0
    for number in range(num_bodies):
        body = mutated(chance.choice(door.right), chance)
        began = time.monotonic()
        try:
            run.answers[door.knock(body)] += 1
        except Exception as error:  # noqa: BLE001 - what is looked for
            if len(run.findings) < KEPT_FINDINGS:
                run.findings.append(f"{type(error).__name__}: {error} for {body[:300]!r}")
            run.answers["found"] += 1
        took = time.monotonic() - began
        run.slowest_seconds = max(run.slowest_seconds, took)
        if number == num_bodies // 4:
            quarter = _resident_mebibytes()
        if number % 100 == 99:
            advance(100)
    run.num_bodies, run.grown_mebibytes = num_bodies, _resident_mebibytes() - quarter
    return run


def _resident_mebibytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description="Send every door bodies that are nearly right.")
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--door", help="Only doors with this in their name.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory(prefix="doseflow-fuzz-") as folder:
        settings = read_settings(
            city=str(city_where_it_is_morning(Path(folder))),
            store={"url": f"sqlite:///{folder}/fuzz.sqlite"},
            fhir={"is_on": True},
            hl7={"is_on": True, "port": _free_port()},
            appointments={"key_file": f"{folder}/ids.key"},
        )
        opened = open_city(settings)
        make_orders(opened)
        with TestClient(create_app(opened.live, allowed_hosts=("*",)), raise_server_exceptions=False) as client:
            doors = [*http_doors(client, opened), *other_doors(opened), mllp_door(opened, settings)]
            doors = [door for door in doors if not chosen.door or chosen.door.lower() in door.name.lower()]
            runs = {}
            with Progress() as progress:
                task = progress.add_task("bodies", total=len(doors) * chosen.examples)
                for door in doors:
                    runs[door.name] = run_door(door, chosen.examples, chosen.seed, partial(progress.advance, task))
        opened.close()
    figures = []
    for name, run in runs.items():
        measured = f"slowest {run.slowest_seconds:5.2f} s, grown {run.grown_mebibytes:6.1f} MiB"
        print(f"{name:48s} {run.num_bodies:6d} bodies, {measured}, {dict(run.answers.most_common(5))}")
        for finding in run.findings:
            print("    ", finding[:600])
        params = {"door": name, "answers": dict(run.answers)}
        facts = (
            ("failures", run.answers["found"], "count", 0),
            ("slowest_seconds", run.slowest_seconds, "seconds", SLOW_SECONDS),
            ("grown_mebibytes", run.grown_mebibytes, "mebibytes", None),
        )
        figures += [
            Figure(
                what,
                value,
                unit,
                params,
                n=run.num_bodies,
                seed=chosen.seed,
                target=target,
                met=None if target is None else value <= target,
            )
            for what, value, unit, target in facts
        ]
    if chosen.json:
        write_figures(chosen.json, figures)
    raise SystemExit(1 if any(run.findings or run.slowest_seconds > SLOW_SECONDS for run in runs.values()) else 0)


def _free_port() -> int:
    from doseflow.live.machine_needs import free_port

    return free_port()


if __name__ == "__main__":
    main()
