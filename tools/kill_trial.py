"""
Kills a serving city, and who it tells, with SIGKILL at random moments, and looks for every promise that was made.

    python tools/kill_trial.py --kills 100 --json docs/results/kill-trial-sqlite.json
    python tools/kill_trial.py --kills 100 --store postgresql --json docs/results/kill-trial-postgresql.json

`doseflow serve` runs a small city with a cycle a second. Meanwhile sites send reports by HTTP, a hospital sends
bookings by MLLP, an officer approves orders (and presses again with the same key when no answer came), and a receiver
in a process of its own carries out what webhooks tell it. One of the two processes is killed and started again, so
many times. In the end:

- every report that was answered 202 is in the database, once;
- every booking that was answered AA is in the database;
- no order was carried out twice: no order id twice at the receiver, and no two open orders for one decision;
- each answered approval is one deed in the audit log, and the log has no gap;
- what was to be told was told: the outbox is empty, without dead letters of orders that still stand;
- the database is whole.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
from rich.progress import track
from sqlalchemy import create_engine, text

from doseflow.bench.figures import Figure, write_figures
from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.intake.city_file import city_from_json, city_to_json
from doseflow.live.machine_needs import free_port
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import ReportFaults
from doseflow.store.audit_lines import check_lines
from doseflow.store.engine import open_store

SECRET = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU="
NUM_SITES = 8
READY_SECONDS = 60.0
DRAIN_SECONDS = 90.0
MORNING_HOUR = 10


@dataclass
class Promises:
    """What was answered: ids of reports, of bookings, and of approved orders."""

    reports: set[str] = field(default_factory=set)
    bookings: set[str] = field(default_factory=set)
    approved: set[str] = field(default_factory=set)
    num_sent_bookings: int = 0
    num_repeated_presses: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Peer:
    """A process that is started again after each kill."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


def city_where_it_is_morning(folder: Path) -> Path:
    """A synthetic city in a zone where it is ten in the morning, so that its sites are open."""
    city = SimulatedCity.from_name(f"synthetic:{NUM_SITES}", faults=ReportFaults()).city
    document = orjson.loads(city_to_json(city))
    ahead = MORNING_HOUR - datetime.now(UTC).hour
    ahead = ahead + 24 if ahead < -12 else ahead - 24 if ahead > 12 else ahead
    document["timezone"] = "UTC" if ahead == 0 else f"Etc/GMT{-ahead:+d}"
    path = folder / "city.json"
    path.write_bytes(orjson.dumps(document))
    city_from_json(path.read_bytes())
    return path


def settings_file(folder: Path, url: str, ports: dict[str, int]) -> Path:
    path = folder / "doseflow.toml"
    path.write_text(f"""
city = "{folder / "city.json"}"
[http]
port = {ports["http"]}
[store]
url = "{url}"
[tick]
period_seconds = 1.0
grace_seconds = 0.0
relay_seconds = 0.1
[relay]
first_retry_seconds = 0.2
max_retry_seconds = 1.0
cool_down_seconds = 1.0
max_attempts = 100
[webhook]
url = "http://127.0.0.1:{ports["receiver"]}/"
secret = "{SECRET}"
[hl7]
is_on = true
port = {ports["hl7"]}
[appointments]
key_file = "{folder / "ids.key"}"
[approvals]
undo_seconds = 0.0
[[approvals.rules]]
mode = "goes_out"
families = ["staff", "stations"]
minutes = 0.05
""")
    return path


