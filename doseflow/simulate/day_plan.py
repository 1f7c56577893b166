"""DayPlan: what one day brings to the city, fixed before it begins. The transition reads it and never writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.roles import ROLE_TO_IDX
from doseflow.errors import CityWrong
from doseflow.simulate.city_days import CityDay, Days
from doseflow.simulate.day_profile import (
    BOOKED_TENTHS,
    DAY_PERIODS,
    WALK_IN_TENTHS,
    SiteHabits,
    hours_of,
    minutes_of,
    period_weights,
    site_habits,
    spread_bookings,
    walk_ins_per_minute,
)
from doseflow.simulate.incidents import Incidents
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.staffing import rostered_people, shift_table
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES, epoch_minutes_from_datetime

NEVER = np.inf


@dataclass(frozen=True)
class DayPlan:
    """
    One day. Moments are minutes since 1970 in UTC; axes S sites, R roles, H shifts, F fridges, 288 periods of the
    local day.

    Parameters
    ----------
    booked_people, free_slots
        Appointments taken and still offered when the day begins, (S, 288).
    walk_ins_per_minute
        Expected walk-ins, (S, 288).
    rostered_people
        (S, R, H).
    fridge_fails_at
        When the compressor stops, (S, F); never is infinite.
    power_off_from, power_off_until, surge_from, surge_until
        (S,).
    """

    today: CityDay
    midnight: float
    opens: FloatArray
    closes: FloatArray
    works_today: BoolArray
    habits: SiteHabits
    booked_people: IntArray
    free_slots: IntArray
    walk_ins_per_minute: FloatArray
    shift_starts: FloatArray
    shift_ends: FloatArray
    rostered_people: IntArray
    fridge_fails_at: FloatArray
    power_off_from: FloatArray
    power_off_until: FloatArray
    surge_from: FloatArray
    surge_until: FloatArray

    def period_of(self, epoch_minutes: float) -> int:
        """The five-minute period of the local day that holds a moment, 0 to 287."""
        return int(np.clip((epoch_minutes - self.midnight) // PERIOD_MINUTES, 0, DAY_PERIODS - 1))


def local_midnight(city: City, day_on: date) -> float:
    """Minutes since 1970 at which a local day begins."""
    return epoch_minutes_from_datetime(datetime.combine(day_on, time(), ZoneInfo(city.timezone)).astimezone(UTC))


def plan_day(
    city: City, days: Days, day_on: date, incidents: Incidents, params: SimulationParams, rng: np.random.Generator
) -> DayPlan:
    """
    A day of the city with its incidents.

    Raises
    ------
    CityWrong
        The city has no such day.
    """
    today, last_week = days.on(day_on), _week_before(days, day_on)
    midnight, shifts, habits = local_midnight(city, day_on), shift_table(city, params), site_habits(city, params)
    slots = spread_bookings(period_weights(city, BOOKED_TENTHS), today.capacity_people)
    taken = spread_bookings(period_weights(city, BOOKED_TENTHS), today.booked_people)
    taken -= rng.binomial(taken, params.same_day_booking_share)
    never = np.full(city.num_sites, NEVER)
    plan = DayPlan(
        today=today,
        midnight=midnight,
        opens=midnight + np.array([hours_of(site)[0] for site in city.sites]),
        closes=midnight + np.array([hours_of(site)[1] for site in city.sites]),
        works_today=today.booked_people > 0,
        habits=habits,
        booked_people=taken,
        free_slots=np.maximum(slots - taken, 0),
        walk_ins_per_minute=walk_ins_per_minute(period_weights(city, WALK_IN_TENTHS), today.booked_people, habits),
        shift_starts=midnight + shifts.starts_minutes,
        shift_ends=midnight + shifts.ends_minutes,
        rostered_people=rostered_people(city, today, last_week, shifts, params, rng),
        fridge_fails_at=np.full((city.num_sites, max(1, *(len(site.fridges) for site in city.sites))), NEVER),
        power_off_from=never,
        power_off_until=never,
        surge_from=never,
        surge_until=never,
    )
    return with_incidents(plan, incidents, rng)


def _week_before(days: Days, day_on: date) -> CityDay:
    week_before_on = date.fromordinal(day_on.toordinal() - 7)
    try:
        return days.on(week_before_on)
    except CityWrong:
        return days.on(day_on)


def with_incidents(plan: DayPlan, incidents: Incidents, rng: np.random.Generator) -> DayPlan:
    """The plan with what goes wrong."""
    fails_at, rostered = plan.fridge_fails_at.copy(), plan.rostered_people.copy()
    power_off_from, power_off_until = plan.power_off_from.copy(), plan.power_off_until.copy()
    surge_from, surge_until = plan.surge_from.copy(), plan.surge_until.copy()
    walk_ins = plan.walk_ins_per_minute.copy()
    for failure in incidents.fridge_failures:
        fails_at[failure.site_idx, failure.fridge_slot] = plan.midnight + minutes_of(failure.at)
    for cut in incidents.power_cuts:
        power_off_from[cut.site_idx] = plan.midnight + minutes_of(cut.starts_at)
        power_off_until[cut.site_idx] = plan.midnight + minutes_of(cut.ends_at)
    for surge in incidents.surges:
        starts, ends = minutes_of(surge.starts_at), minutes_of(surge.ends_at)
        surge_from[surge.site_idx], surge_until[surge.site_idx] = plan.midnight + starts, plan.midnight + ends
        periods = slice(int(starts // PERIOD_MINUTES), int(ends // PERIOD_MINUTES))
        walk_ins[surge.site_idx, periods] += surge.people_per_hour / MINUTES_PER_HOUR
    for absence in incidents.absences:
        at = absence.site_idx, ROLE_TO_IDX[absence.role]
        rostered[at] -= rng.binomial(rostered[at], absence.absent_share)
    return replace(
        plan,
        fridge_fails_at=fails_at,
        rostered_people=rostered,
        power_off_from=power_off_from,
        power_off_until=power_off_until,
        surge_from=surge_from,
        surge_until=surge_until,
        walk_ins_per_minute=walk_ins,
    )
