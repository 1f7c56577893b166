"""Where inside a day people come."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.simulate.day_profile import (
    BOOKED_TENTHS,
    WALK_IN_TENTHS,
    SiteHabits,
    draw_coming,
    draw_walk_ins,
    expected_arrivals,
    hours_of,
    period_weights,
    site_habits,
    spread_bookings,
    walk_ins_per_minute,
)
from doseflow.simulate.parameters import SimulationParams


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


def test_walk_ins_are_a_poisson_stream_of_the_rates():
    rates = np.tile([0.0, 0.4, 2.0, 9.0], (300, 72))
    people = draw_walk_ins(np.random.default_rng(1), rates).reshape(300, 288, 5)
    for column, rate in enumerate((0.0, 0.4, 2.0, 9.0)):
        minutes = people[:, column::4]
        assert minutes.mean() == pytest.approx(rate, rel=0.01)
        assert minutes.var() == pytest.approx(rate, rel=0.02)
        for count in (0, 1, 3):
            chance = np.exp(-rate) * rate**count / math.factorial(count)
            assert (minutes == count).mean() == pytest.approx(chance, abs=0.004)


def test_more_walk_ins_at_one_site_are_only_added_there():
    rates = np.full((5, 288), 0.7)
    more = rates.copy()
    more[2, 100:120] *= 3
    few, many = (draw_walk_ins(np.random.default_rng(3), one) for one in (rates, more))
    changed = few != many
    assert changed[2, 500:600].any()
    assert (many >= few).all()
    changed[2, 500:600] = False
    assert not changed.any()


def test_who_comes_and_when_does_not_depend_on_the_habits_of_others():
    slots = np.full((3, 288), 2)
    usual, odd = habits_of(3), replace(habits_of(3), stays_away_share=np.array([0.0, 0.5, 0.0]))
    first, second = (draw_coming(np.random.default_rng(1), slots, one, SimulationParams()) for one in (usual, odd))
    assert np.array_equal(first[[0, 2]], second[[0, 2]])
    assert second[1].sum() == pytest.approx(first[1].sum() / 2, rel=0.1)
    assert (second[1] <= first[1]).all()


def test_people_who_come_earlier_are_the_same_people_earlier():
    slots = np.zeros((1, 288), dtype=np.int64)
    slots[0, 100:120] = 7
    usual = draw_coming(np.random.default_rng(1), slots, habits_of(1), SimulationParams())
    early = replace(habits_of(1), earlier_minutes=np.array([30.0]))
    earlier = draw_coming(np.random.default_rng(1), slots, early, SimulationParams())
    assert np.array_equal(earlier[:, :-30], usual[:, 30:])


def test_expected_arrivals_are_the_mean_of_what_is_drawn(small_city):
    habits = habits_of(small_city.num_sites, no_show=0.1, walk_ins=0.2)
    booked = spread_bookings(period_weights(small_city, BOOKED_TENTHS), np.full(small_city.num_sites, 300))
    rates = walk_ins_per_minute(period_weights(small_city, WALK_IN_TENTHS), booked.sum(axis=1), habits)
    expected = expected_arrivals(booked, np.zeros_like(booked), rates, habits, SimulationParams(), 300.0)
    assert expected.sum() == pytest.approx(small_city.num_sites * 300 * 0.9 / 0.8)
    rng = np.random.default_rng(1)
    drawn = [draw_coming(rng, booked, habits, SimulationParams()) + draw_walk_ins(rng, rates) for _ in range(40)]
    hourly = np.mean(drawn, axis=0).sum(axis=0).reshape(24, 60).sum(axis=1)
    assert hourly == pytest.approx(expected.sum(axis=0).reshape(24, 12).sum(axis=1), abs=0.05 * hourly.max())


def test_a_free_slot_counts_by_the_chance_that_it_is_booked_before_its_time():
    free = np.zeros((1, 288))
    free[0, 120] = 10
    nobody = np.zeros((1, 288))
    expected = expected_arrivals(nobody, free, nobody, habits_of(1), SimulationParams(), 420.0)
    # 180 minutes ahead at a mean time of 180 minutes until it is booked.
    assert expected.sum() == pytest.approx(10 * (1 - math.exp(-1)))
