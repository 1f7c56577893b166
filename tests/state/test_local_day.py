from dataclasses import replace
from datetime import UTC, date, datetime, time

import pytest
from state_samples import make_city, make_site

from doseflow.state.holidays_calendar import is_holiday
from doseflow.state.opening_hours import local_day


def city_with_hours(opens: time, closes: time, **changes):
    sites = (replace(make_site("alpha"), opens_at=opens, closes_at=closes), make_site("beta"), make_site("gamma"))
    return make_city(sites=sites, **changes)


def at(hour: int, minute: int = 0, day: int = 4) -> datetime:
    return datetime(2026, 5, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "is_open", "minutes_left"),
    [
        (at(5, 59), False, 0),
        (at(6, 0), True, 600),
        (at(15, 59), True, 1),
        (at(16, 0), False, 0),
    ],
)
def test_hours_are_those_of_the_citys_clock(moment, is_open, minutes_left):
    day = local_day(city_with_hours(time(8), time(18)), moment)
    assert (day.is_open[0], day.open_minutes_left[0]) == (is_open, minutes_left)


def test_a_site_may_stay_open_past_midnight():
    city = city_with_hours(time(20), time(2))
    assert local_day(city, at(19)).open_minutes_left[0] == 5 * 60
    assert local_day(city, at(23, 30)).open_minutes_left[0] == 30
    assert not local_day(city, at(1)).is_open[0]


def test_a_site_that_closes_when_it_opens_never_closes():
    city = city_with_hours(time(0), time(0))
    assert local_day(city, at(22)).open_minutes_left[0] == 24 * 60
    assert local_day(city, at(21, 59)).open_minutes_left[0] == 1


def test_the_day_is_the_citys_day_not_the_utc_one():
    city = city_with_hours(time(8), time(18), timezone="Asia/Shanghai", country="CN")
    assert local_day(city, at(17)).weekday == 1


@pytest.mark.parametrize(
    ("country", "day_on", "expected"),
    [
        ("CZ", date(2021, 5, 8), True),
        ("CZ", date(2021, 5, 10), False),
        ("CN", date(2026, 10, 1), True),
        ("CN", date(2026, 10, 10), False),
        ("CN", date(2026, 6, 3), False),
        ("CN", date(2090, 10, 1), True),
        ("CN", date(2090, 6, 7), None),
        ("XX", date(2026, 1, 1), None),
    ],
)
def test_holidays_are_those_published_and_unknown_before_the_decree(country, day_on, expected):
    assert is_holiday(country, day_on) is expected


def test_a_city_knows_better_than_the_calendar():
    assert is_holiday("CN", date(2090, 6, 7), {date(2090, 6, 7): False}) is False
    assert is_holiday("CZ", date(2021, 5, 10), {date(2021, 5, 10): True}) is True
    city = city_with_hours(time(8), time(18), holiday_overrides={date(2026, 5, 4): True})
    assert local_day(city, at(10)).is_holiday is True
    assert local_day(city, at(10, day=5)).is_holiday is False
