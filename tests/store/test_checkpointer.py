from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from store_samples import START, make_report

from doseflow.store.engine import Store


def reports_in_the_file_alone(path: Path, copy: Path) -> int:
    """Reports in the database file without its log: what a checkpoint has moved."""
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as connection:
        count: int = connection.execute("SELECT count(*) FROM reports").fetchone()[0]
    connection.close()
    return count


def test_what_was_written_moves_into_the_database_file_soon(store: Store, tmp_path: Path) -> None:
    one, raw = make_report("site-0000", "r1", START)
    store.reports.accept([one], [raw])
    deadline = time.monotonic() + 20
    moved = 0
    while moved == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
        try:
            moved = reports_in_the_file_alone(tmp_path / "store.sqlite", tmp_path / "copy.sqlite")
        except sqlite3.OperationalError:
            continue  # the schema itself is still in the log
    assert moved == 1
    assert (tmp_path / "store.sqlite-wal").stat().st_size > 0
