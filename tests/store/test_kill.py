from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from sqlalchemy import select, text

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.store.engine import Store, open_store
from doseflow.store.tables import cycles, orders, outbox, reports

WRITER = Path(__file__).with_name("killed_writer.py")
NUM_KILLS = 4


def run_and_kill(url: str, run: int, after_seconds: float) -> list[list[str]]:
    """What the writer had promised when it was killed, a list of words a promise."""
    command = [sys.executable, str(WRITER), url, f"run{run}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(after_seconds)
        writer.kill()
        said, _ = writer.communicate(timeout=30)
    # The last line may be cut off: it was not said in full.
    return [line.split() for line in said.split("\n")[:-1]]


def rows(store: Store, *columns: object) -> list[tuple]:
    with store.reports._transactions.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]


def test_killed_at_any_moment_it_loses_no_accepted_report_and_makes_no_order_twice(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    chance = random.Random(20260302)
    promises = [one for run in range(NUM_KILLS) for one in run_and_kill(url, run, chance.uniform(0.05, 0.5))]
    said = {word: {item for one in promises if one[0] == word for item in one[1:]} for word in ("accepted", "told")}
    saved = {one[1]: one[2:] for one in promises if one[0] == "saved"}
    assert len(said["accepted"]) > 20
    assert len(saved) > 4

    store = open_store(url)
    with store.reports._transactions.read() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    kept_reports = rows(store, reports.c.report_id, reports.c.cycle_id)
    assert said["accepted"] <= {report_id for report_id, _ in kept_reports}
    assert len({report_id for report_id, _ in kept_reports}) == len(kept_reports)
    assert {one.report.report_id for one in store.reports.pending()} == {
        report_id for report_id, cycle_id in kept_reports if cycle_id is None
    }

    kept_cycles = dict(rows(store, cycles.c.cycle_id, cycles.c.num_orders))
    kept_orders = rows(store, orders.c.order_id, orders.c.cycle_id)
    assert set(saved) <= set(kept_cycles)
    assert {item for made in saved.values() for item in made} <= {order_id for order_id, _ in kept_orders}
    made = Counter(cycle_id for _, cycle_id in kept_orders)
    assert {cycle_id: made[cycle_id] for cycle_id in kept_cycles} == kept_cycles

    standing = Counter(
        (order.decision.key, order.decision.quantity) for order in store.plans.orders(states=OPEN_STATES)
    )
    assert set(standing.values()) == {1}
    entries = rows(store, outbox.c.entry_id, outbox.c.order_id, outbox.c.topic, outbox.c.delivered_at)
    assert max(Counter((order_id, topic) for _, order_id, topic, _ in entries).values()) == 1
    assert said["told"] <= {str(entry_id) for entry_id, _, _, delivered_at in entries if delivered_at is not None}
    store.close()
