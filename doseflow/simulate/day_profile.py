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

from doseflow.domain.city import City, FloatArray, IntArray, Site
from doseflow.simulate.parameters import SimulationParams
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

DAY_MINUTES = 1440
DAY_PERIODS = DAY_MINUTES // PERIOD_MINUTES

BOOKED_TENTHS = (0.110, 0.085, 0.085, 0.110, 0.110, 0.085, 0.085, 0.085, 0.1225, 0.1225)
"""
Share of a day's bookings in each tenth of the opening hours: 0.6 even (slots follow stations, which are constant) and
0.4 the one intraday profile found (APankowska/vaccination-clinic-simulation-simul8, a student project: 12, 6, 12, 6,
15 an hour).
"""
WALK_IN_TENTHS = (0.05, 0.12, 0.15, 0.14, 0.13, 0.12, 0.11, 0.08, 0.06, 0.04)
"""
Share of a day's walk-ins in each tenth: the mean weekday of a call centre (fpp2 `calls`), unbooked demand, rounded.
"""


@dataclass(frozen=True)
class SiteHabits:
    """How the people of each site behave, (S,): shares of no-shows and walk-ins, and how early the booked come."""

    no_show_share: FloatArray
    mean_early_minutes: FloatArray
    walk_in_share: FloatArray


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

    Some do not come; the others come earlier than booked by a normal number of minutes, negative being late.
    """
    showing = rng.binomial(booked_people, 1 - habits.no_show_share[:, None])
    site_idx, period_idx = np.nonzero(showing)
    people = showing[site_idx, period_idx]
    site_idx, period_idx = np.repeat(site_idx, people), np.repeat(period_idx, people)
    early_minutes = rng.normal(habits.mean_early_minutes[site_idx], params.early_sd_minutes)
    minute = np.clip(np.rint(period_idx * PERIOD_MINUTES - early_minutes), 0, DAY_MINUTES - 1).astype(np.int64)
    flat = np.bincount(site_idx * DAY_MINUTES + minute, minlength=len(booked_people) * DAY_MINUTES)
    return flat.reshape(len(booked_people), DAY_MINUTES)


def walk_ins_per_minute(weights: FloatArray, booked_people: IntArray, habits: SiteHabits) -> FloatArray:
    """Expected walk-ins a minute by period, (S, 288), such that they are the habit's share of those who come."""
    showing = booked_people * (1 - habits.no_show_share)
    day_people = showing * habits.walk_in_share / (1 - habits.walk_in_share)
    return weights * day_people[:, None] / PERIOD_MINUTES
