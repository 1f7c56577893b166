"""
Where inside a day people come: booked slots, punctuality, no-shows, walk-ins.

The bookings of the packaged city are by day; their hour is not published. The profiles below are assumed: see
docs/reference/cities.md for what they rest on. Axes: S sites, 288 five-minute periods and 1,440 minutes of a local day.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import time

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import City, FloatArray, IntArray, Site
from doseflow.simulate.parameters import SimulationParams
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

DAY_MINUTES = 1440
DAY_PERIODS = DAY_MINUTES // PERIOD_MINUTES
MOST_WALK_INS_A_MINUTE = 500

BOOKED_TENTHS = (0.110, 0.085, 0.085, 0.110, 0.110, 0.085, 0.085, 0.085, 0.1225, 0.1225)
"""
Share of a day's bookings in each tenth of the opening hours: 0.6 even (slots follow stations, which are constant) and
0.4 the one intraday profile found (APankowska/vaccination-clinic-simulation-simul8, a student project: 12, 6, 12, 6,
15 an hour).
"""
WALK_IN_TENTHS = (0.067, 0.100, 0.110, 0.111, 0.108, 0.105, 0.105, 0.104, 0.100, 0.090)
"""
Share of a day's walk-ins in each tenth: unbooked demand between 08:00 and 18:00 on weekdays, the mean of two real
series, calls to a bank (fpp2 `calls`) and arrivals at an emergency department (fastTS); made by tools/fit_profiles.py.
"""


@dataclass(frozen=True)
class SiteHabits:
    """
    How the people of each site behave, (S,): shares of no-shows and walk-ins, and how early the booked come.

    The first three are what a site has learnt of its people. The last two are what is different today, and no site
    knows them: the share of those who would come and stay away, and how many minutes earlier the others come.
    """

    no_show_share: FloatArray
    mean_early_minutes: FloatArray
    walk_in_share: FloatArray
    stays_away_share: FloatArray | float = 0.0
    earlier_minutes: FloatArray | float = 0.0

    @property
    def comes_share(self) -> FloatArray:
        """Share of today's booked people who come, (S,)."""
        share: FloatArray = (1 - self.no_show_share) * (1 - self.stays_away_share)
        return share

    @property
    def early_today_minutes(self) -> FloatArray:
        """How early those of today come on average, (S,)."""
        minutes: FloatArray = self.mean_early_minutes + self.earlier_minutes
        return minutes


def site_habits(city: City, params: SimulationParams) -> SiteHabits:
    """Habits of a city's people; they depend on the city alone, so that past weeks and today agree."""
    rng = np.random.default_rng(zlib.crc32(city.city_id.encode()))
    return SiteHabits(
        no_show_share=_shares(rng, params.no_show_share, city.num_sites),
        mean_early_minutes=rng.normal(params.early_mean_minutes, 2.0, city.num_sites),
        walk_in_share=_shares(rng, params.walk_in_share, city.num_sites),
    )


def _shares(rng: np.random.Generator, mean_share: float, num_sites: int) -> FloatArray:
    """Shares around a mean; the spread (beta, concentration 30) is assumed."""
    if mean_share == 0:
        return np.zeros(num_sites)
    return rng.beta(30 * mean_share, 30 * (1 - mean_share), num_sites)


def period_weights(city: City, tenths: tuple[float, ...]) -> FloatArray:
    """Share of each site's day in each five-minute period, (S, 288), rows summing to 1."""
    edges = np.arange(DAY_PERIODS + 1) * float(PERIOD_MINUTES)
    cumulative = np.concatenate(([0.0], np.cumsum(tenths)))
    rows = {}
    for hours in map(hours_of, city.sites):
        if hours not in rows:
            rows[hours] = np.diff(np.interp(edges, np.linspace(*hours, len(cumulative)), cumulative))
    weights = np.array([rows[hours_of(site)] for site in city.sites])
    normal: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
    return normal


def minutes_of(moment: time) -> float:
    """Minutes since local midnight of a time of day."""
    return moment.hour * MINUTES_PER_HOUR + moment.minute + moment.second / 60


def hours_of(site: Site) -> tuple[float, float]:
    """Opening and closing in minutes since local midnight; hours that cross midnight are simulated until midnight."""
    opens, closes = minutes_of(site.opens_at), minutes_of(site.closes_at)
    return (opens, closes) if opens < closes else (opens, float(DAY_MINUTES))


