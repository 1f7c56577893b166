"""Shifts, rosters, breaks."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import pairwise

import numpy as np
import pytest

from doseflow.domain.roles import ROLES, Role
from doseflow.simulate.breaks import breaks_started
from doseflow.simulate.city_choice import days_of
from doseflow.simulate.czech_city import czech_city
from doseflow.simulate.day_profile import hours_of
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.staffing import QUALIFIED, rostered_people, shift_table

PARAMS = SimulationParams()


def roster(params: SimulationParams, seed: int = 1):
    city = czech_city()
    days, shifts = days_of(city), shift_table(city, params)
    today, last_week = days.on(date(2021, 5, 20)), days.on(date(2021, 5, 13))
    return city, today, shifts, rostered_people(city, today, last_week, shifts, params, np.random.default_rng(seed))


def test_the_shifts_of_a_site_cover_its_hours_and_the_overtime():
    city = czech_city()
    shifts = shift_table(city, PARAMS)
    for site, has in zip(city.sites, shifts.at_site, strict=True):
        opens, closes = hours_of(site)
        minutes = np.arange(opens, closes + PARAMS.overtime_minutes)
        covered = (shifts.starts_minutes[has, None] <= minutes) & (minutes < shifts.ends_minutes[has, None])
        assert covered.any(axis=0).all()


def test_a_city_is_staffed_at_the_planned_utilisation_and_its_sites_are_not():
    exact = replace(PARAMS, absent_share=0.0, staffing_mismatch_sd=0.0, roster_knows_share=1.0)
    city, today, _, people = roster(exact)
    vaccinators = people[:, 2, :].max(axis=1)
    open_minutes = np.array([closes - opens for opens, closes in map(hours_of, city.sites)])
    busy = today.booked_people * city.service_minutes[2] / open_minutes
    large = today.booked_people > 300
    assert busy[large].sum() / vaccinators[large].sum() == pytest.approx(PARAMS.planned_utilisation_share, abs=0.03)
    _, _, _, mismatched = roster(PARAMS)
    share = busy[large] / np.maximum(mismatched[:, 2, :].max(axis=1)[large], 1)
    assert share.std() > 0.1


def test_a_site_without_bookings_has_nobody_and_any_other_its_minimum_team():
    city, today, shifts, people = roster(replace(PARAMS, absent_share=0.0))
    closed = today.booked_people == 0
    assert closed.any()
    assert people[closed].sum() == 0
    team = np.where(shifts.at_site[~closed][:, None, :], people[~closed], city.minimum_team_people[~closed][:, :, None])
    assert (team >= city.minimum_team_people[~closed][:, :, None]).all()


def test_everybody_may_fill_the_role_they_have():
    assert QUALIFIED.diagonal().all()
    assert not QUALIFIED[ROLES.index(Role.REGISTRAR), ROLES.index(Role.VACCINATOR)]


def test_everybody_in_a_long_shift_has_one_break_and_nobody_in_a_short_one():
    people = np.array([[[7, 7], [1, 1], [0, 0], [40, 40]]])
    starts, ends = np.array([0.0, 0.0]), np.array([540.0, 300.0])
    begun = [breaks_started(people, minute, starts, ends, PARAMS) for minute in range(541)]
    assert begun[0].sum() == 0
    assert begun[-1][..., 0].tolist() == people[..., 0].tolist()
    assert begun[-1][..., 1].sum() == 0
    assert all((later >= earlier).all() for earlier, later in pairwise(begun))


def test_breaks_are_spread_so_that_few_are_away_at_once():
    people = np.array([[[40]]])
    starts, ends = np.array([0.0]), np.array([540.0])
    away = [
        int(
            (
                breaks_started(people, m, starts, ends, PARAMS) - breaks_started(people, m - 30, starts, ends, PARAMS)
            ).sum()
        )
        for m in range(541)
    ]
    assert max(away) <= 11
    assert sum(away) == 40 * 30
