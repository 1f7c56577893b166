"""
What the arrival net is fed: three plain expectations of every period, how the last two hours differed from them, the 17
classes, the calendar, and who is whose neighbour.

Every value stands beside whether it is known, and every class beside its age, so that the net can lean on what is left
when reports stop. The channels of each array are named below in their order. Axes: B is 1, P sites of the bucket (S
padded), T periods.
"""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.encoding.city_features import FEATURES, FEATURES_SCHEMA_VERSION, encode_city
from doseflow.forecast.booked_arrivals import BookingParams
from doseflow.forecast.booked_curve import booked_curve
from doseflow.forecast.opening_periods import open_periods, opening_window_minutes
from doseflow.forecast.weekly_pattern import weekly_pattern
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

NET_INPUTS_VERSION = 100 + FEATURES_SCHEMA_VERSION
"""Raised whenever channels, order or scales change: a net made for another version must not be fed."""

NET_INPUT_AXES = {
    "recent": "B S T F",
    "ahead": "B S T F",
    "candidates": "B S T M",
    "candidates_known": "B S T M",
    "site": "B S F",
    "rest_doses": "B S",
    "site_mask": "B S",
    "neighbour_idx": "B S N",
    "neighbour_travel": "B S N",
    "neighbour_known": "B S N",
}
"""Axes of each array, in the order that the net takes them; T of `recent` is as many periods back as `ahead` looks."""

CANDIDATES = ("booked", "past_weeks", "lately")
RECENT_CHANNELS = (
    "arrivals_known",
    "arrivals_log",
    "against_booked",
    "against_booked_known",
    "against_past_weeks",
    "against_past_weeks_known",
)
AHEAD_CHANNELS = (
    "booked_log",
    "booked_known",
    "past_weeks_log",
    "past_weeks_known",
    "rate_variance",
    "is_open",
    "day_sine",
    "day_cosine",
    "ahead_share",
)
NUM_SITE_FEATURES = 2 * len(FEATURES) + NUM_FEATURE_CLASSES
NEIGHBOURS = 8
"""Nearest neighbours the net looks at."""
BUCKETS = (16, 32, 64, 96, 128, 160, 208, 256, 320, 416, 512, 640, 832, 1024, 1280, 1664, 2048, 2560, 3328, 4096)
"""
Sites a net is fed at a time: the smallest that holds the city, so that engines see few shapes and few places are empty:
a city of 200 in a bucket of 256 takes a quarter longer.
"""

Inputs = dict[str, NDArray[Any]]

_WEEK_DECAY, _ASSUMED_RATE_VARIANCE = 0.7, 0.1
_LATELY_PERIODS = 12
_LOG_SCALE, _RESIDUAL_CUT = 3.0, 6.0
_TRAVEL_SCALE_MINUTES = 30.0
_MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR


def net_inputs(state: CityState, params: BookingParams, *, num_padded: int | None = None) -> Inputs:
    """
    The arrays that the net takes, by name, float32 but for `neighbour_idx`.

    `recent` (1, P, 24, C), `ahead` (1, P, 24, C), `candidates` and `candidates_known` (1, P, 24, M), `site` (1, P, F),
    `rest_doses` (1, P), `site_mask` (1, P), `neighbour_idx`, `neighbour_travel`, `neighbour_known` (1, P, N).
    """
    booked = booked_curve(state, params)
    past, rate_variance = _past_weeks(state)
    starts, ends = opening_window_minutes(state)
    is_open = open_periods(starts, ends)
    candidates = _candidates(state, booked, past)
    arrays = {
        "recent": _recent(state, booked, past),
        "ahead": _ahead(state, booked, past, rate_variance, is_open),
        "candidates": np.nan_to_num(candidates) * is_open[..., None],
        "candidates_known": np.isfinite(candidates),
        "site": _site(state),
        "rest_doses": _rest_doses(state, candidates, is_open, ends),
        "site_mask": np.ones(len(booked)),
    }
    padded = num_padded or bucket_of(len(booked))
    return {name: _padded(array, padded)[None] for name, array in arrays.items()} | _neighbours(state, padded)


def bucket_of(num_sites: int) -> int:
    """Sites of the bucket that holds a city; a city beyond the largest is its own bucket."""
    return next((bucket for bucket in BUCKETS if bucket >= num_sites), num_sites)


def _past_weeks(state: CityState) -> tuple[FloatArray, FloatArray]:
    """Mean of past weeks over the last and the coming two hours, (S, 2T), and the rate's variance, (S,)."""
    weeks = np.concatenate([state.recent.past_weeks_people, state.arrivals_past_weeks_people], axis=2)
    pattern = weekly_pattern(weeks, _WEEK_DECAY, _ASSUMED_RATE_VARIANCE)
    return pattern.mean_people, pattern.rate_variance


