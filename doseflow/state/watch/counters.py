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

SLACK_MINUTES = 2.0


@dataclass(frozen=True)
class Counters:
    """Excursion minutes of each fridge, when, and its row, (N,), with the lots that then lay there."""

    excursion_minutes: FloatArray
    valid: FloatArray
    row: IntArray
    lots: LotTable


def counters_of(readings: FridgeReadings, state: CityState) -> Counters:
    """The counters of a state."""
    valid = np.where(np.isnan(readings.excursion_minutes), np.nan, readings.valid)
    return Counters(readings.excursion_minutes, valid, readings.row, state.lots)


def counter_findings(before: Counters, now: Counters, axis: FridgeAxis) -> Iterator[Finding]:
    """Counters that cannot be right."""
    passed = now.valid - before.valid
    gained = now.excursion_minutes - before.excursion_minutes
    is_new = passed > 0
    is_wrong = is_new & ((gained < -SLACK_MINUTES) | (gained > passed + SLACK_MINUTES))
    for fridge in np.flatnonzero(is_wrong).tolist():
        # Another lot in the fridge has another past, and a lot that left takes its own along.
        lots = _lots_in(now.lots, int(now.row[fridge]))
        if not lots or lots != _lots_in(before.lots, int(before.row[fridge])):
            continue
        evidence = {
            "before_minutes": float(before.excursion_minutes[fridge]),
            "excursion_minutes": float(now.excursion_minutes[fridge]),
            "passed_minutes": float(passed[fridge]),
        }
        site_idx, valid = int(axis.site_idx[fridge]), float(now.valid[fridge])
        yield Finding(AnomalyKind.COUNTER_BACK, FeatureClass.FRIDGES, site_idx, valid, evidence, fridge)


def _lots_in(lots: LotTable, fridge_row: int) -> frozenset[str]:
    return frozenset(lots.lot_number[row] for row in np.flatnonzero(lots.fridge_row == fridge_row).tolist())
