"""DayPlan: what one day brings to the city, fixed before it begins. The transition reads it and never writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import numpy as np
from scipy.stats import binom

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.report import Weather
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX
from doseflow.errors import CityWrong
from doseflow.simulate.city_days import CityDay, Days
from doseflow.simulate.day_profile import (
    BOOKED_TENTHS,
    DAY_PERIODS,
    WALK_IN_TENTHS,
    SiteHabits,
    expected_arrivals,
    hours_of,
    minutes_of,
    period_weights,
    site_habits,
    spread_bookings,
    walk_ins_per_minute,
)
from doseflow.simulate.incidents import Absence, Closure, Incidents, PowerCut, Surge, SurgeShape
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.scenario_roster import roster_for_load
from doseflow.simulate.staffing import ShiftTable, present_people, rostered_people, shift_table
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES, epoch_minutes_from_datetime

NEVER = np.inf
QUIET_BEFORE_MINUTES = 120.0
"""So long before the first site opens the day begins to be lived."""


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
    planned_people, rostered_people
        On the roster, and of them those who are there, (S, R, H).
    fridge_fails_at
        When the compressor stops, (S, F); never is infinite.
    power_off_from, power_off_until, surge_from, surge_until, closed_from, closed_until
        (S,).
    deliveries_late_minutes
        (S,).
    travel_factor
        Everything on the road takes so many times as long as the city's table says.
    missing_vans
        Vans that are not to be had today, (V,).
    weather
        The city's weather; None where it is to be drawn.
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
    planned_people: IntArray
    rostered_people: IntArray
    fridge_fails_at: FloatArray
    power_off_from: FloatArray
    power_off_until: FloatArray
    surge_from: FloatArray
    surge_until: FloatArray
    closed_from: FloatArray
    closed_until: FloatArray
    deliveries_late_minutes: FloatArray
    travel_factor: float
    missing_vans: BoolArray
    weather: Weather | None

    @property
    def first_minute(self) -> float:
        """Minute of the local day at which it begins to be lived: some time before the first site opens."""
        return max(0.0, float(self.opens.min()) - self.midnight - QUIET_BEFORE_MINUTES)

    def is_closed_by_incident(self, epoch_minutes: float) -> BoolArray:
        """Sites that serve nobody at a moment although it is in their hours, (S,)."""
        closed: BoolArray = (self.closed_from <= epoch_minutes) & (epoch_minutes < self.closed_until)
        return closed

    def period_of(self, epoch_minutes: float) -> int:
        """The five-minute period of the local day that holds a moment, 0 to 287."""
        return int(np.clip((epoch_minutes - self.midnight) // PERIOD_MINUTES, 0, DAY_PERIODS - 1))


def local_midnight(city: City, day_on: date) -> float:
    """Minutes since 1970 at which a local day begins."""
    return epoch_minutes_from_datetime(datetime.combine(day_on, time(), ZoneInfo(city.timezone)).astimezone(UTC))


def plan_day(
    city: City,
    days: Days,
    day_on: date,
    incidents: Incidents,
    params: SimulationParams,
    rng: np.random.Generator,
    offered_load_share: float | None = None,
) -> DayPlan:
    """
    A day of the city with its incidents.

    Each concern has its own stream of chance, so that changing one leaves the draws of the others alone.

    Parameters
    ----------
    offered_load_share
        Load that the roster is made for: see `roster_for_load`. Without it the roster has errors of its own: see
        `rostered_people`.

    Raises
    ------
    CityWrong
        The city has no such day.
    """
    booking_rng, roster_rng, incident_rng = rng.spawn(3)
    plan = _planned_bookings(city, days.on(day_on), params, booking_rng)
    shifts = shift_table(city, params)
    if offered_load_share is None:
        planned = rostered_people(city, plan.today, _week_before(days, day_on), shifts, params, roster_rng)
    else:
        planned = _people_for_load(city, plan, shifts, offered_load_share, params)
    present = present_people(planned, params, roster_rng)
    plan = replace(plan, planned_people=planned, rostered_people=present)
    return with_incidents(plan, incidents, incident_rng)


def _planned_bookings(city: City, today: CityDay, params: SimulationParams, rng: np.random.Generator) -> DayPlan:
    """A day without incidents, and without anybody on its roster."""
    midnight, shifts, habits = local_midnight(city, today.day_on), shift_table(city, params), site_habits(city, params)
    slots = spread_bookings(period_weights(city, BOOKED_TENTHS), today.capacity_people)
    taken = spread_bookings(period_weights(city, BOOKED_TENTHS), today.booked_people)
    taken -= rng.binomial(taken, params.same_day_booking_share)
    num_sites, num_fridges = city.num_sites, max(1, *(len(site.fridges) for site in city.sites))
    never, nobody = np.full(num_sites, NEVER), np.zeros((num_sites, NUM_ROLES, len(shifts.starts_minutes)), np.int64)
    return DayPlan(
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
        planned_people=nobody,
        rostered_people=nobody,
        fridge_fails_at=np.full((num_sites, num_fridges), NEVER),
        power_off_from=never,
        power_off_until=never,
        surge_from=never,
        surge_until=never,
        closed_from=never,
        closed_until=never,
        deliveries_late_minutes=np.zeros(num_sites),
        travel_factor=1.0,
        missing_vans=np.zeros(len(city.vans), dtype=bool),
        weather=None,
    )


def _people_for_load(
    city: City, plan: DayPlan, shifts: ShiftTable, offered_load_share: float, params: SimulationParams
) -> IntArray:
    """The roster for the day that is expected before it is known which bookings come only today."""
    released = params.same_day_booking_share
    slots = plan.booked_people + plan.free_slots
    appointments = spread_bookings(period_weights(city, BOOKED_TENTHS), plan.today.booked_people)
    booked = appointments.astype(np.float64) * (1 - released)
    arrivals = expected_arrivals(
        booked, slots - booked, plan.walk_ins_per_minute, plan.habits, params, plan.first_minute
    )
    return roster_for_load(city, arrivals, plan.works_today, shifts, offered_load_share, params).people


def _week_before(days: Days, day_on: date) -> CityDay:
    week_before_on = date.fromordinal(day_on.toordinal() - 7)
    try:
        return days.on(week_before_on)
    except CityWrong:
        return days.on(day_on)


def with_incidents(plan: DayPlan, incidents: Incidents, rng: np.random.Generator) -> DayPlan:
    """The plan with what goes wrong."""
    fails_at = plan.fridge_fails_at.copy()
    for failure in incidents.fridge_failures:
        fails_at[failure.site_idx, failure.fridge_slot] = plan.midnight + minutes_of(failure.at)
    power_off_from, power_off_until = _between(plan, incidents.power_cuts)
    surge_from, surge_until = _between(plan, incidents.surges)
    closed_from, closed_until = _between(plan, incidents.closures)
    missing = plan.missing_vans.copy()
    missing[list(incidents.missing_vans)] = True
    return replace(
        plan,
        today=replace(plan.today, delivered_doses=_delivered(plan, incidents)),
        habits=_habits(plan, incidents),
        fridge_fails_at=fails_at,
        rostered_people=_present(plan.rostered_people, incidents.absences, rng),
        power_off_from=power_off_from,
        power_off_until=power_off_until,
        surge_from=surge_from,
        surge_until=surge_until,
        closed_from=closed_from,
        closed_until=closed_until,
        walk_ins_per_minute=_walk_ins(plan, incidents),
        deliveries_late_minutes=_late_minutes(plan, incidents),
        travel_factor=plan.travel_factor * incidents.travel_factor,
        missing_vans=missing,
        weather=incidents.weather or plan.weather,
    )


def _between(plan: DayPlan, incidents: Sequence[PowerCut | Surge | Closure]) -> tuple[FloatArray, FloatArray]:
    """From when until when each site is struck, (S,) each."""
    starts, ends = np.full(len(plan.opens), NEVER), np.full(len(plan.opens), NEVER)
    for one in incidents:
        starts[one.site_idx] = plan.midnight + minutes_of(one.starts_at)
        ends[one.site_idx] = plan.midnight + minutes_of(one.ends_at)
    return starts, ends


def _periods(starts_at: time, ends_at: time) -> slice:
    return slice(int(minutes_of(starts_at) // PERIOD_MINUTES), int(minutes_of(ends_at) // PERIOD_MINUTES))


def _walk_ins(plan: DayPlan, incidents: Incidents) -> FloatArray:
    walk_ins = plan.walk_ins_per_minute.copy()
    for change in incidents.walk_in_changes:
        walk_ins[change.site_idx, _periods(change.starts_at, change.ends_at)] *= change.factor
    for surge in incidents.surges:
        periods = _periods(surge.starts_at, surge.ends_at)
        weights = np.ones(periods.stop - periods.start)
        if surge.shape == SurgeShape.RAMP:
            weights = 2 * (1 - np.abs(np.linspace(-1, 1, 2 * len(weights) + 1)[1::2]))
        walk_ins[surge.site_idx, periods] += weights * surge.people_per_hour / MINUTES_PER_HOUR
    return walk_ins


def _present(rostered: IntArray, absences: Sequence[Absence], rng: np.random.Generator) -> IntArray:
    """Who is left of those rostered, (S, R, H); the chance of a cell does not depend on the other absences."""
    present, chance = rostered.copy(), rng.random(rostered.shape)
    for absence in absences:
        at = absence.site_idx, ROLE_TO_IDX[absence.role]
        present[at] -= binom.ppf(chance[at], present[at], absence.absent_share).astype(np.int64)
    return present


def _habits(plan: DayPlan, incidents: Incidents) -> SiteHabits:
    shape = len(plan.opens)
    stays_away = np.broadcast_to(plan.habits.stays_away_share, shape).copy()
    earlier = np.broadcast_to(plan.habits.earlier_minutes, shape).copy()
    for change in incidents.habit_changes:
        stays_away[change.site_idx] = 1 - (1 - stays_away[change.site_idx]) * (1 - change.stays_away_share)
        earlier[change.site_idx] += change.earlier_minutes
    return replace(plan.habits, stays_away_share=stays_away, earlier_minutes=earlier)


def _delivered(plan: DayPlan, incidents: Incidents) -> IntArray:
    delivered = plan.today.delivered_doses.copy()
    for change in incidents.delivery_changes:
        delivered[change.site_idx] = np.rint(delivered[change.site_idx] * (1 - change.lost_share))
    return delivered


def _late_minutes(plan: DayPlan, incidents: Incidents) -> FloatArray:
    late = plan.deliveries_late_minutes.copy()
    for change in incidents.delivery_changes:
        late[change.site_idx] += change.late_minutes
    return late
