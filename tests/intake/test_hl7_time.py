from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from doseflow.intake.hl7_time import day_of, moment_of, zone_of

PRAGUE = ZoneInfo("Europe/Prague")


@pytest.mark.parametrize(
    ("stamp", "utc"),
    [
        ("20260504093000", "2026-05-04T07:30:00"),
        ("202601040930", "2026-01-04T08:30:00"),
        ("20260504093000.1234", "2026-05-04T07:30:00.123400"),
        ("20260504093000+0215", "2026-05-04T07:15:00"),
        ("202605040930-0500", "2026-05-04T14:30:00"),
        ("202605040930+0000", "2026-05-04T09:30:00"),
        # The hour that comes twice is the first one, the hour that never comes the one after the jump.
        ("202610250230", "2026-10-25T00:30:00"),
        ("202603290230", "2026-03-29T01:30:00"),
    ],
)
def test_a_stamp_without_an_offset_is_local_time_of_the_city(stamp: str, utc: str) -> None:
    moment = moment_of(stamp, PRAGUE)
    assert moment is not None
    assert moment.astimezone(UTC) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "2026",
        "20260504",
        "2026050409",
        "20261304093000",
        "20260504256000",
        "x",
        "000001010000",
        "99991231235959-1200",
    ],
)
def test_what_is_no_moment_to_the_minute_is_none(stamp: str) -> None:
    assert moment_of(stamp, PRAGUE) is None


def test_the_offset_of_the_header_counts_for_the_whole_message() -> None:
    moment = moment_of("202605040930", zone_of("20260504080000-0500", PRAGUE))
    assert moment is not None
    assert moment.astimezone(UTC) == datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
    assert zone_of("20260504080000", PRAGUE) is PRAGUE


def test_a_day_is_read_off_any_longer_stamp() -> None:
    assert str(day_of("20150624084727.655-0500")) == "2015-06-24"
    assert day_of("20151324") is None
