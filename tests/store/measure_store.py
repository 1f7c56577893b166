"""
Measures what the store costs a cycle, on a store of its own; not a test.

    .venv/bin/python tests/store/measure_store.py --sites 200 --orders 100 --cycles 100

Each cycle accepts a report of 2,000 bytes from every site in one body, reads what binds the next plan, compares the
plan with the open orders, and keeps a cycle with so many new orders. `--ids site` gives reports ids that begin with
their site instead of their moment, `--withdraw` leaves every order unanswered, so that the next cycle withdraws it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from store_samples import START, WHY, make_city, make_cycle, make_report, make_state

from doseflow.dispatch.order_difference import OPEN_STATES, orders_from_difference
from doseflow.domain.decisions import StaffMove
from doseflow.domain.orders import OrderReceipt, OrderState, ReceiptStatus
from doseflow.domain.report import ReceivedReport
from doseflow.domain.roles import ROLES
from doseflow.store.engine import Store, open_store
from doseflow.store.state_codec import decode_state, encode_state

REPORT_BYTES = 2000


@dataclass
class Timings:
    """Milliseconds by step."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)

    def of(self, step: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        self.milliseconds.setdefault(step, []).append((time.perf_counter() - began) * 1000)
        return result


def moves(num_orders: int, num_sites: int, cycle: int) -> tuple[StaffMove, ...]:
    ends = START + timedelta(hours=5)
    return tuple(
        StaffMove(
            f"site-{idx % num_sites:04d}",
            f"site-{(idx + 7) % num_sites:04d}",
            ROLES[idx // num_sites % 4],
            ROLES[0],
            ends,
            1 + (idx + cycle) % 3,
            12.5,
            WHY,
        )
        for idx in range(num_orders)
    )


def reports(num_sites: int, now: datetime, ids: str) -> tuple[list[ReceivedReport], list[bytes]]:
    period = int(now.timestamp()) // 300
    made = [
        make_report(f"site-{idx:04d}", f"{period}-{idx}" if ids == "time" else f"{idx}-{period}", now)
        for idx in range(num_sites)
    ]
    return [one for one, _ in made], [raw.ljust(REPORT_BYTES) for _, raw in made]


def one_cycle(store: Store, base: Any, chosen: argparse.Namespace, number: int, timings: Timings) -> None:
    now = START + number * timedelta(minutes=5)
    received, raws = reports(chosen.sites, now, chosen.ids)
    timings.of("accept", lambda: store.reports.accept(received, raws))
    timings.of("expire", lambda: store.plans.expire_orders(now))
    binding = timings.of("commitments", lambda: store.plans.commitments(now))
    standing = timings.of("open orders", lambda: store.plans.orders(states=OPEN_STATES, limit=100_000))
    cycle = make_cycle(base.city, f"{now:%Y%m%dT%H%M%S}-0", moves(chosen.orders, chosen.sites, number), as_of=now)
    new, withdrawn = timings.of("difference", lambda: orders_from_difference(cycle.plan, standing, cycle.cycle_id))
    cycle = replace(
        cycle, state=replace(base, as_of=now, commitments=binding), new_orders=new, withdrawn_order_ids=withdrawn
    )
    data = timings.of("encode state (in save)", lambda: encode_state(cycle.state))
    timings.of("decode state", lambda: decode_state(data, base.city))
    timings.of("save cycle", lambda: store.plans.save_cycle(cycle, received))
    due = timings.of("due", lambda: store.outbox.due(now, 100_000))
    timings.of("mark delivered", lambda: store.outbox.mark_delivered([entry.entry_id for entry in due], now))
    if not chosen.withdraw:
        for order in store.plans.orders(states=[OrderState.SENT], limit=100_000):
            store.plans.record_receipt(order.order_id, OrderReceipt(ReceiptStatus.DONE, now))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the store costs a cycle.")
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--orders", type=int, default=100)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--ids", choices=("time", "site"), default="time")
    parser.add_argument("--withdraw", action="store_true")
    parser.add_argument("--url", help="an empty database; a SQLite file that is thrown away, if not given")
    chosen = parser.parse_args()
    timings, base = Timings(), make_state(make_city(chosen.sites))
    with tempfile.TemporaryDirectory(prefix="doseflow-measure-") as folder:
        path = Path(folder) / "store.sqlite"
        store = open_store(chosen.url or f"sqlite:///{path}")
        store.plans.save_city(base.city)
        for number in range(chosen.cycles):
            one_cycle(store, base, chosen, number, timings)
        store.close()
        size = path.stat().st_size if path.exists() else 0
    for step, values in timings.milliseconds.items():
        low, middle, high = np.percentile(values[chosen.cycles // 10 :], (5, 50, 99))
        print(f"{step:24s} p5 {low:7.2f}  p50 {middle:7.2f}  p99 {high:7.2f} ms")  # noqa: T201 - it is what it is for
    state_bytes = len(encode_state(base))
    print(f"state {state_bytes} bytes; database {size / chosen.cycles / 1000:.0f} kB a cycle")  # noqa: T201


main()
