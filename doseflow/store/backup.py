"""
A backup is a SQLite file with all tables as they stood at one moment, whatever database they come from.

Anybody can open it, it restores into either database, and so it is also the way from SQLite to PostgreSQL.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, Table, func, insert, select, text

from doseflow.errors import InputWrong, StoreUnavailable
from doseflow.store.connect import make_engine, read_url
from doseflow.store.migrate import migrate, require_newest
from doseflow.store.months import MonthPartitions
from doseflow.store.tables import metadata, reports
from doseflow.store.transactions import Transactions

ROWS_AT_ONCE = 500
PARTIAL_SUFFIX = ".partial"
"""A backup has its name only when it is whole."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table and how many rows of it were copied."""

    name: str
    num_rows: int


def back_up(url: str, path: Path, on_table: Callable[[CopiedTable], None] = lambda _: None) -> list[CopiedTable]:
    """
    Write a backup of a database, also while it serves.

    Raises
    ------
    InputWrong
        The file is there already, or cannot be written.
    StoreUnavailable, EnvironmentUnfit, SettingsWrong
        The database cannot be read.
    """
    if path.exists():
        raise InputWrong(f"out: there is a file {path} already; a backup never replaces one")
    partial = path.with_name(path.name + PARTIAL_SUFFIX)
    partial.unlink(missing_ok=True)
    try:
        with _existing(url) as source, _migrated(f"sqlite:///{partial}") as target:
            copied = _copy(source, target, on_table)
            _leave_whole(target)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return copied


def restore(path: Path, url: str, on_table: Callable[[CopiedTable], None] = lambda _: None) -> list[CopiedTable]:
    """
    Bring a backup into a database that has nothing in it; all of it or nothing.

    Raises
    ------
    InputWrong
        There is no such file, it is no backup, or the database has something in it.
    StoreUnavailable, EnvironmentUnfit, SettingsWrong
        The database cannot be written.
    """
    if not path.is_file():
        raise InputWrong(f"backup: there is no file {path}")
    if path.read_bytes()[:16] != b"SQLite format 3\x00":
        raise InputWrong(f"backup: {path} is no backup of doseflow, which is a SQLite file")
    # A copy is read: a backup that an older doseflow made is brought to this schema, and must itself stay as it is.
    with TemporaryDirectory(prefix="doseflow-restore-") as folder:
        own = Path(folder) / path.name
        shutil.copyfile(path, own)
        with _migrated(f"sqlite:///{own}") as source:
            _check_whole(source)
            with _migrated(url) as target:
                return _copy(source, target, on_table)


@contextmanager
def _existing(url: str) -> Iterator[Engine]:
    """A database as it stands."""
    engine = make_engine(read_url(url), must_exist=True, survive_power_cut=False)
    try:
        require_newest(Transactions(engine))
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _migrated(url: str) -> Iterator[Engine]:
    """A database brought to the newest schema; made where there is none."""
    engine = make_engine(read_url(url), must_exist=False, survive_power_cut=True)
    try:
        migrate(Transactions(engine))
        yield engine
    finally:
        engine.dispose()


def _copy(source: Engine, target: Engine, on_table: Callable[[CopiedTable], None]) -> list[CopiedTable]:
    """Copy all tables, parents first, in one transaction on either side."""
    copied = []
    with Transactions(source).read() as giving, Transactions(target).write() as taking:
        if giving.dialect.name == "postgresql":
            giving.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        for table in metadata.sorted_tables:
            _refuse_filled(taking, table)
            one = CopiedTable(table.name, _copy_table(giving, taking, table))
            _count_on(taking, table)
            copied.append(one)
            on_table(one)
    return copied


def _refuse_filled(connection: Connection, table: Table) -> None:
    if connection.execute(select(func.count()).select_from(select(table).limit(1).subquery())).scalar_one():
        raise InputWrong(f"to: the database has rows in {table.name} already; restore into an empty one")


def _copy_table(giving: Connection, taking: Connection, table: Table) -> int:
    partitions, num_rows = MonthPartitions(), 0
    for rows in _portions(giving, table):
        if table is reports:
            partitions.make(taking, {_month(row) for row in rows})
        taking.execute(insert(table), rows)
        num_rows += len(rows)
    return num_rows


def _portions(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    statement = select(table).order_by(*table.primary_key.columns)
    result = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(statement)
    for rows in result.mappings().partitions():
        yield [dict(row) for row in rows]


def _month(row: dict[str, Any]) -> date:
    month: date = row["valid_month"]
    return month


def _count_on(connection: Connection, table: Table) -> None:
    """PostgreSQL counts keys in sequences, which know nothing of rows that bring their own."""
    key = table.autoincrement_column
    if connection.dialect.name != "postgresql" or key is None:
        return
    highest = connection.execute(select(func.max(key))).scalar_one()
    if highest is not None:
        sequence = func.pg_get_serial_sequence(table.name, key.name)
        connection.execute(select(func.setval(sequence, highest)))


def _leave_whole(engine: Engine) -> None:
    """One file, checked, without a write-ahead log beside it."""
    with engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA journal_mode = DELETE")
        connection.exec_driver_sql("BEGIN")
    _check_whole(engine)


def _check_whole(engine: Engine) -> None:
    """
    Have SQLite look over every page.

    Raises
    ------
    StoreUnavailable
    """
    with Transactions(engine).read() as connection:
        verdict = connection.exec_driver_sql("PRAGMA integrity_check").scalars().first()
    if verdict != "ok":
        raise StoreUnavailable(f"the backup is damaged: {verdict}")
