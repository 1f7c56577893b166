"""
Temperatures that jump.

A temperature falls back to its set-point with a time constant, warms slowly when the fridge stands still, and rises a
little with each dose fetched: what some minutes can do is a band. Noise of the fridge's own size, learned from its
readings, lies on both sides of it. A reading further off has jumped. The reading before a jump stays the measure, so an
offset lasts until it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.fridge_readings import FridgeAxis, FridgeReadings
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.told import or_nought
from doseflow.units import PERIOD_MINUTES

TYPICAL_COOLING_MINUTES = 20.0
LEAST_SD_CELSIUS = 0.05
FORGET_READINGS = 288.0
MOST_MINUTES_APART = 30.0
"""A reading is compared with one at most so much older; after a longer silence it is taken as it is."""
MOST_JUMP_MINUTES = 720.0
"""An offset that stays so long is taken for the truth."""


@dataclass(frozen=True)
class Temperatures:
    """
    Of each fridge, (N,): the reading last believed and when, the variance of one period's noise and the readings it
    rests on, and since when it is off, NaN where it is not, and by how much.
    """

    celsius: FloatArray
    valid: FloatArray
    variance: FloatArray
    num_readings: FloatArray
    jump_since: FloatArray
    jump_celsius: FloatArray


def no_temperatures(num_fridges: int, params: WatchParams) -> Temperatures:
    """Nothing was read yet."""
    unknown = np.full(num_fridges, np.nan)
    return Temperatures(
        celsius=unknown,
        valid=unknown,
        variance=np.full(num_fridges, params.fridge_sd_celsius**2),
        num_readings=np.full(num_fridges, params.fridge_strength),
        jump_since=unknown,
        jump_celsius=np.zeros(num_fridges),
    )


def go_on_temperatures(
    previous: Temperatures, readings: FridgeReadings, last_valid: FloatArray, params: WatchParams
) -> Temperatures:
    """Temperatures after a cycle; `last_valid` is when each fridge was last told, (N,), NaN never."""
    reading, valid = readings.temperature_celsius, readings.valid
    is_new = ~np.isnan(valid) & (np.isnan(last_valid) | (valid > last_valid))
    is_off_before = ~np.isnan(previous.jump_since)
    minutes = np.where(is_off_before, PERIOD_MINUTES, or_nought(valid - previous.valid))
    is_comparable = is_new & ~np.isnan(previous.celsius) & (minutes <= MOST_MINUTES_APART)
    is_comparable &= ~(is_off_before & (valid - previous.jump_since > MOST_JUMP_MINUTES))
    off = or_nought(_off_band(previous.celsius, minutes, readings, params))
    periods = np.maximum(minutes / PERIOD_MINUTES, 1.0)
    allowed = params.normal_threshold * np.sqrt(previous.variance * periods) + LEAST_SD_CELSIUS
    is_off = is_comparable & (np.abs(off) > allowed)
    is_believed = is_new & ~is_off
    variance, num_readings = _learned(previous, readings, minutes, is_believed & is_comparable & ~is_off_before)
    since = np.where(is_off_before, previous.jump_since, valid)
    return Temperatures(
        celsius=np.where(is_believed, reading, previous.celsius),
        valid=np.where(is_believed, valid, previous.valid),
        variance=variance,
        num_readings=num_readings,
        jump_since=np.where(is_off, since, np.where(is_new, np.nan, previous.jump_since)),
        jump_celsius=np.where(is_off, off, previous.jump_celsius),
    )


def _off_band(before: FloatArray, minutes: FloatArray, readings: FridgeReadings, params: WatchParams) -> FloatArray:
    """Degrees above or below what physics allows after so many minutes, (N,); 0 inside."""
    aim = np.where(np.isnan(readings.set_point_celsius), before, readings.set_point_celsius)
    cooled = aim + (before - aim) * np.exp(-minutes / params.cooling_minutes)
    warmed = params.warming_celsius_per_minute * minutes + params.door_celsius_per_dose * readings.doses
    low, high = np.minimum(before, cooled), np.maximum(before, cooled) + warmed
    off: FloatArray = readings.temperature_celsius - np.clip(readings.temperature_celsius, low, high)
    return off


def _learned(
    previous: Temperatures, readings: FridgeReadings, minutes: FloatArray, is_learned: BoolArray
) -> tuple[FloatArray, FloatArray]:
    aim = np.where(np.isnan(readings.set_point_celsius), previous.celsius, readings.set_point_celsius)
    expected = aim + (previous.celsius - aim) * np.exp(-minutes / TYPICAL_COOLING_MINUTES)
    squared = or_nought(readings.temperature_celsius - expected) ** 2
    num_readings = np.where(is_learned, np.minimum(previous.num_readings + 1, FORGET_READINGS), previous.num_readings)
    variance = previous.variance + np.where(is_learned, (squared - previous.variance) / num_readings, 0.0)
    return np.maximum(variance, LEAST_SD_CELSIUS**2), num_readings


def jump_findings(
    temperatures: Temperatures, axis: FridgeAxis, readings: FridgeReadings, last_valid: FloatArray
) -> Iterator[Finding]:
    """Fridges whose newest reading is off."""
    is_new = ~np.isnan(readings.valid) & (np.isnan(last_valid) | (readings.valid > last_valid))
    for fridge in np.flatnonzero(is_new & ~np.isnan(temperatures.jump_since)).tolist():
        evidence = {
            "before_celsius": float(temperatures.celsius[fridge]),
            "temperature_celsius": float(readings.temperature_celsius[fridge]),
        }
        yield Finding(
            AnomalyKind.TEMPERATURE_JUMP,
            FeatureClass.FRIDGES,
            int(axis.site_idx[fridge]),
            float(temperatures.jump_since[fridge]),
            evidence,
            fridge,
        )
