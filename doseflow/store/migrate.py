"""Brings a database to the newest schema, in one transaction."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from doseflow.errors import EnvironmentUnfit
from doseflow.store.transactions import Transactions

SCRIPTS = Path(__file__).parent / "migrations"
ADVISORY_LOCK = 0x646F7365
"""Key under which processes that open one PostgreSQL database at the same moment wait for each other."""


def migrate(transactions: Transactions) -> None:
    """
    Upgrade to the newest schema; a database that is there already is only read.

    Raises
    ------
    EnvironmentUnfit
        A newer doseflow has written the database.
    """
    config = _config()
    newest = ScriptDirectory.from_config(config).get_current_head()
    with transactions.read() as connection:
        if _revision(connection) == newest:
            return
    with transactions.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise EnvironmentUnfit(
                f"store.url: a newer doseflow wrote this database (schema {_revision(connection)}); update doseflow"
            ) from error


def require_newest(transactions: Transactions) -> None:
    """
    Refuse a database of another schema than this doseflow's; nothing is changed.

    Raises
    ------
    EnvironmentUnfit
    """
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    with transactions.read() as connection:
        found = _revision(connection)
    if found != newest:
        raise EnvironmentUnfit(
            f"store.url: the database has schema {found}, this doseflow {newest}; start `doseflow serve` on it once"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return config


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