def _candidates(state: CityState, booked: FloatArray, past: FloatArray) -> FloatArray:
    """Plain expectations, (S, T, M), NaN where one cannot be had."""
    lately = state.recent.arrivals_people[:, -_LATELY_PERIODS:]
    known = np.isfinite(lately)
    num_known = known.sum(axis=1)
    rate = np.where(known, lately, 0.0).sum(axis=1) / np.where(num_known > 0, num_known, np.nan)
    rate = np.where(num_known > 0, rate, state.arrivals_people)
    held = np.broadcast_to(rate[:, None], (len(rate), HORIZON_PERIODS))
    return np.stack([booked[:, HORIZON_PERIODS:], past[:, HORIZON_PERIODS:], held], axis=-1)


def _recent(state: CityState, booked: FloatArray, past: FloatArray) -> FloatArray:
    arrived = state.recent.arrivals_people
    against_booked = _surprise(arrived, booked[:, :HORIZON_PERIODS])
    against_past = _surprise(arrived, past[:, :HORIZON_PERIODS])
    channels = [
        np.isfinite(arrived),
        np.log1p(arrived) / _LOG_SCALE,
        against_booked,
        np.isfinite(against_booked),
        against_past,
        np.isfinite(against_past),
    ]
    stacked: FloatArray = np.nan_to_num(np.stack(channels, axis=-1))
    return stacked


def _surprise(arrived: FloatArray, expected: FloatArray) -> FloatArray:
    """How far arrivals lay from what was expected, in standard deviations of a Poisson count."""
    surprise: FloatArray = np.clip((arrived - expected) / np.sqrt(expected + 1), -_RESIDUAL_CUT, _RESIDUAL_CUT)
    return surprise


def _ahead(
    state: CityState, booked: FloatArray, past: FloatArray, rate_variance: FloatArray, is_open: BoolArray
) -> FloatArray:
    local = state.as_of.astimezone(ZoneInfo(state.city.timezone))
    minutes = local.hour * MINUTES_PER_HOUR + local.minute + np.arange(HORIZON_PERIODS) * PERIOD_MINUTES
    angle = 2 * np.pi * minutes / _MINUTES_PER_DAY
    share = np.arange(1, HORIZON_PERIODS + 1) / HORIZON_PERIODS
    coming_booked, coming_past = booked[:, HORIZON_PERIODS:], past[:, HORIZON_PERIODS:]
    channels = [
        np.log1p(coming_booked) / _LOG_SCALE,
        np.isfinite(coming_booked),
        np.log1p(coming_past) / _LOG_SCALE,
        np.isfinite(coming_past),
        rate_variance[:, None],
        is_open,
        np.sin(angle),
        np.cos(angle),
        share,
    ]
    stacked: FloatArray = np.nan_to_num(np.stack([np.broadcast_to(one, is_open.shape) for one in channels], axis=-1))
    return stacked


def _site(state: CityState) -> FloatArray:
    encoded = encode_city(state)
    return np.concatenate([encoded.values, encoded.known, encoded.age], axis=1)


def _rest_doses(state: CityState, candidates: FloatArray, is_open: BoolArray, ends: FloatArray) -> FloatArray:
    """A plain expectation of the doses still to be given today, (S,): who waits, who comes, and so on until closing."""
    mean = candidates[..., 0]
    for other in (1, 2):
        mean = np.where(np.isnan(mean), candidates[..., other], mean)
    in_horizon = np.where(is_open, np.nan_to_num(mean), 0.0).sum(axis=1)
    num_open = is_open.sum(axis=1)
    beyond = np.where(np.isfinite(ends), ends - HORIZON_PERIODS * PERIOD_MINUTES, 0.0)
    rate = in_horizon / (np.maximum(num_open, 1) * PERIOD_MINUTES)
    waiting = np.nansum(state.waiting_people[:, :OBSERVATION_IDX], axis=1)
    rest: FloatArray = in_horizon + rate * np.maximum(beyond, 0.0) + waiting
    return rest


def _neighbours(state: CityState, padded: int) -> Inputs:
    city = state.city
    idx, travel = city.neighbour_idx[:, :NEIGHBOURS], city.neighbour_travel_minutes[:, :NEIGHBOURS]
    short = NEIGHBOURS - idx.shape[1]
    idx = np.pad(idx, ((0, padded - len(idx)), (0, short)), constant_values=-1)
    travel = np.pad(travel, ((0, padded - len(travel)), (0, short)), constant_values=np.nan)
    known = idx >= 0
    return {
        "neighbour_idx": np.where(known, idx, 0).astype(np.int64)[None],
        "neighbour_travel": np.nan_to_num(travel / _TRAVEL_SCALE_MINUTES).astype(np.float32)[None],
        "neighbour_known": known.astype(np.float32)[None],
    }


def _padded(array: NDArray[Any], padded: int) -> NDArray[np.float32]:
    width = ((0, padded - len(array)), *((0, 0) for _ in array.shape[1:]))
    return np.pad(array.astype(np.float32), width)
