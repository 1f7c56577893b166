"""The fridges of the city file on an axis of their own, N, and what a state says of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.feature_classes import SITE_SPEAKS, FeatureClass
from doseflow.domain.state import CityState
from doseflow.state.watch.told import Told, or_nought


@dataclass(frozen=True)
class FridgeAxis:
    """Site position and id of each fridge; `site_idx` is (N,)."""

    keys: tuple[tuple[int, str], ...]
    site_idx: IntArray


@dataclass(frozen=True)
class FridgeReadings:
    """
    What a state says, each (N,), NaN unknown.

    `row` is the row in the state's table, -1 for none; `valid` belongs to the temperature, NaN where none is known;
    `site_reports` says whether the site told anything since the last cycle, `doses` how many it gave.
    """

    row: IntArray
    temperature_celsius: FloatArray
    set_point_celsius: FloatArray
    excursion_minutes: FloatArray
    valid: FloatArray
    site_reports: BoolArray
    doses: FloatArray


def fridge_axis(city: City) -> FridgeAxis:
    """The fridges in the order of the city file."""
    keys = tuple((idx, fridge.fridge_id) for idx, site in enumerate(city.sites) for fridge in site.fridges)
    return FridgeAxis(keys, np.array([idx for idx, _ in keys], dtype=np.int64))


def fridge_readings(axis: FridgeAxis, state: CityState, told: Told) -> FridgeReadings:
    """Line the rows of a state up with the axis; a fridge that the city file does not name is not watched."""
    table, site_idx = state.fridges, axis.site_idx
    keys = zip(table.site_idx.tolist(), table.fridge_id, strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    row = np.array([row_of.get(key, -1) for key in axis.keys], dtype=np.int64)
    temperature = _at(table.temperature_celsius, row)
    of_class, own = state.valid_epoch_minutes[site_idx, FeatureClass.FRIDGES], _at(table.temperature_epoch_minutes, row)
    valid = np.where(np.isnan(own), of_class, own)
    return FridgeReadings(
        row=row,
        temperature_celsius=temperature,
        set_point_celsius=_at(table.set_point_celsius, row),
        excursion_minutes=_at(table.excursion_minutes, row),
        valid=np.where(np.isnan(temperature), np.nan, valid),
        site_reports=np.any(told.is_new[:, SITE_SPEAKS], axis=1)[site_idx],
        doses=or_nought(told.now.doses)[site_idx],
    )


def _at(column: FloatArray, row: IntArray) -> FloatArray:
    return np.where(row >= 0, column[row], np.nan) if len(column) else np.full(len(row), np.nan)
