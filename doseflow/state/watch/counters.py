"""
Excursion minutes count the time that a fridge's content has spent outside its band: with the same lots inside they go
on no faster than the clock, and never back. There is no chance in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.state import CityState, LotTable
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.fridge_readings import FridgeAxis, FridgeReadings
from doseflow.units import PERIOD_MINUTES

SLACK_MINUTES = 2.0
MOST_WRONG_MINUTES = 720.0
"""A counter that stays off so long is taken for the truth."""


@dataclass(frozen=True)
class Counters:
    """
    Excursion minutes last believed of each fridge and when they were told, (N,); since when the counter is wrong, NaN
    where it is not, and what it says then; with the rows of the fridges and the lots that last lay there.
    """

    excursion_minutes: FloatArray
    valid: FloatArray
    wrong_since: FloatArray
    told_minutes: FloatArray
    row: IntArray
    lots: LotTable


def no_counters(num_fridges: int, lots: LotTable) -> Counters:
    """Nothing was read yet."""
    unknown = np.full(num_fridges, np.nan)
    return Counters(unknown, unknown, unknown, unknown, np.full(num_fridges, -1, np.int64), lots)


def go_on_counters(previous: Counters, readings: FridgeReadings, state: CityState) -> Counters:
    """Counters after a cycle; what is wrong stays measured by what was believed before."""
    told, valid = readings.excursion_minutes, readings.valid
    is_told = ~np.isnan(told + valid)
    passed = np.where(np.isnan(previous.wrong_since), valid - previous.valid, PERIOD_MINUTES)
    gained = told - previous.excursion_minutes
    is_off = is_told & (passed > 0) & ((gained < -SLACK_MINUTES) | (gained > passed + SLACK_MINUTES))
    is_off &= ~(valid - previous.wrong_since > MOST_WRONG_MINUTES)
    for fridge in np.flatnonzero(is_off).tolist():
        # Another lot in the fridge has another past, and a lot that left takes its own along.
        lots = _lots_in(state.lots, int(readings.row[fridge]))
        is_off[fridge] = bool(lots) and lots == _lots_in(previous.lots, int(previous.row[fridge]))
    is_believed = is_told & ~is_off
    since = np.where(np.isnan(previous.wrong_since), valid, previous.wrong_since)
    return Counters(
        excursion_minutes=np.where(is_believed, told, previous.excursion_minutes),
        valid=np.where(is_believed, valid, previous.valid),
        wrong_since=np.where(is_off, since, np.where(is_told, np.nan, previous.wrong_since)),
        told_minutes=told,
        row=readings.row,
        lots=state.lots,
    )


def counter_findings(counters: Counters, axis: FridgeAxis, readings: FridgeReadings) -> Iterator[Finding]:
    """Counters that cannot be right, at sites that report."""
    for fridge in np.flatnonzero(~np.isnan(counters.wrong_since) & readings.site_reports).tolist():
        since = float(counters.wrong_since[fridge])
        evidence = {
            "before_minutes": float(counters.excursion_minutes[fridge]),
            "excursion_minutes": float(counters.told_minutes[fridge]),
            "passed_minutes": float(readings.valid[fridge] - counters.valid[fridge]),
        }
        site_idx = int(axis.site_idx[fridge])
        yield Finding(AnomalyKind.COUNTER_BACK, FeatureClass.FRIDGES, site_idx, since, evidence, fridge)


def _lots_in(lots: LotTable, fridge_row: int) -> frozenset[str]:
    return frozenset(lots.lot_number[row] for row in np.flatnonzero(lots.fridge_row == fridge_row).tolist())
