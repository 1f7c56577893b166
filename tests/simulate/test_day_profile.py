"""Where inside a day people come."""

from __future__ import annotations

import csv
import gzip
import os
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.simulate.day_profile import (
    BOOKED_TENTHS,
    WALK_IN_TENTHS,
    SiteHabits,
    draw_coming,
    hours_of,
    period_weights,
    site_habits,
    spread_bookings,
    walk_ins_per_minute,
)
from doseflow.simulate.parameters import SimulationParams

CALLS = Path(
    os.environ.get(
        "CALL_CENTRE_SERIES",
        Path(__file__).parents[3] / "shared" / "data" / "call_centre" / "calls_5min_until_2003-08.csv.gz",
    )
)


def habits_of(num_sites: int, no_show: float = 0.0, walk_ins: float = 0.0, early: float = 18.2) -> SiteHabits:
    return SiteHabits(np.full(num_sites, no_show), np.full(num_sites, early), np.full(num_sites, walk_ins))


@pytest.mark.parametrize("tenths", [BOOKED_TENTHS, WALK_IN_TENTHS])
def test_a_profile_is_a_whole_day_inside_the_opening_hours(small_city, tenths):
    assert sum(tenths) == pytest.approx(1)
    weights = period_weights(small_city, tenths)
    assert weights.sum(axis=1) == pytest.approx(np.ones(small_city.num_sites))
    for row, site in zip(weights, small_city.sites, strict=True):
        opens, closes = hours_of(site)
        period_starts = np.arange(288) * 5
        assert (row[(period_starts < opens) | (period_starts >= closes)] == 0).all()


def test_hours_that_cross_midnight_are_cut_there(small_city):
    assert hours_of(replace(small_city.sites[0], opens_at=time(20), closes_at=time(2))) == (1200, 1440)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5000), min_size=12, max_size=12))
def test_bookings_of_a_day_are_spread_without_losing_one(booked_weights, booked):
    weights = booked_weights
    slots = spread_bookings(weights, np.array(booked))
    assert slots.sum(axis=1).tolist() == booked
    assert (slots >= 0).all()
    # No slot strays by a whole person from its share.
    assert (
        np.abs(np.cumsum(slots, axis=1) - np.cumsum(weights, axis=1) * np.array(booked)[:, None]) <= 0.5 + 1e-6
    ).all()


@pytest.fixture(scope="module")
def booked_weights(small_city):
    return period_weights(small_city, BOOKED_TENTHS)


def test_punctuality_is_what_was_measured_in_winterthur():
    # 41 % come 20 minutes early or more, under 1 % (here: about 1 %) come late.
    slots = np.zeros((1, 288), dtype=np.int64)
    slots[0, 144] = 200_000
    coming = draw_coming(np.random.default_rng(1), slots, habits_of(1), SimulationParams())
    early_minutes = 720 - np.repeat(np.arange(1440), coming[0])
    assert (early_minutes >= 20).mean() == pytest.approx(0.41, abs=0.03)
    assert (early_minutes < 0).mean() == pytest.approx(0.01, abs=0.005)


def test_the_share_that_does_not_come_is_the_no_show_share():
    slots = np.full((1, 288), 1000)
    coming = draw_coming(np.random.default_rng(1), slots, habits_of(1, no_show=0.2), SimulationParams())
    assert coming.sum() / slots.sum() == pytest.approx(0.8, abs=0.005)


def test_walk_ins_are_their_share_of_those_who_come(small_city):
    booked = np.full(small_city.num_sites, 900)
    habits = habits_of(small_city.num_sites, no_show=0.1, walk_ins=0.25)
    rates = walk_ins_per_minute(period_weights(small_city, WALK_IN_TENTHS), booked, habits)
    walk_ins = rates.sum(axis=1) * 5
    assert walk_ins / (walk_ins + booked * 0.9) == pytest.approx(np.full(small_city.num_sites, 0.25))


def test_habits_belong_to_the_city_and_not_to_the_run(small_city):
    first, again = site_habits(small_city, SimulationParams()), site_habits(small_city, SimulationParams())
    assert np.array_equal(first.no_show_share, again.no_show_share)
    assert first.no_show_share.std() > 0


@pytest.mark.skipif(
    not CALLS.is_file(),
    reason=f"THE CALL-CENTRE SERIES IS NOT HERE ({CALLS}): the walk-in profile is not compared with it; "
    "set CALL_CENTRE_SERIES to its file",
)
def test_the_walk_in_profile_is_the_rounded_mean_weekday_of_the_call_centre():
    sums = defaultdict(float)
    with gzip.open(CALLS, "rt") as stream:
        for row in csv.DictReader(stream):
            moment = datetime.fromisoformat(row["DateTime"])
            sums[moment.hour * 60 + moment.minute] += float(row["Calls"])
    calls = np.array([sums[minute] for minute in range(7 * 60, 21 * 60, 5)])
    cumulative = np.concatenate(([0], np.cumsum(calls))) / calls.sum()
    tenths = np.diff(np.interp(np.linspace(0, 1, 11), np.linspace(0, 1, len(cumulative)), cumulative))
    assert np.abs(tenths - WALK_IN_TENTHS).max() < 0.006
