"""
Dead loggers: the same temperature to the last digit for too long, or silence while the site reports.

Both are runs (see `runs`): of equal readings, whose chance each fridge has for itself round what all fridges show; and
of reports that leave the fridge out, whose chance all fridges share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.fridge_readings import FridgeAxis, FridgeReadings
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.runs import COUNTED_REPEATS, MOST_SURE_CHANCE, Runs, go_on, no_runs
from doseflow.state.watch.told import or_nought

FINE_PRIOR, COARSE_PRIOR = 0.5, 0.9
"""Chance of a repeat before any is learned, of loggers that show tenths of a degree and of those that do not."""
OWN_STRENGTH = 20.0
"""Readings that the chance of all fridges counts for against the fridge's own."""


@dataclass(frozen=True)
class Loggers:
    """
    Of each fridge, (N,): its run of equal readings, whether it ever showed tenths, when it was last told (NaN never),
    and the site's reports that left it out since. `left_out` and `reports` are counts of all fridges together.
    """

    runs: Runs
    shows_tenths: BoolArray
    last_valid: FloatArray
    untold_reports: IntArray
    left_out: float
    reports: float


def no_loggers(num_fridges: int) -> Loggers:
    """Nothing was read yet."""
    return Loggers(
        runs=no_runs(num_fridges, num_fridges),
        shows_tenths=np.zeros(num_fridges, np.bool_),
        last_valid=np.full(num_fridges, np.nan),
        untold_reports=np.zeros(num_fridges, np.int64),
        left_out=0.0,
        reports=0.0,
    )


def go_on_loggers(previous: Loggers, readings: FridgeReadings, params: WatchParams) -> Loggers:
    """Loggers after a cycle."""
    reading, last_valid = readings.temperature_celsius, previous.last_valid
    is_new = ~np.isnan(readings.valid) & (np.isnan(last_valid) | (readings.valid > last_valid))
    shows_tenths = previous.shows_tenths | (is_new & (or_nought(2 * reading) % 1 != 0))
    runs = go_on(
        previous.runs,
        reading,
        readings.valid,
        is_new,
        speaks=np.ones(len(reading), np.bool_),
        size=np.arange(len(reading)),
        prior=_prior(previous, shows_tenths, params),
        strength=OWN_STRENGTH,
        exponent=params.caution_exponent,
    )
    is_left_out = readings.site_reports & ~is_new & ~np.isnan(last_valid)
    is_counted = (is_left_out | (is_new & ~np.isnan(last_valid))) & (previous.untold_reports < COUNTED_REPEATS)
    return Loggers(
        runs=runs,
        shows_tenths=shows_tenths,
        last_valid=np.where(is_new, readings.valid, last_valid),
        untold_reports=np.where(is_new, 0, previous.untold_reports + is_left_out),
        left_out=previous.left_out + float((is_left_out & is_counted).sum()),
        reports=previous.reports + float(is_counted.sum()),
    )


def _prior(previous: Loggers, shows_tenths: BoolArray, params: WatchParams) -> FloatArray:
    """Chance of a repeat of the fridges that show tenths, pooled; the others have no fellows that are like them."""
    runs = previous.runs
    fine = previous.shows_tenths
    trials = runs.trials[fine].sum() + params.pooled_strength
    pooled = (runs.repeats[fine].sum() + params.pooled_strength * FINE_PRIOR) / trials
    return np.where(shows_tenths, pooled, COARSE_PRIOR)


def logger_findings(
    loggers: Loggers, axis: FridgeAxis, readings: FridgeReadings, params: WatchParams
) -> Iterator[Finding]:
    """Loggers that are stuck or silent, at sites that report."""
    is_stuck = (-loggers.runs.log_chance > params.log_threshold) & (loggers.last_valid == readings.valid)
    is_stuck &= readings.site_reports
    left_out = params.silent_share * params.pooled_strength + loggers.left_out
    chance = min(left_out / (params.pooled_strength + loggers.reports), MOST_SURE_CHANCE)
    surprise = -loggers.untold_reports * math.log(max(chance, 1e-3)) * params.caution_exponent
    is_silent = readings.site_reports & (surprise > params.log_threshold)
    for fridge in np.flatnonzero(is_stuck | is_silent).tolist():
        site_idx, last_valid = int(axis.site_idx[fridge]), float(loggers.last_valid[fridge])
        if is_silent[fridge]:
            evidence = {"reports": float(loggers.untold_reports[fridge])}
            yield Finding(AnomalyKind.LOGGER_SILENT, FeatureClass.FRIDGES, site_idx, last_valid, evidence, fridge)
            continue
        evidence = {
            "temperature_celsius": float(loggers.runs.value[fridge]),
            "readings": float(loggers.runs.length[fridge] + 1),
        }
        since = float(loggers.runs.since[fridge])
        yield Finding(AnomalyKind.LOGGER_STUCK, FeatureClass.FRIDGES, site_idx, since, evidence, fridge)
