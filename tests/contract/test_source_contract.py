"""What every store promises of outside sources and of loggers' points, whatever database is under it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests

from postgres_server import NoPostgres, postgres_server

from doseflow.ports import LoggerPoint
from doseflow.store import sources
from doseflow.store.engine import Store, open_store

NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
LATER = NOW + timedelta(minutes=15)


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    try:
        with postgres_server() as url:
            yield url
    except NoPostgres as why:
        pytest.skip(str(why))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}" if request.param == "sqlite" else _fresh(request)
    opened = open_store(url)
    yield opened
    opened.close()


def _fresh(request) -> str:
    url = request.getfixturevalue("postgres_url")
    opened = open_store(url)
    with opened.sources._transactions.write() as connection:
        for table in ("sources", "unknown_codes", "unmapped_ids", "logger_points"):
            connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - names of our own
    opened.close()
    return url


def test_a_source_is_counted_and_keeps_its_last_good_and_bad_moment(store: Store) -> None:
    store.sources.mark("mqtt:loggers", NOW, True)
    store.sources.mark("mqtt:loggers", LATER, False, "the broker does not answer")
    store.sources.mark("mqtt:loggers", LATER + timedelta(minutes=1), True)
    (state,) = store.sources.states()
    assert (state.source, state.num_ok, state.num_failed) == ("mqtt:loggers", 2, 1)
    assert (state.last_ok_at, state.last_failed_at) == (LATER + timedelta(minutes=1), LATER)
    assert state.last_error == "the broker does not answer"


def test_a_code_is_kept_once_with_its_count_and_newest_words(store: Store) -> None:
    store.sources.mark("hl7:ward", NOW, True)
    store.sources.note_unknown("hl7:ward", "HL70276", "XX", "one", NOW)
    store.sources.note_unknown("hl7:ward", "HL70276", "XX", "two", LATER)
    (code,) = store.sources.states()[0].unknown_codes
    assert (code.system, code.code, code.text, code.count) == ("HL70276", "XX", "two", 2)
    assert (code.first_seen_at, code.last_seen_at) == (NOW, LATER)


def test_an_unmapped_id_is_kept_once_with_its_count(store: Store) -> None:
    store.sources.mark("cold_chain", NOW, True)
    store.sources.note_unmapped("cold_chain", ["SN-2", "SN-1"], NOW)
    store.sources.note_unmapped("cold_chain", ["SN-1"], LATER)
    ids = store.sources.states()[0].unmapped_ids
    assert [(one.outside_id, one.count) for one in ids] == [("SN-1", 2), ("SN-2", 1)]


def test_text_that_no_database_keeps_and_endless_text_is_kept_as_far_as_it_goes(store: Store) -> None:
    store.sources.mark("s\x00" * 200, NOW, False, "\ud800" * 5000)
    store.sources.note_unknown("s\x00" * 200, "a\x00", "\ud800" * 200, "b" * 5000, NOW)
    (state,) = store.sources.states()
    assert len(state.source) == sources.MAX_ID
    assert len(state.last_error) == sources.MAX_TEXT
    assert len(state.unknown_codes[0].code) == sources.MAX_ID


def test_no_more_codes_are_kept_than_the_bound_and_those_kept_go_on_counting(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(sources, "MAX_KEPT", 3)
    store.sources.mark("s", NOW, True)
    for code in ("a", "b", "c", "d", "a"):
        store.sources.note_unknown("s", "system", code, "", NOW)
    assert [(one.code, one.count) for one in store.sources.states()[0].unknown_codes] == [("a", 2), ("b", 1), ("c", 1)]


def test_points_are_known_by_logger_and_moment_and_come_back_in_order(store: Store) -> None:
    store.logger_points.keep([LoggerPoint("SN", LATER, 5.0), LoggerPoint("SN", NOW, None), LoggerPoint("XX", NOW, 9.0)])
    store.logger_points.keep([LoggerPoint("SN", LATER, 7.0), LoggerPoint("SN", NOW, 4.0)])
    assert store.logger_points.of("SN", NOW, LATER) == [LoggerPoint("SN", NOW, 4.0), LoggerPoint("SN", LATER, 5.0)]
    assert store.logger_points.of("SN", LATER, LATER) == [LoggerPoint("SN", LATER, 5.0)]


def test_points_before_a_moment_are_let_go_of_for_the_loggers_named(store: Store) -> None:
    store.logger_points.keep([LoggerPoint(name, at, 5.0) for name in ("SN", "XX") for at in (NOW, LATER)])
    assert store.logger_points.forget_before(["SN"], LATER) == 1
    assert [one.at for one in store.logger_points.of("SN", NOW, LATER)] == [LATER]
    assert len(store.logger_points.of("XX", NOW, LATER)) == 2
