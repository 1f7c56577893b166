"""What a day asks of the people on its roster: expected work over capacity, by role."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.day_profile import expected_arrivals, hours_of
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.scenario_roster import load_shares, person_minutes, work_minutes
from doseflow.simulate.staffing import shift_table


def overloaded_site_share(city: City, day: DayPlan, params: SimulationParams) -> float:
    """
    Share of open sites at which some role has more expected work than its rostered people can do in the hours.

    Small sites need their minimum team whether or not it is busy, so a city below full load has sites above it.
    """
    work, minutes = _work_and_minutes(city, day, params)
    capacity = (day.rostered_people * minutes[:, None, :]).sum(axis=-1)
    is_open = work.sum(axis=(1, 2)) > 0
    is_over = (work.sum(axis=-1) > capacity).any(axis=-1)
    return float(is_over[is_open].mean())


def offered_load(city: City, day: DayPlan, params: SimulationParams) -> FloatArray:
    """
    Expected work over the capacity of the people who are there, by role, (R,), over the opening hours of the city.

    Incidents count: extra people are work, absent people and closed hours are no capacity. Above 1 the day cannot be
    served in its opening hours, wherever people are sent.
    """
    work, minutes = _work_and_minutes(city, day, params)
    return load_shares(work, day.rostered_people, minutes)


def _work_and_minutes(city: City, day: DayPlan, params: SimulationParams) -> tuple[FloatArray, FloatArray]:
    """Minutes of work, (S, R, H), and of a person's shift, (S, H)."""
    shifts = shift_table(city, params)
    arrivals = expected_arrivals(
        day.booked_people, day.free_slots, day.walk_ins_per_minute, day.habits, params, day.first_minute
    )
    work = work_minutes(city, arrivals, shifts)
    opens, closes = np.array([hours_of(site) for site in city.sites]).T
    closed_from = np.clip(day.closed_from - day.midnight, opens, closes)
    closed_until = np.clip(day.closed_until - day.midnight, opens, closes)
    open_share = 1 - (closed_until - closed_from) / (closes - opens)
    minutes: FloatArray = person_minutes(city, shifts, params) * open_share[:, None]
    return work, minutes
