"""The roster of a scenario: the stated load, whole people, square roots."""

from __future__ import annotations

from dataclasses import replace
from datetime import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.simulate.day_profile import BOOKED_TENTHS, hours_of, period_weights
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.scenario_city import scenario_day
from doseflow.simulate.scenario_file import packaged_scenario, packaged_scenarios
from doseflow.simulate.scenario_load import offered_load
from doseflow.simulate.scenario_roster import roster_for_load
from doseflow.simulate.staffing import shift_table
from doseflow.simulate.synthetic_city import synthetic_city

CITY = synthetic_city(60, seed=5)
PARAMS = SimulationParams()
SHIFTS = shift_table(CITY, PARAMS)
WORKS = np.ones(CITY.num_sites, dtype=bool)
CAPACITY = np.array([site.daily_capacity_people for site in CITY.sites], dtype=float)


def arrivals(people):
    return period_weights(CITY, BOOKED_TENTHS) * np.asarray(people)[:, None]


def sites_of_same_hours(number):
    """Sites open from 8 to 16, one shift and stations for all."""
    city = synthetic_city(number)
    sites = tuple(
        replace(site, opens_at=time(8), closes_at=time(16), stations_possible=(99, 99, 99, 99)) for site in city.sites
    )
    return replace(city, sites=sites)


def load_minute_by_minute(people, rostered):
    """Work over capacity by role: every minute of the day looked at by itself."""
    minutes = np.arange(1440) + 0.5
    capacity = np.zeros(4)
    for site, of_site in zip(CITY.sites, rostered, strict=True):
        opens, closes = hours_of(site)
        for shift, (start, end) in enumerate(zip(SHIFTS.starts_minutes, SHIFTS.ends_minutes, strict=True)):
            there = ((minutes >= max(start, opens)) & (minutes < min(end, closes))).sum()
            rest = PARAMS.break_minutes if end - start > PARAMS.break_shift_minutes else 0
            capacity += of_site[:, shift] * max(there - rest, 0) if there else 0
    service = np.array(CITY.service_minutes) / np.array([1, 1, 1, CITY.seats_per_observer])
    return sum(people) * service / (capacity * (1 - PARAMS.absent_share))


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9, 1.0])
def test_the_busiest_role_is_offered_the_stated_load(share):
    people = 0.6 * CAPACITY
    roster = roster_for_load(CITY, arrivals(people), WORKS, SHIFTS, share, PARAMS)
    by_minute = load_minute_by_minute(people, roster.people)
    assert by_minute == pytest.approx(roster.offered_load_share, rel=1e-6)
    assert by_minute.max() == pytest.approx(share, rel=0.02)


def test_every_open_site_has_its_team_and_no_more_than_its_stations():
    works = WORKS.copy()
    works[::7] = False
    people = roster_for_load(CITY, arrivals(0.6 * CAPACITY * works), works, SHIFTS, 0.9, PARAMS).people
    team, possible = CITY.minimum_team_people, np.array([site.stations_possible for site in CITY.sites])
    has = SHIFTS.at_site & works[:, None]
    assert (people[~works] == 0).all()
    for shift in range(people.shape[-1]):
        assert (people[has[:, shift], :, shift] >= team[has[:, shift]]).all()
        assert (people[~has[:, shift], :, shift] == 0).all()
        assert (people[:, :, shift] <= np.maximum(possible, team)).all()


def test_large_sites_need_less_reserve_for_their_work_so_they_are_busier():
    city = sites_of_same_hours(600)
    small, large = np.arange(600) < 300, np.arange(600) >= 300
    people = np.where(small, 200.0, 2000.0) * np.random.default_rng(1).uniform(0.7, 1.3, 600)
    shifts = shift_table(city, PARAMS)
    expected = period_weights(city, BOOKED_TENTHS) * people[:, None]
    roster = roster_for_load(city, expected, np.ones(600, dtype=bool), shifts, 0.85, PARAMS).people
    for role in range(3):
        busy, posts = people * city.service_minutes[role] / 480, roster[:, role, 0]
        reserve = [(posts - busy)[which].mean() for which in (small, large)]
        assert 0 < reserve[0] < reserve[1]
        assert busy[large].sum() / posts[large].sum() > busy[small].sum() / posts[small].sum() + 0.05


def test_a_load_that_stations_do_not_allow_is_answered_with_the_nearest():
    roster = roster_for_load(CITY, arrivals(3 * CAPACITY), WORKS, SHIFTS, 0.5, PARAMS)
    possible = np.array([site.stations_possible for site in CITY.sites])
    full = np.maximum(possible, CITY.minimum_team_people)[:, :, None] * SHIFTS.at_site[:, None, :]
    assert np.array_equal(roster.people, full)
    assert roster.offered_load_share.max() > 0.8


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1.2), min_size=60, max_size=60), st.floats(0.3, 1.5))
def test_any_day_has_a_roster(fills, share):
    people = CAPACITY * np.array(fills)
    roster = roster_for_load(CITY, arrivals(people), people > 0, SHIFTS, share, PARAMS)
    assert (roster.people >= 0).all()
    assert np.isfinite(roster.offered_load_share).all()


def test_the_same_day_needs_fewer_people_at_a_higher_load():
    sizes = [roster_for_load(CITY, arrivals(0.6 * CAPACITY), WORKS, SHIFTS, share, PARAMS) for share in (0.7, 0.8, 0.9)]
    totals = [roster.people[:, :3].sum() for roster in sizes]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] > 1.2 * totals[2]


@pytest.mark.parametrize("scenario", packaged_scenarios(), ids=lambda one: one.name)
def test_every_packaged_day_is_offered_the_load_it_states(scenario):
    calm, params = scenario.without_incidents(), scenario.simulation_params()
    seeds = range(2 if scenario.num_sites > 200 else 5)
    days = [scenario_day(calm, seed) for seed in seeds]
    loads = [offered_load(day.city, day.plan, params).max() for day in days]
    assert np.mean(loads) == pytest.approx(scenario.offered_load_share, rel=0.02)
    assert 0.7 <= scenario.offered_load_share <= 1.0


def test_incidents_change_the_load_by_what_they_bring():
    for name, expected in (("staff_absence", 1 / (1 - 0.25 * 0.3)), ("early_arrivals", 1.0)):
        scenario = packaged_scenario(name)
        params, ratios = scenario.simulation_params(), []
        for seed in range(8):
            calm, stirred = (scenario_day(one, seed) for one in (scenario.without_incidents(), scenario))
            ratios.append(
                offered_load(stirred.city, stirred.plan, params).max()
                / offered_load(calm.city, calm.plan, params).max()
            )
        assert np.mean(ratios) == pytest.approx(expected, rel=0.025)


def test_the_roster_of_every_seed_is_made_for_the_bookings_of_its_day():
    scenario = packaged_scenario("ordinary")
    days = [scenario_day(scenario, seed) for seed in range(5)]
    booked = np.array([day.plan.today.booked_people.sum() for day in days])
    people = np.array([day.plan.planned_people[:, :3].sum() for day in days])
    assert np.corrcoef(booked, people)[0, 1] > 0.9
