"""What a day asks of the people on its roster: expected work over capacity, by role."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.day_profile import expected_arrivals, hours_of
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.scenario_roster import load_shares, person_minutes, work_minutes
from doseflow.simulate.staffing import shift_table


def offered_load(city: City, day: DayPlan, params: SimulationParams) -> FloatArray:
    """
    Expected work over the capacity of the people who are there, by role, (R,), over the opening hours of the city.

    Incidents count: extra people are work, absent people and closed hours are no capacity. Above 1 the day cannot be
    served in its opening hours, wherever people are sent.
    """
    shifts = shift_table(city, params)
    arrivals = expected_arrivals(
        day.booked_people, day.free_slots, day.walk_ins_per_minute, day.habits, params, day.first_minute
    )
    work = work_minutes(city, arrivals, shifts)
    opens, closes = np.array([hours_of(site) for site in city.sites]).T
    closed_from = np.clip(day.closed_from - day.midnight, opens, closes)
    closed_until = np.clip(day.closed_until - day.midnight, opens, closes)
    open_share = 1 - (closed_until - closed_from) / (closes - opens)
    minutes = person_minutes(city, shifts, params) * open_share[:, None]
    return load_shares(work, day.rostered_people, minutes)
