"""Arrivals that follow from appointments: thinned by no-shows, moved by punctuality, with walk-ins on top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.state import CityState
from doseflow.units import PERIOD_MINUTES

BIN_MINUTES = HORIZON_PERIODS * PERIOD_MINUTES / BOOKING_BINS
"""Length of a booking bin."""
MOST_WALK_INS_SHARE = 0.9
"""Above this share the bookings say too little of the arrivals to be scaled up."""
_EDGES_MINUTES: FloatArray = np.arange(HORIZON_PERIODS + 1, dtype=np.float64) * PERIOD_MINUTES


@dataclass(frozen=True, slots=True)
class BookingParams:
    """What is assumed of bookings where the site does not say; reasons in docs/background/forecast-and-rules.md."""

    assumed_no_show_share: float = 0.05
    """Share of booked people who do not come, where a site does not tell."""
    assumed_walk_in_share: float = 0.1
    """Share of arrivals without an appointment, where a site does not tell."""
    assumed_early_minutes: float = 15.0
    """How early booked people come on average, where a site does not tell; negative is late."""
    dispersion: float = 1.3
    """Variance over mean of five-minute arrivals around their booked expectation."""
    widening: float = 1.2
    """Factor on the dispersion for each of the three histories that is assumed."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("assumed_no_show_share", 0, MOST_WALK_INS_SHARE),
            ("assumed_walk_in_share", 0, MOST_WALK_INS_SHARE),
            ("assumed_early_minutes", -60, 60),
            ("dispersion", 1, 10),
            ("widening", 1, 10),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")


def booked_arrivals(state: CityState, params: BookingParams) -> tuple[FloatArray, FloatArray]:
    """
    Expected arrivals from bookings, (S, T), NaN where bookings are unknown, and their dispersion, (S,).

    Someone booked for `tau` arrives at `tau - mean_early_minutes`, so a period takes the bookings that lie that much
    later; past either end of the two known hours the outermost bin is taken to go on.
    """
    no_show = _or_assumed(state.no_show_share, params.assumed_no_show_share)
    walk_ins = np.minimum(_or_assumed(state.walk_in_share, params.assumed_walk_in_share), MOST_WALK_INS_SHARE)
    early = _or_assumed(state.mean_early_minutes, params.assumed_early_minutes)
    booked = _people_per_period(state.booked_people, early)
    expected = booked * ((1 - no_show) / (1 - walk_ins))[:, None]
    histories = np.stack([state.no_show_share, state.walk_in_share, state.mean_early_minutes])
    num_assumed = np.isnan(histories).sum(axis=0)
    return expected, params.dispersion * params.widening**num_assumed


def _or_assumed(values: FloatArray, assumed: float) -> FloatArray:
    return np.where(np.isnan(values), assumed, values)


def _people_per_period(booked_people: FloatArray, early_minutes: FloatArray) -> FloatArray:
    """Spread bins evenly and cut them into periods that lie `early_minutes` later, (S, T)."""
    cumulative = np.zeros((len(booked_people), BOOKING_BINS + 1))
    np.cumsum(booked_people, axis=1, out=cumulative[:, 1:])
    position = (_EDGES_MINUTES + early_minutes[:, None]) / BIN_MINUTES
    bin_idx = np.clip(np.floor(position), 0, BOOKING_BINS - 1).astype(np.int64)
    reached = np.take_along_axis(cumulative, bin_idx, axis=1)
    reached += (position - bin_idx) * np.take_along_axis(booked_people, bin_idx, axis=1)
    return np.diff(reached, axis=1)
