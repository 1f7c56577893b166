"""Classes 15 and 16: a row a fridge, temperatures from the newest report that tells them, volumes likewise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from doseflow.domain.city import City, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import FridgeReading, Power
from doseflow.domain.state import FridgeTable
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.table_rows import Column, merge_rows, rows_of_other_sites


def read_fridges(
    previous: FridgeTable, batch: ReportBatch, newest: NewestReadings, needed: Iterable[tuple[int, str]], city: City
) -> FridgeTable:
    """
    Fridges after the fold.

    A site that tells its fridges anew has exactly those, and the ones in `needed` (site and id), in which lots are said
    to lie. Set-points and volumes that nobody told come from the city file.
    """
    sites = np.flatnonzero((newest.row[:, [FeatureClass.FRIDGES, FeatureClass.COLD_VOLUME]] >= 0).any(axis=1))
    columns = fridge_columns(previous)
    if len(sites):
        is_kept = rows_of_other_sites(previous.site_idx, sites, len(newest.row))
        told = _told_columns(previous, batch, newest, sites)
        columns = merge_rows([column[is_kept] for column in columns], told)
    present = set(zip(columns[0].tolist(), columns[1].tolist(), strict=True))
    missing = [key for key in dict.fromkeys(needed) if key not in present]
    if missing:
        columns = merge_rows(columns, _unknown_columns(missing))
    return _table(columns, city)


def fridge_columns(fridges: FridgeTable) -> list[Column]:
    """The columns of the table, the site first and the id second."""
    return [
        fridges.site_idx,
        np.array(fridges.fridge_id, dtype=object),
        fridges.temperature_celsius,
        fridges.set_point_celsius,
        fridges.excursion_minutes,
        fridges.power_on,
        fridges.volume_used_litres,
        fridges.volume_possible_litres,
    ]


def _unknown_columns(places: Sequence[tuple[int, str]]) -> list[Column]:
    site_idx, fridge_id = zip(*places, strict=True)
    unknown = np.full(len(places), np.nan)
    return [np.array(site_idx, dtype=np.int64), np.array(fridge_id, dtype=object), *(unknown,) * 6]


def _told_columns(previous: FridgeTable, batch: ReportBatch, newest: NewestReadings, sites: IntArray) -> list[Column]:
    temperature_rows = newest.row[sites, FeatureClass.FRIDGES].tolist()
    volume_rows = newest.row[sites, FeatureClass.COLD_VOLUME].tolist()
    told: list[Sequence[FridgeReading]] = []
    for site_idx, temperature_row, volume_row in zip(sites.tolist(), temperature_rows, volume_rows, strict=True):
        if temperature_row == volume_row:
            told.append(batch.reports[temperature_row].fridges or ())
        else:
            told.append(_joined(previous, batch, site_idx, temperature_row, volume_row))
    fridges = [one for site_fridges in told for one in site_fridges]
    return [
        np.repeat(sites, [len(site_fridges) for site_fridges in told]),
        np.array([one.fridge_id for one in fridges], dtype=object),
        np.array([one.temperature_celsius for one in fridges], dtype=np.float64),
        np.array([one.set_point_celsius for one in fridges], dtype=np.float64),
        np.array([one.excursion_minutes for one in fridges], dtype=np.float64),
        np.array([None if one.power is None else one.power is Power.ON for one in fridges], dtype=np.float64),
        np.array([one.volume_used_litres for one in fridges], dtype=np.float64),
        np.array([one.volume_possible_litres for one in fridges], dtype=np.float64),
    ]


def _joined(
    previous: FridgeTable, batch: ReportBatch, site_idx: int, temperature_row: int, volume_row: int
) -> list[FridgeReading]:
    """Fridges of a site whose temperatures and volumes come from two reports, or one from the previous state."""
    known = _known(previous, site_idx)
    temperatures = _by_id(batch.reports[temperature_row].fridges) if temperature_row >= 0 else known
    volumes = _by_id(batch.reports[volume_row].fridges) if volume_row >= 0 else known
    newest_list = batch.reports[max(temperature_row, volume_row)].fridges or ()
    joined = []
    for fridge_id in (one.fridge_id for one in newest_list):
        temperature = temperatures.get(fridge_id, FridgeReading(fridge_id))
        volume = volumes.get(fridge_id, FridgeReading(fridge_id))
        used, possible = volume.volume_used_litres, volume.volume_possible_litres
        joined.append(replace(temperature, volume_used_litres=used, volume_possible_litres=possible))
    return joined


def _by_id(fridges: Sequence[FridgeReading] | None) -> dict[str, FridgeReading]:
    return {one.fridge_id: one for one in fridges or ()}


def _known(previous: FridgeTable, site_idx: int) -> dict[str, FridgeReading]:
    """What the previous state says of a site's fridges; its NaN stays NaN."""
    known = {}
    for row in np.flatnonzero(previous.site_idx == site_idx).tolist():
        power_on = previous.power_on[row]
        known[previous.fridge_id[row]] = FridgeReading(
            previous.fridge_id[row],
            temperature_celsius=float(previous.temperature_celsius[row]),
            set_point_celsius=float(previous.set_point_celsius[row]),
            excursion_minutes=float(previous.excursion_minutes[row]),
            power=None if np.isnan(power_on) else (Power.ON if power_on else Power.OFF),
            volume_used_litres=float(previous.volume_used_litres[row]),
            volume_possible_litres=float(previous.volume_possible_litres[row]),
        )
    return known


def _table(columns: Sequence[Column], city: City) -> FridgeTable:
    site_idx, fridge_id, temperature, set_point, excursion, power_on, used, possible = columns
    set_point, possible = set_point.copy(), possible.copy()
    for row in np.flatnonzero(np.isnan(set_point) | np.isnan(possible)).tolist():
        nominal = city.fridges_by_id[site_idx[row]].get(fridge_id[row])
        if nominal is not None:
            set_point[row] = nominal.set_point_celsius if np.isnan(set_point[row]) else set_point[row]
            possible[row] = nominal.volume_litres if np.isnan(possible[row]) else possible[row]
    return FridgeTable(site_idx, tuple(fridge_id.tolist()), temperature, set_point, excursion, power_on, used, possible)
