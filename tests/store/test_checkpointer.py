from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from store_samples import make_city, make_cycle

from doseflow.store.engine import Store


def cycles_in_the_file_alone(path: Path, copy: Path) -> int:
    """Cycles in the database file without its log: what a checkpoint has moved."""
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as connection:
        count: int = connection.execute("SELECT count(*) FROM cycles").fetchone()[0]
    connection.close()
    return count


def test_a_kept_cycle_moves_into_the_database_file_by_itself(store: Store, tmp_path: Path) -> None:
    store.plans.save_cycle(make_cycle(make_city(), "c1"), [])
    deadline = time.monotonic() + 20
    moved = 0
    while moved == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
        try:
            moved = cycles_in_the_file_alone(tmp_path / "store.sqlite", tmp_path / "copy.sqlite")
        except sqlite3.OperationalError:
            continue  # the schema itself is still in the log
    assert moved == 1
    assert (tmp_path / "store.sqlite-wal").stat().st_size > 0
