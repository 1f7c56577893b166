"""An empty store on each of the databases that doseflow runs on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests

from postgres_server import NoPostgres, postgres_server
from store_samples import CITY

from doseflow.store.engine import Store, open_store


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    try:
        with postgres_server() as url:
            yield url
    except NoPostgres as reason:
        pytest.skip(f"THE STORE IS NOT TESTED ON POSTGRESQL HERE: {reason}")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url)
    opened.plans.save_city(CITY)
    yield opened
    opened.close()
