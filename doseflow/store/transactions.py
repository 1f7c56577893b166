"""The boundary to the driver: transactions that read or write, and one kind of error out of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from doseflow.errors import StoreUnavailable

WRITES = "doseflow_writes"
"""Execution option of connections whose transactions write."""


class Transactions:
    """
    Opens transactions on one engine; thread-safe.

    Writers of this process queue here on SQLite, where only one may write: its own way of waiting costs milliseconds.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self._queue = threading.Lock() if engine.dialect.name == "sqlite" else nullcontext()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that reads one consistent picture."""
        with _driver_errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes: all of it is kept when the block ends, or none."""
        with _driver_errors(), self._queue, self._writer.begin() as connection:
            yield connection


@contextmanager
def _driver_errors() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise StoreUnavailable(f"the database does not answer: {first_line(error.orig)}") from error
    except SQLAlchemyError as error:
        raise StoreUnavailable(f"the database does not answer: {first_line(error)}") from error


def first_line(error: BaseException | None) -> str:
    """The first line of what an error says: drivers append the statement with all its parameters."""
    return str(error).partition("\n")[0]