def templates() -> list[dict[str, Any]]:
    """A report of each site, as of a simulated morning."""
    whole = ReportFaults(late_share=0, missing_share=0, repeated_share=0, wrong_share=0)
    city = SimulatedCity.from_name(f"synthetic:{NUM_SITES}", faults=whole)
    city.advance(120)
    shift = datetime.now(UTC) - city.now

    def moved(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: moved(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [moved(item) for item in value]
        is_moment = key.endswith("_at") and isinstance(value, str)
        return (datetime.fromisoformat(value) + shift).isoformat() if is_moment else value

    return [moved(orjson.loads(raw)) for raw in city.reports()]


def send_reports(port: int, promises: Promises, stop: threading.Event, seed: int) -> None:
    chance, reports, number = random.Random(seed), templates(), 0
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=5) as client:
        while not stop.is_set():
            body = []
            for report in reports:
                number += 1
                now = datetime.now(UTC)
                waiting = {name: chance.choice([0, 2, 10, 60]) for name in report["waiting_people"]}
                ids = {"report_id": f"r{number:07d}", "valid_at": now.isoformat(), "waiting_people": waiting}
                body.append(report | ids)
            try:
                if client.post("/api/v1/reports", content=orjson.dumps(body)).status_code == 202:
                    with promises.lock:
                        promises.reports |= {report["report_id"] for report in body}
            except httpx.HTTPError:
                time.sleep(0.05)
            stop.wait(0.1)


def send_bookings(port: int, promises: Promises, stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
                while not stop.is_set():
                    number += 1
                    promises.num_sent_bookings = number
                    line.sendall(b"\x0b" + booking(number) + b"\x1c\r")
                    answer = b""
                    while not answer.endswith(b"\x1c\r"):
                        part = line.recv(4096)
                        if not part:
                            raise ConnectionError
                        answer += part
                    if b"MSA|AA|" in answer:
                        with promises.lock:
                            promises.bookings.add(f"b{number}")
                    stop.wait(0.05)
        except OSError:
            time.sleep(0.1)


def booking(number: int) -> bytes:
    starts = datetime.now(UTC) + timedelta(hours=1)
    now = f"{datetime.now(UTC):%Y%m%d%H%M%S}+0000"
    site = f"site-{number % NUM_SITES + 1:05d}"
    lines = [
        f"MSH|^~\\&|HIS|{site}|DF|DF|{now}||SIU^S12|m{number}|P|2.5",
        f"SCH|b{number}|b{number}|||||||15|min|^^15^{starts:%Y%m%d%H%M%S}+0000^{starts:%Y%m%d%H%M%S}+0000",
        "PID|1||1^^^A||Nobody^Anna",
        "RGS|1|A",
        f"AIL|1|A|{site}^^^{site}",
    ]
    return "\r".join(lines).encode() + b"\r"


def approve_orders(port: int, promises: Promises, stop: threading.Event) -> None:
    """Approve what waits; a press without an answer is pressed again with its key."""
    open_presses: dict[str, str] = {}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=5) as client:
        while not stop.is_set():
            try:
                rows = client.get("/api/v1/orders", params={"state": "proposed"}).json()["orders"]
                for row in rows[:3]:
                    open_presses.setdefault(row["order_id"], f"press-{row['order_id']}")
                for order_id, key in list(open_presses.items()):
                    path = f"/api/v1/orders/{order_id}/approve"
                    client.post(path, json={"client_key": key})
                    # As if its answer had not come: the same press again.
                    promises.num_repeated_presses += 1
                    answer = client.post(path, json={"client_key": key})
                    if answer.status_code < 500:
                        open_presses.pop(order_id)
                    if answer.status_code == 200:
                        with promises.lock:
                            promises.approved.add(order_id)
            except (httpx.HTTPError, ValueError, KeyError):
                time.sleep(0.05)
            stop.wait(0.1)


def wait_until_ready(port: int, log: Path) -> None:
    give_up = time.monotonic() + READY_SECONDS
    while time.monotonic() < give_up:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/api/v1/cycles/latest", timeout=2).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    raise SystemExit(f"the city did not come back after a kill: {log.read_text(errors='replace')[-3000:]}")


def waiting(url: str) -> int:
    engine = create_engine(url)
    with engine.connect() as connection:
        left: int = connection.execute(
            text("SELECT count(*) FROM outbox WHERE delivered_at IS NULL AND dead_at IS NULL")
        ).scalar_one()
    engine.dispose()
    return left


def broken_promises(url: str, promises: Promises, done: Path) -> dict[str, list[str]]:
    """Each promise with what breaks it."""
    engine = create_engine(url)
    with engine.connect() as connection:
        kept = Counter(map(tuple, connection.execute(text("SELECT report_id, site_id FROM reports"))))
        num_bookings = connection.execute(text("SELECT count(*) FROM appointments")).scalar_one()
        known_orders = set(connection.execute(text("SELECT order_id FROM orders")).scalars())
        dead = connection.execute(
            text(
                "SELECT o.order_id FROM outbox b JOIN orders o ON o.order_id = b.order_id "
                "WHERE b.dead_at IS NOT NULL AND o.state NOT IN ('expired', 'withdrawn')"
            )
        ).scalars()
        dead_orders = list(dead)
        is_whole = url.startswith("postgresql") or connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    engine.dispose()
    carried_out = [json.loads(line) for line in done.read_text().splitlines()]
    times = Counter(one["order_id"] for one in carried_out if one["type"] == "order.made")
    store = open_store(url)
    standing = Counter((one.decision.key, one.decision.quantity) for one in store.plans.orders(states=OPEN_STATES))
    entries = store.audit.entries(limit=10**6)
    approvals = Counter(one.entry.subject for one in entries if one.entry.action == "order.approve")
    wrong_with_audit = check_lines(store.audit.lines())[1]
    store.close()
    few = num_bookings < len(promises.bookings) or num_bookings > promises.num_sent_bookings
    return {
        "reports lost": sorted(promises.reports - {report_id for report_id, _ in kept}),
        "reports twice": [str(name) for name, times_kept in kept.items() if times_kept > 1],
        "bookings lost or twice": [f"{num_bookings} kept, {len(promises.bookings)} answered"] if few else [],
        "orders carried out twice": [name for name, count in times.items() if count > 1],
        "orders carried out that nobody made": sorted(set(times) - known_orders),
        "decisions ordered twice": [str(name) for name, count in standing.items() if count > 1],
        "approvals lost": sorted(promises.approved - set(approvals)),
        "approvals twice": [name for name, count in approvals.items() if count > 1],
        "audit log broken": [wrong_with_audit] if wrong_with_audit else [],
        "orders given up": dead_orders,
        "database": [] if is_whole else ["not whole"],
    }


def play(num_kills: int, url: str, seed: int, folder: Path) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Kill so many times; what was broken, and how much was promised."""
    ports = {name: free_port() for name in ("http", "receiver", "hl7")}
    city_where_it_is_morning(folder)
    settings, done, chance = settings_file(folder, url, ports), folder / "done.jsonl", random.Random(seed)
    environment = os.environ | {
        "DOSEFLOW_SETTINGS": str(settings),
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
    }
    serve = Peer([sys.executable, "-m", "doseflow", "serve"], environment, folder / "serve.log")
    receiver_command = [sys.executable, str(Path(__file__).with_name("kill_receiver.py"))]
    receiver = Peer(
        [*receiver_command, str(ports["receiver"]), str(done), SECRET], environment, folder / "receiver.log"
    )
    promises, stop = Promises(), threading.Event()
    players = [
        threading.Thread(target=send_reports, args=(ports["http"], promises, stop, seed)),
        threading.Thread(target=send_bookings, args=(ports["hl7"], promises, stop)),
        threading.Thread(target=approve_orders, args=(ports["http"], promises, stop)),
    ]
    serve.start()
    receiver.start()
    for player in players:
        player.start()
    try:
        wait_until_ready(ports["http"], serve.log)
        for _ in track(range(num_kills), description="kills"):
            time.sleep(chance.uniform(0.05, 2.5))
            victim = chance.choice([serve, serve, receiver])
            victim.kill()
            victim.start()
            if victim is serve:
                wait_until_ready(ports["http"], serve.log)
        time.sleep(3)
        stop.set()
        for player in players:
            player.join()
        give_up = time.monotonic() + DRAIN_SECONDS
        while waiting(url) and time.monotonic() < give_up:
            time.sleep(0.5)
    finally:
        stop.set()
        for peer in (serve, receiver):
            peer.kill()
    broken = broken_promises(url, promises, done)
    broken["never told"] = [f"{left} entries"] if (left := waiting(url)) else []
    promised = {
        "reports": len(promises.reports),
        "bookings": len(promises.bookings),
        "approvals": len(promises.approved),
        "presses_repeated": promises.num_repeated_presses,
        "orders_carried_out": len(done.read_text().splitlines()),
    }
    return broken, promised


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill a serving city, and look for broken promises.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doseflow-kill-")))
        url = f"sqlite:///{folder / 'store.sqlite'}"
        if chosen.store == "postgresql":
            sys.path.append(str(Path(__file__).parents[1] / "tests" / "store"))
            from postgres_server import postgres_server

            url = stack.enter_context(postgres_server())
        began = time.monotonic()
        broken, promised = play(chosen.kills, url, chosen.seed, folder)
        minutes = (time.monotonic() - began) / 60
        if any(broken.values()):
            print((folder / "serve.log").read_text(errors="replace")[-3000:])
    for name, found in broken.items():
        print(f"{name:40s} {len(found):5d}  {found[:3] if found else ''}")
    print(promised, f"{minutes:.1f} minutes")
    if chosen.json:
        params = {"store": chosen.store, "kills": chosen.kills, "minutes": round(minutes, 1)} | promised
        figures = [
            Figure(
                name.replace(" ", "_"),
                len(found),
                "count",
                params,
                n=chosen.kills,
                seed=chosen.seed,
                target=0,
                met=not found,
            )
            for name, found in broken.items()
        ]
        write_figures(chosen.json, figures)
    raise SystemExit(1 if any(broken.values()) else 0)


if __name__ == "__main__":
    main()
