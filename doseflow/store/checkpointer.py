"""Moves what SQLite's write-ahead log holds into the database file, when nobody waits for the disk."""

from __future__ import annotations

import sqlite3
import threading

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from doseflow.store.transactions import first_line

WAKE_BYTES = 8 * 2**20
"""Reports after which a checkpoint is due: an eighth of the log at which SQLite would make one inside a commit."""

log = structlog.get_logger(__name__)


class Checkpointer:
    """
    A thread that checkpoints after each cycle, when the city waits for its next reports, and whenever many have come.

    SQLite itself checkpoints inside the commit that fills its log, which then takes tens of milliseconds (it syncs the
    disk twice). A passive checkpoint on another connection stops no writer, but shares the disk with it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cycle_kept = threading.Event()
        self._stop = threading.Event()
        self._bytes_since = 0
        self._thread = threading.Thread(target=self._run, name="store-checkpointer", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """A cycle was kept."""
        self._cycle_kept.set()

    def written(self, num_bytes: int) -> None:
        """So many bytes of reports were kept: wakes when they are many. No lock: a miscount costs nothing."""
        self._bytes_since += num_bytes
        if self._bytes_since >= WAKE_BYTES:
            self._bytes_since = 0
            self._cycle_kept.set()

    def close(self) -> None:
        """Stop, after the checkpoint that may be running."""
        self._stop.set()
        self._cycle_kept.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._cycle_kept.wait()
            if self._stop.is_set():
                return
            self._cycle_kept.clear()
            self._checkpoint()

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
