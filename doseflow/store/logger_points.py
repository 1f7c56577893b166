"""SqlLoggerPoints: temperatures of cold-chain loggers, each point once, for as long as excursions are added up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select

from doseflow.ports import LoggerPoint
from doseflow.store.columns import storable
from doseflow.store.insert_new import insert_or_change
from doseflow.store.tables import logger_points as table
from doseflow.store.transactions import Transactions

MAX_ID = 100
"""Characters of a logger's id; the rest is cut."""


class SqlLoggerPoints:
    """The points on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def keep(self, points: Sequence[LoggerPoint]) -> None:
        """Keep points in one transaction; one that is there already only gains a temperature that it had not."""
        if not points:
            return
        rows = [
            {"logger_id": _key(one.logger_id), "at": one.at, "temperature_celsius": one.temperature_celsius}
            for one in points
        ]
        with self._transactions.write() as connection:
            statement = insert_or_change(
                connection,
                table,
                lambda new: {
                    "temperature_celsius": func.coalesce(table.c.temperature_celsius, new["temperature_celsius"])
                },
            )
            connection.execute(statement, rows)

    def of(self, logger_id: str, start: datetime, end: datetime) -> list[LoggerPoint]:
        """Points of a logger from `start` to `end`, both included, oldest first."""
        statement = (
            select(table.c.at, table.c.temperature_celsius)
            .where(table.c.logger_id == _key(logger_id), table.c.at >= start, table.c.at <= end)
            .order_by(table.c.at)
        )
        with self._transactions.read() as connection:
            return [LoggerPoint(logger_id, row.at, row.temperature_celsius) for row in connection.execute(statement)]

    def forget_before(self, logger_ids: Sequence[str], moment: datetime) -> int:
        """Let go of points of some loggers before a moment; how many."""
        keys = [_key(one) for one in logger_ids]
        with self._transactions.write() as connection:
            return connection.execute(delete(table).where(table.c.logger_id.in_(keys), table.c.at < moment)).rowcount


def _key(logger_id: str) -> str:
    return storable(logger_id)[:MAX_ID]
