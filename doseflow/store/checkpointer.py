"""Moves what SQLite's write-ahead log holds into the database file, away from the transactions that wait for nobody."""

from __future__ import annotations

import sqlite3
import threading
import time

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from doseflow.store.transactions import first_line

log = structlog.get_logger(__name__)

QUIET_SECONDS = 0.1
"""A checkpoint waits until so long nothing was written: it shares the disk with whoever writes."""
PATIENCE_SECONDS = 2.0
"""Under writes without a pause it comes after so long anyway."""


class Checkpointer:
    """
    A thread that checkpoints soon after a write.

    SQLite itself checkpoints inside the commit that fills its log, which then takes tens of milliseconds (it syncs the
    disk twice). A passive checkpoint on another connection stops no writer.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._written = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-checkpointer", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something was written."""
        self._written.set()

    def close(self) -> None:
        """Stop, after the checkpoint that may be running."""
        self._stop.set()
        self._written.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._written.wait()
            self._wait_for_quiet()
            if not self._stop.is_set():
                self._checkpoint()

    def _wait_for_quiet(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._written.is_set() and time.monotonic() < deadline:
            self._written.clear()
            if self._stop.wait(QUIET_SECONDS):
                return

    def _checkpoint(self) -> None:
        try:
            # Past SQLAlchemy, which would open a transaction: no checkpoint runs inside one.
            connection = self._engine.raw_connection()
            try:
                connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                connection.close()
        except (sqlite3.Error, SQLAlchemyError) as error:
            # Nothing is lost: the log grows on, and SQLite checkpoints it at its own limit.
            log.warning("checkpoint_failed", reason=first_line(error))
