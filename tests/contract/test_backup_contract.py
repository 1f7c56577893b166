"""A backup comes back as it was, whatever database it came from and goes to."""

from __future__ import annotations

import sqlite3
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select, text

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests

from store_samples import CITY, START, WHY, make_cycle, make_report, one_of_each_kind

from doseflow.domain.audit import AuditEntry
from doseflow.domain.commanding import Press
from doseflow.domain.decisions import StationChange
from doseflow.domain.roles import Stage
from doseflow.errors import EnvironmentUnfit, InputWrong, StoreUnavailable
from doseflow.store.backup import back_up, restore
from doseflow.store.engine import Store, open_store
from doseflow.store.sizes import table_sizes
from doseflow.store.tables import metadata


def fill(store: Store, num_cycles: int = 3) -> None:
    for number in range(num_cycles):
        sent = [make_report(f"site-000{idx}", f"r{number}-{idx}", START.replace(month=number + 1)) for idx in range(3)]
        store.reports.accept([one for one, _ in sent], [raw for _, raw in sent])
        decisions = (
            one_of_each_kind() if number == 0 else (StationChange("site-0001", Stage.VACCINATION, 1, number, WHY),)
        )
        store.plans.save_cycle(make_cycle(CITY, f"c{number}", decisions), [one for one, _ in sent[:2]])
    store.desk.command_site("freeze", "site-0002", Press("somebody", START, "rain"))


def rows_of(url: str) -> dict[str, list[tuple[object, ...]]]:
    engine = create_engine(url)
    with engine.connect() as connection:
        kept = {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in metadata.sorted_tables
        }
    engine.dispose()
    return kept


def test_it_comes_back_the_same_from_either_database_into_sqlite(store: Store, store_url: str, tmp_path: Path) -> None:
    fill(store)
    before = rows_of(store_url)
    assert {name for name, rows in before.items() if rows} >= {"reports", "cycles", "orders", "outbox", "audit_log"}
    told: list[str] = []
    copied = back_up(store_url, tmp_path / "kept.sqlite", lambda one: told.append(one.name))

    restore(tmp_path / "kept.sqlite", f"sqlite:///{tmp_path / 'back.sqlite'}")

    assert rows_of(f"sqlite:///{tmp_path / 'back.sqlite'}") == before
    assert told == [table.name for table in metadata.sorted_tables]
    assert {one.name: one.num_rows for one in copied} == {name: len(rows) for name, rows in before.items()}


def test_sqlite_moves_to_postgresql_and_serves_on(postgres_url: str, tmp_path: Path) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    first_url = f"sqlite:///{tmp_path / 'first.sqlite'}"
    first = open_store(first_url)
    first.plans.save_city(CITY)
    fill(first)
    back_up(first_url, tmp_path / "kept.sqlite")

    restore(tmp_path / "kept.sqlite", postgres_url)

    assert rows_of(postgres_url) == rows_of(first_url)
    moved = open_store(postgres_url)
    assert [one.report for one in moved.reports.pending()] == [one.report for one in first.reports.pending()]
    late, raw = make_report("site-0000", "new", START)
    again, raw_again = make_report("site-0000", "r0-0", START.replace(month=1))
    assert moved.reports.accept([late, again], [raw, raw_again]) == [True, False]
    moved.plans.save_city(CITY)
    moved.plans.save_cycle(make_cycle(CITY, "c9", one_of_each_kind()), [late])
    assert moved.audit.append(AuditEntry(START, "somebody", "site.unfreeze", "site-0002")).entry_no == 2
    moved.close()
    first.close()


def test_a_backup_of_a_city_that_goes_on_is_one_moment(store: Store, store_url: str, tmp_path: Path) -> None:
    stop = threading.Event()

    def go_on() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            sent, raw = make_report("site-0000", f"r{number}")
            store.reports.accept([sent], [raw])
            decisions = (StationChange("site-0000", Stage.VACCINATION, 1, number % 5, WHY),)
            store.plans.save_cycle(make_cycle(CITY, f"c{number}", decisions), [sent])

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        for number in range(3):
            back_up(store_url, tmp_path / f"{number}.sqlite")
    finally:
        stop.set()
        writer.join()
    for number in range(3):
        kept = rows_of(f"sqlite:///{tmp_path / f'{number}.sqlite'}")
        with sqlite3.connect(tmp_path / f"{number}.sqlite") as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        # A cycle and the report it took are one transaction's work: neither is there without the other.
        assert len(kept["cycles"]) == sum(row[6] is not None for row in kept["reports"])


def test_a_backup_replaces_nothing_and_a_failed_one_leaves_nothing(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "kept.sqlite"
    path.write_text("mine")
    with pytest.raises(InputWrong, match="out: there is a file"):
        back_up(store_url, path)
    assert path.read_text() == "mine"

    def fail(_copied: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(store_url, tmp_path / "other.sqlite", fail)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("other")] == []


def test_only_an_empty_database_is_restored_into(store: Store, store_url: str, tmp_path: Path) -> None:
    fill(store)
    back_up(store_url, tmp_path / "kept.sqlite")
    before = rows_of(store_url)
    with pytest.raises(InputWrong, match="to: the database has rows in"):
        restore(tmp_path / "kept.sqlite", store_url)
    assert rows_of(store_url) == before


def test_what_is_no_backup_or_half_of_one_is_refused(store: Store, store_url: str, tmp_path: Path) -> None:
    fill(store)
    whole, cut, other = (tmp_path / name for name in ("kept.sqlite", "cut.sqlite", "other.sqlite"))
    back_up(store_url, whole)
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    other.write_text("a letter")
    target = f"sqlite:///{tmp_path / 'new.sqlite'}"
    with pytest.raises(InputWrong, match="is no backup of doseflow"):
        restore(other, target)
    with pytest.raises(InputWrong, match="there is no file"):
        restore(tmp_path / "none.sqlite", target)
    with pytest.raises(StoreUnavailable):
        restore(cut, target)
    assert not (tmp_path / "new.sqlite").exists()


def test_a_table_size_says_from_when_to_when(store: Store, store_url: str) -> None:
    fill(store)
    sizes = {one.name: one for one in table_sizes(store_url)}
    assert (sizes["reports"].num_rows, sizes["reports"].first, sizes["reports"].last) == (
        9,
        f"{START.replace(month=1):%Y-%m-%d %H:%M}",
        f"{START.replace(month=3):%Y-%m-%d %H:%M}",
    )
    assert sizes["quarantine"].num_rows == 0
    assert sizes["quarantine"].first == ""


def test_a_database_of_another_schema_is_not_backed_up_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    open_store(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    connection.close()
    with pytest.raises(EnvironmentUnfit, match="has schema 0001, this doseflow"):
        back_up(f"sqlite:///{path}", tmp_path / "kept.sqlite")
    assert not (tmp_path / "kept.sqlite").exists()
