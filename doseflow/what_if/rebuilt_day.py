"""The rest of today as the state and the forecast tell it: who is expected, who works, who is closed."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS, ArrivalForecast
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState
from doseflow.simulate.city_days import CityDay
from doseflow.simulate.day_plan import NEVER, DayPlan, local_midnight
from doseflow.simulate.day_profile import DAY_PERIODS, WALK_IN_TENTHS, SiteHabits, hours_of, period_weights
from doseflow.simulate.parameters import SimulationParams
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

SHIFT_MINUTES = 8 * 60.0
"""How long a shift whose end is reported has been: assumed, since no report tells its beginning."""


def rebuilt_day(state: CityState, forecast: ArrivalForecast, params: SimulationParams, level: float) -> DayPlan:
    """
    The day in which arrivals follow the forecast's quantile `level`.

    After the forecast's two hours they follow the usual shape of the opening hours, scaled to the doses that are
    forecast for the rest of the day.
    """
    city = state.city
    day_on = state.as_of.astimezone(ZoneInfo(city.timezone)).date()
    midnight, num_sites = local_midnight(city, day_on), city.num_sites
    hours = np.array([hours_of(site) for site in city.sites])
    habits = _habits(state, params)
    expected = expected_people(state, forecast, midnight, level)
    booked = np.floor(expected * (1 - habits.walk_in_share)[:, None] / habits.comes_share[:, None]).astype(np.int64)
    starts, ends, relief = shifts_of(state, midnight + float(hours[:, 1].max()) + params.overtime_minutes)
    never, nothing = np.full(num_sites, NEVER), np.zeros((num_sites, len(city.products)), dtype=np.int64)
    day_booked = booked.sum(axis=-1)
    fridges = max(1, *(len(site.fridges) for site in city.sites))
    return DayPlan(
        today=CityDay(day_on, day_booked, day_booked, nothing, nothing),
        midnight=midnight,
        opens=midnight + hours[:, 0],
        closes=midnight + hours[:, 1],
        works_today=np.ones(num_sites, dtype=bool),
        habits=habits,
        booked_people=booked,
        free_slots=np.zeros_like(booked),
        walk_ins_per_minute=expected * habits.walk_in_share[:, None] / PERIOD_MINUTES,
        shift_starts=starts,
        shift_ends=ends,
        planned_people=relief,
        rostered_people=relief,
        fridge_fails_at=np.full((num_sites, fridges), NEVER),
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


def expected_people(state: CityState, forecast: ArrivalForecast, midnight: float, level: float) -> FloatArray:
    """People expected at each site by period of the local day, (S, 288); 0 in the past and where nothing is known."""
    now = epoch_minutes_from_datetime(state.as_of.astimezone(UTC))
    first = min(int((now - midnight) // PERIOD_MINUTES), DAY_PERIODS)
    people = np.zeros((state.city.num_sites, DAY_PERIODS))
    told = np.nan_to_num(at_level(forecast.arrivals_people, level))
    horizon = min(told.shape[1], DAY_PERIODS - first)
    people[:, first : first + horizon] = told[:, :horizon]
    weights = period_weights(state.city, WALK_IN_TENTHS)
    later, ahead = weights[:, first + horizon :], weights[:, first:].sum(axis=-1)
    doses = at_level(forecast.doses_rest_of_day, level)
    known = np.where(np.isfinite(doses), doses, np.nan_to_num(_of_median(forecast)))
    rest = np.maximum(known - told[:, :horizon].sum(axis=-1), 0)
    # Where the day's figure is below what two hours hold, the shape alone says how it goes on.
    by_shape = told[:, :horizon].sum(axis=-1) / np.maximum(ahead - later.sum(axis=-1), 1e-9) * later.sum(axis=-1)
    rest = np.where(rest > 0, rest, by_shape)
    people[:, first + horizon :] = later / np.maximum(later.sum(axis=-1, keepdims=True), 1e-9) * rest[:, None]
    return people


def at_level(quantiles: FloatArray, level: float) -> FloatArray:
    """Values at one level between the forecast's, straight lines between them; the last axis is Q."""
    place = float(np.interp(level, QUANTILE_LEVELS, np.arange(len(QUANTILE_LEVELS))))
    low = min(int(place), len(QUANTILE_LEVELS) - 2)
    between: FloatArray = quantiles[..., low] + (place - low) * (quantiles[..., low + 1] - quantiles[..., low])
    return between


def _of_median(forecast: ArrivalForecast) -> FloatArray:
    sums: FloatArray = np.nansum(forecast.arrivals_people[..., MEDIAN_IDX], axis=-1)
    return sums


def _habits(state: CityState, params: SimulationParams) -> SiteHabits:
    def known(values: FloatArray, otherwise: float) -> FloatArray:
        return np.where(np.isfinite(values), values, otherwise)

    return SiteHabits(
        no_show_share=np.clip(known(state.no_show_share, params.no_show_share), 0, 0.9),
        mean_early_minutes=known(state.mean_early_minutes, params.early_mean_minutes),
        walk_in_share=np.clip(known(state.walk_in_share, params.walk_in_share), 0, 0.9),
    )


def shifts_of(state: CityState, last_end: float) -> tuple[FloatArray, FloatArray, IntArray]:
    """
    Shifts whose end is reported, and after each the relief that is assumed: as many people, until the last site closes.

    Starts and ends, (H,), and the people of each relief, (S, R, H).
    """
    staff = state.staff
    ends = np.unique(staff.shift_ends_epoch_minutes[np.isfinite(staff.shift_ends_epoch_minutes)])
    ends = ends if len(ends) else np.array([last_end])
    starts = np.concatenate([ends - SHIFT_MINUTES, ends])
    all_ends = np.concatenate([ends, np.maximum(ends, last_end)])
    relief = np.zeros((state.city.num_sites, NUM_ROLES, len(starts)), dtype=np.int64)
    slot = shift_slots(state, ends)
    np.add.at(relief, (staff.site_idx, staff.role_idx, slot + len(ends)), staff.people)
    return starts, all_ends, relief


def shift_slots(state: CityState, ends: FloatArray) -> IntArray:
    """The shift of each row of the staff table, (rows,)."""
    told = np.nan_to_num(state.staff.shift_ends_epoch_minutes, nan=float(ends[-1]))
    return np.clip(np.searchsorted(ends, told), 0, len(ends) - 1).astype(np.int64)