def spread_bookings(weights: FloatArray, booked_people: IntArray) -> IntArray:
    """Whole bookings by period, (S, 288), that follow the weights and add up to the day's bookings."""
    cumulative = np.cumsum(weights, axis=-1)
    cumulative[..., -1] = 1.0
    targets = np.floor(booked_people[..., None] * cumulative + 0.5).astype(np.int64)
    return np.diff(targets, axis=-1, prepend=0)


def draw_coming(
    rng: np.random.Generator, booked_people: IntArray, habits: SiteHabits, params: SimulationParams
) -> IntArray:
    """
    The minutes at which booked people come, (S, 1440), from their slots (S, 288).

    Some do not come; the others come earlier than booked by a normal number of minutes, negative being late. Every
    booked person has the same two draws whatever the habits are.
    """
    site_idx, period_idx = np.nonzero(booked_people)
    people = booked_people[site_idx, period_idx]
    site_idx, period_idx = np.repeat(site_idx, people), np.repeat(period_idx, people)
    comes, deviation = rng.random(len(site_idx)), rng.standard_normal(len(site_idx))
    shows = comes < np.broadcast_to(habits.comes_share, len(booked_people))[site_idx]
    site_idx, period_idx = site_idx[shows], period_idx[shows]
    early_minutes = habits.early_today_minutes[site_idx] + params.early_sd_minutes * deviation[shows]
    minute = np.clip(np.rint(period_idx * PERIOD_MINUTES - early_minutes), 0, DAY_MINUTES - 1).astype(np.int64)
    flat = np.bincount(site_idx * DAY_MINUTES + minute, minlength=len(booked_people) * DAY_MINUTES)
    return flat.reshape(len(booked_people), DAY_MINUTES)


def walk_ins_per_minute(weights: FloatArray, booked_people: IntArray, habits: SiteHabits) -> FloatArray:
    """Expected walk-ins a minute by period, (S, 288), such that they are the habit's share of those who come."""
    showing = booked_people * (1 - habits.no_show_share)
    day_people = showing * habits.walk_in_share / (1 - habits.walk_in_share)
    return weights * day_people[:, None] / PERIOD_MINUTES


def expected_arrivals(
    booked_people: IntArray | FloatArray,
    free_slots: IntArray | FloatArray,
    walk_ins_per_minute: FloatArray,
    habits: SiteHabits,
    params: SimulationParams,
    first_minute: float,
) -> FloatArray:
    """
    People expected by period, (S, 288).

    Of the slots still free at the day's `first_minute`, those count that will be booked before their time; booked
    people come a mean number of whole periods before their slot.
    """
    ahead_minutes = np.maximum(np.arange(DAY_PERIODS) * PERIOD_MINUTES - first_minute, 0)
    will_be_booked = 1 - np.exp(-ahead_minutes / params.slot_booking_mean_minutes)
    coming = (booked_people + free_slots * will_be_booked) * np.asarray(habits.comes_share)[..., None]
    periods_early = round(float(np.mean(habits.early_today_minutes)) / PERIOD_MINUTES)
    expected: FloatArray = np.roll(coming, -periods_early, axis=-1) + walk_ins_per_minute * PERIOD_MINUTES
    return expected


def draw_walk_ins(rng: np.random.Generator, walk_ins_per_minute: FloatArray) -> NDArray[np.int32]:
    """
    Walk-ins by minute of the day, (S, 1440), a Poisson stream of the rates by period, (S, 288).

    Every minute of every site has one uniform draw, turned into people by the inverse distribution: so a higher rate
    somewhere only adds people there.
    """
    rates = np.repeat(walk_ins_per_minute, PERIOD_MINUTES, axis=-1)
    chance, people = rng.random(rates.shape), np.zeros(rates.shape, dtype=np.int32)
    is_more = np.flatnonzero(chance > np.exp(-rates))
    rate, left = rates.flat[is_more], chance.flat[is_more]
    probability = np.exp(-rate)
    for count in range(1, MOST_WALK_INS_A_MINUTE):
        left = left - probability
        probability = probability * rate / count
        people.flat[is_more] = count
        goes_on = left > probability
        if not goes_on.any():
            break
        is_more, rate, left, probability = is_more[goes_on], rate[goes_on], left[goes_on], probability[goes_on]
    return people
