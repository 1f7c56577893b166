from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

from doseflow.store.columns import Moment, storable

SQLITE = sqlite.dialect()
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1), timezones=OFFSETS)


def kept(moment: datetime) -> str:
    text = Moment().process_bind_param(moment, SQLITE)
    assert isinstance(text, str)
    return text


@given(MOMENTS, MOMENTS)
def test_kept_moments_come_back_and_sort_as_they_do(one: datetime, other: datetime) -> None:
    assert Moment().process_result_value(kept(one), SQLITE) == one
    assert Moment().process_result_value(kept(one), SQLITE).utcoffset() == timedelta(0)
    assert (kept(one) < kept(other)) == (one < other)


def test_a_moment_without_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="must have an offset from UTC"):
        Moment().process_bind_param(datetime(2026, 3, 2), SQLITE)


def test_postgresql_keeps_moments_as_moments() -> None:
    moment = datetime(2026, 3, 2, 10, tzinfo=timezone(timedelta(hours=1)))
    assert Moment().process_bind_param(moment, postgresql.dialect()) == moment
    assert Moment().process_result_value(moment, postgresql.dialect()).tzinfo is UTC
    assert Moment().process_bind_param(None, SQLITE) is None


@given(st.text(st.characters(codec=None), max_size=30))
def test_any_text_becomes_one_that_a_database_keeps(text: str) -> None:
    cleaned = storable(text)
    assert "\x00" not in cleaned
    cleaned.encode("utf-8")
    if text.isprintable():
        assert cleaned == text
