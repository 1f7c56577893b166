"""INSERT of what is not there yet, in the words of either database."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.base import ReadOnlyColumnCollection

UpsertInsert = sqlite.Insert | postgresql.Insert


def insert_new(connection: Connection, table: Table) -> UpsertInsert:
    """INSERT that leaves out rows which a key of the table already has."""
    return _insert_new(connection.dialect.name, table)


def insert_or_replace(connection: Connection, table: Table, replaced: str) -> UpsertInsert:
    """INSERT that gives the column `replaced` its new value where the row's primary key is there already."""
    statement = _insert(connection.dialect.name, table)
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns), set_={replaced: statement.excluded[replaced]}
    )


def upsert_insert(connection: Connection, table: Table) -> UpsertInsert:
    """INSERT to which the caller adds what happens where the row is there already."""
    return _insert(connection.dialect.name, table)


def insert_or_change(
    connection: Connection, table: Table, changes: Callable[[ReadOnlyColumnCollection[str, Any]], dict[str, Any]]
) -> UpsertInsert:
    """INSERT that changes the row whose primary key is there already; `changes` makes its values from the new ones."""
    statement = _insert(connection.dialect.name, table)
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns), set_=changes(statement.excluded)
    )


@lru_cache
def _insert_new(dialect: str, table: Table) -> UpsertInsert:
    return _insert(dialect, table).on_conflict_do_nothing()


def _insert(dialect: str, table: Table) -> UpsertInsert:
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
