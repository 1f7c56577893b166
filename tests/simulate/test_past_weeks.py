"""Arrivals of past weeks on the days of UTC."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from doseflow.simulate.czech_city import czech_city
from doseflow.simulate.czech_days import CzechDays
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.past_weeks import arrivals_of_day, doses_past_weeks, past_weeks_arrivals
from doseflow.simulate.synthetic_city import SyntheticDays

UNTIL = date(2021, 5, 20)
ZONES = ["Europe/Prague", "Asia/Shanghai", "America/New_York", "UTC", "Pacific/Auckland"]


@pytest.mark.parametrize("timezone", ZONES)
def test_people_come_in_the_hours_of_their_own_clock(small_city, timezone):
    city = replace(small_city, timezone=timezone)
    days = SyntheticDays(city)
    by_day = {on: people for on, _, people in past_weeks_arrivals(city, days, np.random.default_rng(1), UNTIL)}
    hours = np.zeros(24)
    for on, people in by_day.items():
        start = datetime(on.year, on.month, on.day, tzinfo=ZoneInfo("UTC"))
        for period in np.flatnonzero(np.nansum(people, axis=0) > 0):
            local = (start + timedelta(minutes=5 * int(period))).astimezone(ZoneInfo(timezone))
            hours[local.hour] += np.nansum(people[:, period])
    rng = np.random.default_rng(1)
    told_by_local_clock = sum(
        arrivals_of_day(city, days, UNTIL - timedelta(days=ago), rng, SimulationParams()).sum(axis=0)
        for ago in range(28, 0, -1)
    )
    assert hours.tolist() == told_by_local_clock.reshape(24, 12).sum(axis=1).tolist()
    assert hours[8:15].min() > 0


@pytest.mark.parametrize("timezone", ZONES)
def test_four_weeks_are_told_without_a_gap_and_every_person_once(small_city, timezone):
    city = replace(small_city, timezone=timezone)
    days, rng = SyntheticDays(city), np.random.default_rng(1)
    told = list(past_weeks_arrivals(city, days, rng, UNTIL))
    assert len({on for on, _, _ in told}) == len(told)
    series = np.concatenate([people for _, _, people in sorted(told, key=lambda one: one[0])], axis=1)
    known = np.flatnonzero(~np.isnan(series[0]))
    assert len(known) == 28 * 288
    assert (np.diff(known) == 1).all()
    rng = np.random.default_rng(1)
    expected = [
        arrivals_of_day(city, days, UNTIL - timedelta(days=ago), rng, SimulationParams()) for ago in range(28, 0, -1)
    ]
    assert np.array_equal(series[:, known], np.concatenate(expected, axis=1))


def test_past_days_of_the_real_city_have_the_volume_of_their_bookings():
    city, days = czech_city(), CzechDays()
    people = arrivals_of_day(city, days, date(2021, 5, 13), np.random.default_rng(1), SimulationParams())
    booked = days.on(date(2021, 5, 13)).booked_people.sum()
    assert people.sum() == pytest.approx(booked * 0.98 / 0.92, rel=0.03)


def test_weeks_before_the_first_packaged_day_are_unknown_and_not_zero():
    doses = doses_past_weeks(czech_city(), CzechDays(), np.random.default_rng(1), date(2021, 1, 29), SimulationParams())
    assert doses.shape == (200, 4, 288)
    assert not np.isnan(doses[:, :2]).any()
    assert np.isnan(doses[:, 2:]).all()
    told = list(past_weeks_arrivals(czech_city(), CzechDays(), np.random.default_rng(1), date(2021, 1, 29)))
    assert min(on for on, _, _ in told) >= date(2021, 1, 14)
