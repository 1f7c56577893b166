"""Stuck counts: arrivals, people waiting, doses given, observed wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.runs import Runs, go_on, most_likely_repeat, no_runs
from doseflow.state.watch.told import Told, or_nought

NUM_SIZES = 32
"""Sizes of a count that are told apart; the last stands for all above."""
CLASSES = (
    FeatureClass.ARRIVALS,
    FeatureClass.WAITING_BY_STAGE,
    FeatureClass.DOSES_GIVEN,
    FeatureClass.OBSERVED_WAIT,
)
_STAGE_CODE = np.array([1.0, 1e3, 1e6, 1e9])
_UNSURE_PRIOR = 0.5
"""Chance of a repeat of queues and waits before any is learned; assumed."""


@dataclass(frozen=True)
class StuckCounts:
    """A run for each of `CLASSES`, over the sites."""

    runs: tuple[Runs, ...]


def no_stuck_counts(num_sites: int) -> StuckCounts:
    """Nothing was read yet."""
    return StuckCounts(tuple(no_runs(num_sites, NUM_SIZES) for _ in CLASSES))


def go_on_counts(previous: StuckCounts, told: Told, params: WatchParams) -> StuckCounts:
    """Runs of the counts after a cycle."""
    now = told.now
    people = or_nought(now.waiting.sum(axis=1))
    moves = (or_nought(now.arrivals) > 0) | (or_nought(now.doses) > 0)
    # A queue may stand still where nobody moves, and a count of nobody says nothing.
    columns = (
        (now.arrivals, now.arrivals > 0, _size(now.arrivals)),
        (now.waiting @ _STAGE_CODE, moves, _size(people)),
        (now.doses, now.doses > 0, _size(now.doses)),
        (now.wait_minutes, (now.wait_minutes > 0) & moves, _size(now.wait_minutes)),
    )
    runs = tuple(
        _go_on(runs, column, told, feature_class, params)
        for runs, column, feature_class in zip(previous.runs, columns, CLASSES, strict=True)
    )
    return StuckCounts(runs)


def _go_on(
    runs: Runs,
    column: tuple[FloatArray, BoolArray, IntArray],
    told: Told,
    feature_class: FeatureClass,
    params: WatchParams,
) -> Runs:
    value, speaks, size = column
    return go_on(
        runs,
        value,
        told.now.valid[:, feature_class],
        told.is_new[:, feature_class],
        speaks=speaks,
        size=size,
        prior=_prior(feature_class, params),
        strength=params.pooled_strength,
        exponent=params.caution_exponent,
    )


def _prior(feature_class: FeatureClass, params: WatchParams) -> FloatArray:
    counts = np.arange(NUM_SIZES, dtype=np.float64)
    if feature_class is FeatureClass.ARRIVALS:
        return most_likely_repeat(counts, params.least_dispersion_arrivals)
    if feature_class is FeatureClass.DOSES_GIVEN:
        return most_likely_repeat(counts, params.least_dispersion_doses)
    return np.full(NUM_SIZES, _UNSURE_PRIOR)


def _size(value: FloatArray) -> IntArray:
    return np.clip(or_nought(value), 0, NUM_SIZES - 1).astype(np.int64)


def stuck_findings(stuck: StuckCounts, told: Told, params: WatchParams) -> Iterator[Finding]:
    """Runs too long to be chance, that were told anew."""
    values = (told.now.arrivals, told.now.waiting.sum(axis=1), told.now.doses, told.now.wait_minutes)
    for runs, feature_class, value in zip(stuck.runs, CLASSES, values, strict=True):
        is_stuck = told.is_new[:, feature_class] & (-runs.log_chance > params.log_threshold)
        for site_idx in np.flatnonzero(is_stuck).tolist():
            evidence = {"value": float(value[site_idx]), "readings": float(runs.length[site_idx] + 1)}
            yield Finding(AnomalyKind.STUCK_READING, feature_class, site_idx, float(runs.since[site_idx]), evidence)
