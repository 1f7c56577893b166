"""GeneratorForecast: knows how the simulator makes people come, and not whom it has drawn: what could be known."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS, ArrivalForecast, ForecastBasis
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.day_profile import DAY_MINUTES, DAY_PERIODS
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.world import World
from doseflow.units import PERIOD_MINUTES

NUM_PATHS = 32


class GeneratorForecast:
    """
    Sampled days of the true generator: the true slots, no-shows, punctuality and walk-in rates with every surge.

    Whole days are drawn once, and what is booked later is drawn when it is booked. People come independently of each
    other, so what has come so far says nothing about who is still to come, and the days need no weights.
    """

    name = "generator"

    def __init__(self, city: SimulatedCity, params: SimulationParams, seed: int, num_paths: int = NUM_PATHS) -> None:
        self._city, self._params, self._num_paths = city, params, num_paths
        self._rng = np.random.default_rng([seed, 200])
        day = city.world.day
        self._counted_people = np.array(city.world.booked_people)
        walk_ins = self._rng.poisson(
            day.walk_ins_per_minute * PERIOD_MINUTES, (num_paths, *day.walk_ins_per_minute.shape)
        )
        self._paths = (walk_ins + self._drawn(self._counted_people, day)).astype(np.int32)

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Paths of the coming periods and their quantiles."""
        world = self._city.world
        now = world.minute_of_day // PERIOD_MINUTES
        self._take_new_bookings(world, now)
        ahead = self._with_bookings_to_come(world, now)
        paths = ahead[..., :HORIZON_PERIODS]
        paths = np.pad(paths, ((0, 0), (0, 0), (0, HORIZON_PERIODS - paths.shape[-1])))
        waiting = np.nansum(state.waiting_people[:, :OBSERVATION_IDX], axis=-1)
        return ArrivalForecast(
            made_at=state.as_of,
            forecaster=self.name,
            arrivals_people=_quantiles(paths),
            doses_rest_of_day=_quantiles(ahead.sum(axis=-1) + waiting),
            basis=np.full(paths.shape[1], int(ForecastBasis.BOOKINGS), dtype=np.int64),
            paths_people=paths,
        )

    def _drawn(self, booked_people: IntArray, day: DayPlan) -> IntArray:
        """Days of people with these appointments, by period, (K, S, 288): the rule of `draw_coming`, for all days."""
        site_idx, period_idx = np.nonzero(booked_people)
        people = booked_people[site_idx, period_idx]
        site_idx, period_idx = np.repeat(site_idx, people), np.repeat(period_idx, people)
        shape = self._num_paths, len(site_idx)
        comes = np.asarray(day.habits.comes_share)[site_idx]
        path_idx, person = np.nonzero(self._rng.random(shape) < comes)
        early = np.asarray(day.habits.early_today_minutes)[site_idx[person]]
        early = early + self._params.early_sd_minutes * self._rng.standard_normal(len(person))
        minute = np.clip(np.rint(period_idx[person] * PERIOD_MINUTES - early), 0, DAY_MINUTES - 1).astype(np.int64)
        whole = self._num_paths, len(booked_people), DAY_PERIODS
        at = np.ravel_multi_index((path_idx, site_idx[person], minute // PERIOD_MINUTES), whole)
        by_period: IntArray = np.bincount(at, minlength=int(np.prod(whole))).reshape(whole)
        return by_period

    def _take_new_bookings(self, world: World, now: int) -> None:
        """Draw those who have booked since the last call; nobody of them has come before now."""
        booked = np.maximum(np.asarray(world.booked_people) - self._counted_people, 0)
        if not booked.any():
            return
        self._counted_people = self._counted_people + booked
        drawn = self._drawn(booked, world.day)
        drawn[..., now] += drawn[..., :now].sum(axis=-1)
        drawn[..., :now] = 0
        self._paths += drawn.astype(np.int32)

    def _with_bookings_to_come(self, world: World, now: int) -> FloatArray:
        """The paths from now to midnight, with people who will book a slot that is still free, (K, S, periods)."""
        day, assumed = world.day, self._params
        ahead_minutes = np.maximum((np.arange(DAY_PERIODS) - now) * PERIOD_MINUTES, 0)
        will_be_booked = 1 - np.exp(-ahead_minutes / assumed.slot_booking_mean_minutes)
        coming = np.asarray(world.free_slots) * will_be_booked * np.asarray(day.habits.comes_share)[..., None]
        periods_early = round(float(np.mean(day.habits.early_today_minutes)) / PERIOD_MINUTES)
        coming = np.roll(coming, -periods_early, axis=-1)[:, now:]
        paths = self._paths[..., now:].astype(np.float64)
        site_idx, period_idx = np.nonzero(coming)
        expected = coming[site_idx, period_idx]
        paths[:, site_idx, period_idx] += self._rng.poisson(expected, (self._num_paths, len(expected)))
        closes = (np.asarray(day.closes) - day.midnight) / PERIOD_MINUTES
        can_be_served = (np.arange(now, DAY_PERIODS) < closes[:, None]) & np.asarray(day.works_today)[:, None]
        paths *= can_be_served
        return paths


def _quantiles(paths: FloatArray) -> FloatArray:
    """Quantiles over the paths, axis Q last."""
    # Sorted along the last axis, where NumPy is fast.
    ordered = np.sort(np.ascontiguousarray(np.moveaxis(paths, 0, -1)), axis=-1)
    place = np.array(QUANTILE_LEVELS) * (ordered.shape[-1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, ordered.shape[-1] - 1)
    quantiles: FloatArray = ordered[..., below] + (place - below) * (ordered[..., above] - ordered[..., below])
    return quantiles
