from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text
from store_samples import START, make_city, make_cycle, make_report, one_of_each_kind

from doseflow.errors import EnvironmentUnfit, SettingsWrong, StoreUnavailable
from doseflow.store.engine import Store, open_store


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def test_the_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "store.sqlite"
    open_store(sqlite_url(path)).close()
    assert path.is_file()


def test_closing_leaves_one_file(tmp_path: Path) -> None:
    store = open_store(sqlite_url(tmp_path / "store.sqlite"))
    store.reports.accept(*map(list, zip(make_report("s", "r1"), strict=True)))
    assert (tmp_path / "store.sqlite-wal").is_file()
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["store.sqlite"]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense", "must be a database URL"),
        ("mysql://localhost/doseflow", "must begin with sqlite: or postgresql:"),
        ("sqlite://", "must name a file"),
        ("sqlite:///:memory:", "must name a file"),
    ],
)
def test_a_url_of_nothing_we_know_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(SettingsWrong, match=f"store.url: {sentence}"):
        open_store(url)


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentUnfit, match=r"store.url: the folder .* cannot be made: "):
        open_store(sqlite_url(tmp_path / "file" / "store.sqlite"))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody can write")
def test_a_folder_that_cannot_be_written_is_said_so() -> None:
    with pytest.raises(EnvironmentUnfit, match=r"store.url: /proc/store.sqlite cannot be written: .*unable to open"):
        open_store("sqlite:////proc/store.sqlite")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_file_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.touch(mode=0o444)
    with pytest.raises(EnvironmentUnfit, match="cannot be written"):
        open_store(sqlite_url(path))


def test_a_file_that_is_no_database_is_said_so_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"this is a letter to somebody else " * 100)
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match=r"store.url: .*store.sqlite cannot be used: .*not a database"):
        open_store(sqlite_url(path))
    assert path.read_bytes() == before


def test_a_broken_database_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    open_store(sqlite_url(path)).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + os.urandom(len(whole) - 100))
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        open_store(sqlite_url(path))


def test_a_database_that_must_exist_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with pytest.raises(StoreUnavailable, match="there is no database"):
        open_store(sqlite_url(path), must_exist=True)
    assert not path.exists()
    open_store(sqlite_url(path)).close()
    open_store(sqlite_url(path), must_exist=True).close()


def test_a_database_of_a_newer_doseflow_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    open_store(sqlite_url(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(EnvironmentUnfit, match="a newer doseflow wrote this database \\(schema 9999\\)"):
        open_store(sqlite_url(path))


@pytest.mark.parametrize(("survive_power_cut", "synchronous"), [(False, 1), (True, 2)])
def test_sqlite_is_opened_as_the_record_says(tmp_path: Path, survive_power_cut: bool, synchronous: int) -> None:
    store = open_store(sqlite_url(tmp_path / "store.sqlite"), survive_power_cut=survive_power_cut)
    names = ("journal_mode", "synchronous", "foreign_keys", "page_size", "busy_timeout")
    with store.reports._transactions.read() as connection:
        pragmas = {name: connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in names}
    store.close()
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": synchronous,
        "foreign_keys": 1,
        "page_size": 8192,
        "busy_timeout": 5000,
    }


def test_what_the_driver_raises_leaves_as_one_sentence(store: Store) -> None:
    with store.reports._transactions.write() as connection:
        connection.execute(text("DROP TABLE outbox"))
    one, raw = make_report("site-0000", "r1")
    store.reports.accept([one], [raw])

    with pytest.raises(StoreUnavailable, match=r"^the database does not answer: no such table: outbox$"):
        store.outbox.due(START)
    with pytest.raises(StoreUnavailable):
        store.plans.save_cycle(make_cycle(make_city(), "c1", one_of_each_kind()), [one])
    assert store.plans.latest_cycle() is None
    assert store.reports.pending() == [one]


def test_a_second_process_may_read_while_the_first_writes(store: Store, store_url: str) -> None:
    other = open_store(store_url)
    one, raw = make_report("site-0000", "r1")
    with store.reports._transactions.write():
        assert other.reports.pending() == []
    store.reports.accept([one], [raw])
    assert other.reports.pending() == [one]
    other.close()
