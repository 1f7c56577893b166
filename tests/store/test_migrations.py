from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text

from doseflow.store.engine import open_store
from doseflow.store.migrate import SCRIPTS
from doseflow.store.tables import metadata


def engine_of(tmp_path: Path) -> Engine:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    open_store(url).close()
    return create_engine(url)


def config() -> Config:
    made = Config()
    made.set_main_option("script_location", str(SCRIPTS))
    return made


def indexes(engine: Engine) -> dict[str, str]:
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
        return {row.name: " ".join(row.sql.split()) for row in rows}


def test_the_migrations_make_the_indexes_of_the_tables_with_their_conditions(tmp_path: Path) -> None:
    from_tables = create_engine("sqlite://")
    metadata.create_all(from_tables)
    assert indexes(engine_of(tmp_path)) == indexes(from_tables)


def test_there_is_one_newest_schema_and_every_step_can_be_gone_back(tmp_path: Path) -> None:
    assert len(ScriptDirectory.from_config(config()).get_heads()) == 1
    with engine_of(tmp_path).begin() as connection:
        going = config()
        going.attributes["connection"] = connection
        command.downgrade(going, "base")
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
        command.upgrade(going, "head")
        assert set(inspect(connection).get_table_names()) == {"alembic_version", *metadata.tables}


def test_processes_that_open_a_new_database_at_once_make_it_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: open_store(url), range(4)))
    for store in stores:
        assert store.reports.pending() == []
        store.close()
