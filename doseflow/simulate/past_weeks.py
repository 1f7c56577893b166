"""
What the weeks before looked like: arrivals and doses of past days, drawn from their real bookings by today's profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.report import PAST_WEEKS
from doseflow.errors import CityWrong
from doseflow.simulate.city_days import Days
from doseflow.simulate.day_plan import local_midnight
from doseflow.simulate.day_profile import (
    BOOKED_TENTHS,
    DAY_MINUTES,
    DAY_PERIODS,
    WALK_IN_TENTHS,
    draw_coming,
    period_weights,
    site_habits,
    spread_bookings,
    walk_ins_per_minute,
)
from doseflow.simulate.parameters import SimulationParams
from doseflow.units import PERIOD_MINUTES

DAYS_BACK = 7 * PAST_WEEKS
VISIT_PERIODS = 4
"""Periods from the door to the needle by which doses follow arrivals in past weeks."""


def past_weeks_arrivals(
    city: City, days: Days, rng: np.random.Generator, until: date, params: SimulationParams | None = None
) -> Iterator[tuple[date, tuple[str, ...], FloatArray]]:
    """
    Arrivals of the four weeks before a local day.

    Yields
    ------
    A UTC day, the site ids, and people by five-minute period of that UTC day, (S, 288), NaN where no local day reaches.
    Days of which nothing is known are left out.
    """
    params = params or SimulationParams()
    site_ids = tuple(site.site_id for site in city.sites)
    by_utc_day: dict[date, FloatArray] = {}
    for days_ago in range(DAYS_BACK, 0, -1):
        day_on = until - timedelta(days=days_ago)
        people = arrivals_of_day(city, days, day_on, rng, params)
        if people is None:
            continue
        first = round(local_midnight(city, day_on) / PERIOD_MINUTES)
        for utc_day, utc_periods, local_periods in _utc_parts(first):
            filled = by_utc_day.setdefault(utc_day, np.full((city.num_sites, DAY_PERIODS), np.nan))
            filled[:, utc_periods] = people[:, local_periods]
        # A UTC day is complete once the local day that ends in it has been drawn.
        for complete_on in [on for on in by_utc_day if on < _utc_parts(first)[-1][0]]:
            yield complete_on, site_ids, by_utc_day.pop(complete_on)
    for left_on, filled in by_utc_day.items():
        yield left_on, site_ids, filled


def doses_past_weeks(
    city: City, days: Days, rng: np.random.Generator, day_on: date, params: SimulationParams
) -> FloatArray:
    """
    Doses by period of the local day on the same weekday of past weeks, the last week first, (S, W, 288); NaN unknown.
    """
    weeks = []
    for weeks_ago in range(1, PAST_WEEKS + 1):
        people = arrivals_of_day(city, days, day_on - timedelta(weeks=weeks_ago), rng, params)
        if people is None:
            people = np.full((city.num_sites, DAY_PERIODS), np.nan)
        weeks.append(np.roll(people, VISIT_PERIODS, axis=-1))
    return np.stack(weeks, axis=1)


def arrivals_of_day(
    city: City, days: Days, day_on: date, rng: np.random.Generator, params: SimulationParams
) -> FloatArray | None:
    """People who came by period of a local day, (S, 288); None where the city has no such day."""
    try:
        day = days.on(day_on)
    except CityWrong:
        return None
    habits = site_habits(city, params)
    slots = spread_bookings(period_weights(city, BOOKED_TENTHS), day.booked_people)
    coming = draw_coming(rng, slots, habits, params)
    booked = coming.reshape(city.num_sites, DAY_PERIODS, DAY_MINUTES // DAY_PERIODS).sum(axis=-1)
    rates = walk_ins_per_minute(period_weights(city, WALK_IN_TENTHS), day.booked_people, habits)
    came: FloatArray = (booked + rng.poisson(rates * PERIOD_MINUTES)).astype(np.float64)
    return came


def _utc_parts(first_period: int) -> list[tuple[date, slice, slice]]:
    """The UTC days that a local day touches, with its periods in both counts; `first_period` counts from 1970."""
    parts, done = [], 0
    while done < DAY_PERIODS:
        day, start = divmod(first_period + done, DAY_PERIODS)
        length = min(DAY_PERIODS - start, DAY_PERIODS - done)
        utc_day = datetime.fromtimestamp(day * DAY_MINUTES * 60, tz=UTC).date()
        parts.append((utc_day, slice(start, start + length), slice(done, done + length)))
        done += length
    return parts
