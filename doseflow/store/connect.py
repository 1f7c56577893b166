"""Engines: SQLite in write-ahead mode, or PostgreSQL."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from doseflow.errors import EnvironmentUnfit, SettingsWrong, StoreUnavailable
from doseflow.store.transactions import WRITES

PAGE_BYTES = 8192
"""Most reports fit into such a page, three in each; measured against 4 and 16 KiB in docs/decisions/0004-store.md."""
BUSY_MILLISECONDS = 5000
CHECKPOINT_PAGES = 8192
"""Log length (64 MiB) at which SQLite checkpoints by itself, should the checkpointer not get to it."""
MAX_CONNECTIONS = 20


def read_url(url: str) -> URL:
    """
    The URL, of a database this room can keep.

    Raises
    ------
    SettingsWrong
    """
    try:
        read = make_url(url)
    except ArgumentError as error:
        raise SettingsWrong(
            f"store.url: must be a database URL like sqlite:///var/doseflow.sqlite, got {url!r}"
        ) from error
    if read.get_backend_name() not in {"sqlite", "postgresql"}:
        raise SettingsWrong(f"store.url: must begin with sqlite: or postgresql:, got {read.drivername!r}")
    if read.get_backend_name() == "sqlite" and read.database in {None, "", ":memory:"}:
        raise SettingsWrong("store.url: must name a file, for example sqlite:///var/doseflow.sqlite")
    return read


def make_engine(url: URL, *, must_exist: bool, survive_power_cut: bool) -> Engine:
    """
    An engine; nothing is read or written yet, but SQLite's folder is made.

    Raises
    ------
    EnvironmentUnfit, StoreUnavailable
    """
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url, must_exist=must_exist, survive_power_cut=survive_power_cut)
    try:
        return create_engine(url, pool_size=MAX_CONNECTIONS, max_overflow=0, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise EnvironmentUnfit(
            f"store.url: PostgreSQL needs the package {error.name}; install it with `pip install 'psycopg[binary]'`"
        ) from error


def _sqlite_engine(url: URL, *, must_exist: bool, survive_power_cut: bool) -> Engine:
    path = Path(str(url.database))
    if must_exist and not path.is_file():
        raise StoreUnavailable(f"store.url: there is no database {path}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentUnfit(f"store.url: the folder {path.parent} cannot be made: {error.strerror}") from error
    engine = create_engine(url, pool_size=MAX_CONNECTIONS, max_overflow=0)
    pragmas = {
        "page_size": PAGE_BYTES,
        "journal_mode": "WAL",
        "synchronous": "FULL" if survive_power_cut else "NORMAL",
        "busy_timeout": BUSY_MILLISECONDS,
        "foreign_keys": "ON",
        "wal_autocheckpoint": CHECKPOINT_PAGES,
        "cache_size": -16_000,
    }

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: sqlite3.Connection, _record: Any) -> None:
        # The driver must not begin transactions of its own accord: begin_transaction below does.
        connection.isolation_level = None
        for name, value in pragmas.items():
            connection.execute(f"PRAGMA {name} = {value}")

    event.listen(engine, "begin", _begin_transaction)
    return engine


def _begin_transaction(connection: Connection) -> None:
    # A writer takes its lock at once: one that reads first and then wants to write may find that it cannot.
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
