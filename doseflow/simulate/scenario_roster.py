"""
The best fixed roster for an expected day: how many people of each role by square-root staffing, with one safety factor
for the whole city, chosen so that the city's people are offered a stated load; where each of them is rostered by what
they save there (`marginal_roster`).

Square-root staffing: a group that is busy with `b` people on average gets `b + beta * sqrt(b)` (Halfin and Whitt 1981,
doi:10.1287/opre.29.3.567). With it alone, as many as one group in five had more work than people.
Axes: S sites, R roles, H shifts, 288 periods of the local day.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.simulate.day_profile import DAY_PERIODS, hours_of
from doseflow.simulate.marginal_roster import place_people
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.staffing import SEATED_RESERVE, ShiftTable
from doseflow.units import PERIOD_MINUTES

LOWEST_BETA, HIGHEST_BETA = -4.0, 40.0
BISECTIONS = 60


@dataclass(frozen=True)
class LoadRoster:
    """
    People by site, role and shift, (S, R, H), and the load they are offered by role, (R,).

    The load is what was asked for unless minimum teams or stations do not allow it; it counts whole people.
    """

    people: IntArray
    offered_load_share: FloatArray


def roster_for_load(
    city: City,
    arrivals_people: FloatArray,
    works_today: BoolArray,
    shifts: ShiftTable,
    offered_load_share: float,
    params: SimulationParams,
) -> LoadRoster:
    """
    The roster whose busiest role is offered this load.

    Parameters
    ----------
    arrivals_people
        Expected people by period, (S, 288).
    works_today
        Sites that open, (S,); the others have nobody.
    """
    work = work_minutes(city, arrivals_people, shifts)
    # Everyday absence is known to happen, so the roster allows for its mean.
    minutes = person_minutes(city, shifts, params) * (1 - params.absent_share)
    busy = work / np.maximum(_share_minutes(city, shifts), 1)[:, None, :]
    has_post = (shifts.at_site & works_today[:, None])[:, None, :]
    low = np.where(has_post, city.minimum_team_people[:, :, None], 0)
    seated = np.ceil(busy[:, OBSERVATION_IDX] * SEATED_RESERVE)
    low[:, OBSERVATION_IDX] = np.maximum(low[:, OBSERVATION_IDX], np.where(has_post[:, 0], seated, 0))
    possible = np.array([site.stations_possible for site in city.sites])[:, :, None]
    high = np.where(has_post, np.maximum(possible, city.minimum_team_people[:, :, None]), 0)
    low = np.minimum(low, high).astype(np.int64)
    beta = _beta_of_load(busy, low, high, work, minutes, offered_load_share)
    rostered_minutes = (_staffed(busy, beta, low, high) * minutes[:, None, :]).sum(axis=(0, 2))
    share = _share_minutes(city, shifts)
    people = np.stack(
        [
            place_people(rostered, low[:, role], high[:, role], busy[:, role], minutes, share, service)
            for role, (rostered, service) in enumerate(zip(rostered_minutes, city.service_minutes, strict=True))
        ],
        axis=1,
    )
    return LoadRoster(people, load_shares(work, people, minutes))


def load_shares(work: FloatArray, people: FloatArray | IntArray, minutes: FloatArray) -> FloatArray:
    """Work over capacity by role, (R,), from (S, R, H), (S, R, H) and the minutes of a person, (S, H)."""
    capacity = (people * minutes[:, None, :]).sum(axis=(0, 2))
    shares: FloatArray = work.sum(axis=(0, 2)) / np.maximum(capacity, 1e-9)
    return shares


def work_minutes(city: City, arrivals_people: FloatArray, shifts: ShiftTable) -> FloatArray:
    """Minutes of work that arrivals by period, (S, 288), bring to each role and shift, (S, R, H)."""
    minutes = np.array(city.service_minutes)
    minutes[OBSERVATION_IDX] /= city.seats_per_observer
    people = np.einsum("sp,sph->sh", arrivals_people, _is_shift_of_period(shifts))
    work: FloatArray = people[:, None, :] * minutes[None, :, None]
    return work


def person_minutes(city: City, shifts: ShiftTable, params: SimulationParams) -> FloatArray:
    """Minutes of a person's shift inside the opening hours, less the break, (S, H)."""
    opens, closes = np.array([hours_of(site) for site in city.sites]).T
    inside = np.minimum(shifts.ends_minutes, closes[:, None]) - np.maximum(shifts.starts_minutes, opens[:, None])
    has_break = shifts.ends_minutes - shifts.starts_minutes > params.break_shift_minutes
    minutes: FloatArray = np.maximum(inside - has_break * params.break_minutes, 0.0) * shifts.at_site
    return minutes


def _is_shift_of_period(shifts: ShiftTable) -> BoolArray:
    """Which shift a period's arrivals belong to, (S, 288, H): the one whose middle is nearest among the site's own."""
    middles = (shifts.starts_minutes + shifts.ends_minutes) / 2
    moments = (np.arange(DAY_PERIODS) + 0.5) * PERIOD_MINUTES
    distance = np.abs(moments[None, :, None] - middles[None, None, :])
    nearest = np.argmin(np.where(shifts.at_site[:, None, :], distance, np.inf), axis=-1)
    is_nearest: BoolArray = nearest[..., None] == np.arange(len(middles))
    return is_nearest


def _share_minutes(city: City, shifts: ShiftTable) -> FloatArray:
    """Minutes of the opening hours that each shift answers for, (S, H); they add up to the opening hours."""
    hours = np.array([hours_of(site) for site in city.sites])
    moments = (np.arange(DAY_PERIODS) + 0.5) * PERIOD_MINUTES
    is_open = (hours[:, :1] <= moments) & (moments < hours[:, 1:])
    minutes: FloatArray = np.einsum("sp,sph->sh", is_open * float(PERIOD_MINUTES), _is_shift_of_period(shifts))
    return minutes


def _staffed(busy: FloatArray, beta: float, low: IntArray, high: IntArray) -> FloatArray:
    people: FloatArray = np.clip(busy + beta * np.sqrt(busy), low, high)
    return people


def _beta_of_load(
    busy: FloatArray, low: IntArray, high: IntArray, work: FloatArray, minutes: FloatArray, offered_load_share: float
) -> float:
    """The safety factor at which the busiest role is offered the load; more people only lower it, so bisection."""
    lowest, highest = LOWEST_BETA, HIGHEST_BETA
    for _ in range(BISECTIONS):
        beta = (lowest + highest) / 2
        is_too_busy = load_shares(work, _staffed(busy, beta, low, high), minutes).max() > offered_load_share
        lowest, highest = (beta, highest) if is_too_busy else (lowest, beta)
    return (lowest + highest) / 2
