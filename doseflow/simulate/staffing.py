"""
Who is on duty: shifts, rosters sized for the planned day, qualifications, breaks. All assumed; see `parameters`.

Axes: S sites, R roles, H shifts of the city's shift table, M moves made (0, 1, 2 or more).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX, Role
from doseflow.simulate.city_days import CityDay
from doseflow.simulate.day_profile import hours_of
from doseflow.simulate.parameters import SimulationParams

BEFORE_OPENING_MINUTES = 30.0
HANDOVER_MINUTES = 15.0
LONGEST_SHIFT_MINUTES = 9 * 60.0
"""Opening hours up to this are one shift, longer ones two that overlap by a handover."""
SEATED_RESERVE = 1.4
"""Observers are planned for so many times the mean number of people seated."""

_QUALIFIED_FOR = {
    Role.REGISTRAR: (Role.REGISTRAR,),
    Role.SCREENER: (Role.SCREENER, Role.VACCINATOR, Role.OBSERVER),
    Role.VACCINATOR: (Role.VACCINATOR, Role.OBSERVER),
    Role.OBSERVER: (Role.OBSERVER, Role.REGISTRAR),
}
QUALIFIED: BoolArray = np.array([[to in _QUALIFIED_FOR[home] for to in ROLE_TO_IDX] for home in ROLE_TO_IDX])
"""Roles that somebody of each role may fill, (R, R). Assumed."""


@dataclass(frozen=True)
class ShiftTable:
    """The city's shifts: start and end in minutes since local midnight, (H,), and which sites have which, (S, H)."""

    starts_minutes: FloatArray
    ends_minutes: FloatArray
    at_site: BoolArray


def shift_table(city: City, params: SimulationParams) -> ShiftTable:
    """The shifts that the opening hours of the city's sites need."""
    pairs_of_site = [_shifts_of_hours(*hours_of(site), params) for site in city.sites]
    pairs = sorted({pair for of_site in pairs_of_site for pair in of_site})
    return ShiftTable(
        starts_minutes=np.array([start for start, _ in pairs]),
        ends_minutes=np.array([end for _, end in pairs]),
        at_site=np.array([[pair in of_site for pair in pairs] for of_site in pairs_of_site]),
    )


def _shifts_of_hours(opens: float, closes: float, params: SimulationParams) -> list[tuple[float, float]]:
    start, end = opens - BEFORE_OPENING_MINUTES, closes + params.overtime_minutes
    if closes - opens <= LONGEST_SHIFT_MINUTES:
        return [(start, end)]
    middle = (opens + closes) / 2
    return [(start, middle + HANDOVER_MINUTES), (middle - HANDOVER_MINUTES, end)]


def rostered_people(
    city: City,
    today: CityDay,
    last_week: CityDay,
    shifts: ShiftTable,
    params: SimulationParams,
    rng: np.random.Generator,
) -> IntArray:
    """
    People on the roster of an everyday city, (S, R, H).

    The roster was made before all of today's bookings were known: for a weighted geometric mean of today's and last
    week's, and with a site's own error, so the city is staffed at the planned utilisation and single sites are not. A
    scenario's roster has no such errors: see `roster_for_load`.
    """
    known = np.where(last_week.booked_people > 0, last_week.booked_people, today.booked_people)
    error = np.exp(rng.normal(0, params.staffing_mismatch_sd, city.num_sites))
    knows = params.roster_knows_share
    planned = today.booked_people.astype(float) ** knows * known ** (1 - knows) * error
    open_minutes = np.array([closes - opens for opens, closes in map(hours_of, city.sites)])
    people_at_work = (planned / open_minutes)[:, None] * np.array(city.service_minutes)
    need = people_at_work / params.planned_utilisation_share
    need[:, OBSERVATION_IDX] = people_at_work[:, OBSERVATION_IDX] * SEATED_RESERVE / city.seats_per_observer
    rounded = np.floor(need + rng.random(need.shape)).astype(np.int64)
    # One observer too few would stop the needles, so nobody plans for a fraction of one.
    rounded[:, OBSERVATION_IDX] = np.ceil(need[:, OBSERVATION_IDX]).astype(np.int64)
    possible = np.array([site.stations_possible for site in city.sites])
    wanted = np.clip(rounded, city.minimum_team_people, np.maximum(possible, city.minimum_team_people))
    wanted[today.booked_people == 0] = 0
    roster: IntArray = wanted[:, :, None] * shifts.at_site[:, None, :]
    return roster


def present_people(roster: IntArray, params: SimulationParams, rng: np.random.Generator) -> IntArray:
    """
    Who of a roster, (S, R, H), comes to work on a day without incidents.

    Somebody is called in where nobody would be left: no fixed roster leaves a site without any registrar for a day.
    """
    absent = binom.ppf(rng.random(roster.shape), roster, params.absent_share)
    present: IntArray = roster - np.nan_to_num(absent).astype(np.int64)
    return np.maximum(present, np.minimum(roster, 1))
