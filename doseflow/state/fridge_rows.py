"""Classes 15 and 16: a row a fridge, temperatures from the newest report that tells them, volumes likewise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from doseflow.domain.city import City, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import FridgeReading, Power
from doseflow.domain.state import FridgeTable, alarm_text
from doseflow.state.fridge_sources import ToldFridge, merged_fridges, mixed_sites, reading_of_row
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.table_rows import Column, merge_rows, rows_of_other_sites


def read_fridges(
    previous: FridgeTable,
    batch: ReportBatch,
    newest: NewestReadings,
    needed: Iterable[tuple[int, str]],
    city: City,
    class_at: FloatArray,
) -> FridgeTable:
    """
    Fridges after the fold.

    A site that tells its fridges anew has exactly those, and the ones in `needed` (site and id), in which lots are said
    to lie; a source that speaks for single fridges changes those (`fridge_sources`). Set-points and volumes that nobody
    told come from the city file.

    Parameters
    ----------
    class_at
        Moment of the fridge readings of each site before the fold, (S,), in minutes since 1970; NaN never.
    """
    mixed = mixed_sites(previous, batch)
    told_sites = np.flatnonzero((newest.row[:, [FeatureClass.FRIDGES, FeatureClass.COLD_VOLUME]] >= 0).any(axis=1))
    sites = np.array([idx for idx in told_sites.tolist() if idx not in mixed], dtype=np.int64)
    columns = fridge_columns(previous)
    if len(sites) or mixed:
        told_anew = np.array([*sites.tolist(), *mixed], dtype=np.int64)
        is_kept = rows_of_other_sites(previous.site_idx, told_anew, len(class_at))
        columns = merge_rows([column[is_kept] for column in columns], _told_columns(previous, batch, newest, sites))
    if mixed:
        merged = {idx: merged_fridges(idx, previous, batch, newest, class_at) for idx in sorted(mixed)}
        columns = merge_rows(columns, _merged_columns(merged))
    present = set(zip(columns[0].tolist(), columns[1].tolist(), strict=True))
    missing = [key for key in dict.fromkeys(needed) if key not in present]
    if missing:
        columns = merge_rows(columns, _unknown_columns(missing))
    return _table(columns, city)


def fridge_columns(fridges: FridgeTable) -> list[Column]:
    """The columns of the table in the order of its fields, the site first and the id second."""
    return [
        np.array(value, dtype=object) if isinstance(value, tuple) else value
        for value in (getattr(fridges, one.name) for one in fields(fridges))
    ]


def _unknown_columns(places: Sequence[tuple[int, str]]) -> list[Column]:
    site_idx, fridge_id = zip(*places, strict=True)
    return _columns(np.array(site_idx, dtype=np.int64), [ToldFridge(FridgeReading(one)) for one in fridge_id])


def _told_columns(previous: FridgeTable, batch: ReportBatch, newest: NewestReadings, sites: IntArray) -> list[Column]:
    temperature_rows = newest.row[sites, FeatureClass.FRIDGES].tolist()
    volume_rows = newest.row[sites, FeatureClass.COLD_VOLUME].tolist()
    told: list[Sequence[FridgeReading]] = []
    for site_idx, temperature_row, volume_row in zip(sites.tolist(), temperature_rows, volume_rows, strict=True):
        if temperature_row == volume_row:
            told.append(batch.reports[temperature_row].fridges or ())
        else:
            told.append(_joined(previous, batch, site_idx, temperature_row, volume_row))
    site_idx = np.repeat(sites, [len(site_fridges) for site_fridges in told])
    return _reading_columns(site_idx, [one for site_fridges in told for one in site_fridges])


def _merged_columns(merged: Mapping[int, Sequence[ToldFridge]]) -> list[Column]:
    site_idx = np.repeat(list(merged), [len(fridges) for fridges in merged.values()]).astype(np.int64)
    return _columns(site_idx, [one for fridges in merged.values() for one in fridges])


def _columns(site_idx: IntArray, fridges: Sequence[ToldFridge]) -> list[Column]:
    columns = _reading_columns(site_idx, [one.reading for one in fridges])
    columns[-3:] = [
        np.array([one.temperature_at for one in fridges], dtype=np.float64),
        np.array([one.power_at for one in fridges], dtype=np.float64),
        np.array([one.logger_at for one in fridges], dtype=np.float64),
    ]
    return columns


def _reading_columns(site_idx: IntArray, fridges: Sequence[FridgeReading]) -> list[Column]:
    """Columns of readings that have the moment of their class."""
    no_moment = np.full(len(fridges), np.nan)
    return [
        site_idx,
        np.array([one.fridge_id for one in fridges], dtype=object),
        np.array([one.temperature_celsius for one in fridges], dtype=np.float64),
        np.array([one.set_point_celsius for one in fridges], dtype=np.float64),
        np.array([one.excursion_minutes for one in fridges], dtype=np.float64),
        np.array([None if one.power is None else one.power is Power.ON for one in fridges], dtype=np.float64),
        np.array([one.volume_used_litres for one in fridges], dtype=np.float64),
        np.array([one.volume_possible_litres for one in fridges], dtype=np.float64),
        np.array([one.ambient_celsius for one in fridges], dtype=np.float64),
        np.array([one.door_open for one in fridges], dtype=np.float64),
        np.array([one.door_open_minutes for one in fridges], dtype=np.float64),
        np.array([one.holdover_hours for one in fridges], dtype=np.float64),
        np.array([alarm_text(one.alarms) for one in fridges], dtype=object),
        no_moment,
        no_moment,
        no_moment,
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
    rows = np.flatnonzero(previous.site_idx == site_idx).tolist()
    return {previous.fridge_id[row]: reading_of_row(previous, row) for row in rows}


def _table(columns: Sequence[Column], city: City) -> FridgeTable:
    site_idx, fridge_id = columns[:2]
    values: dict[str, Any] = {one.name: column for one, column in zip(fields(FridgeTable), columns, strict=True)}
    set_point, possible = values["set_point_celsius"].copy(), values["volume_possible_litres"].copy()
    for row in np.flatnonzero(np.isnan(set_point) | np.isnan(possible)).tolist():
        nominal = city.fridges_by_id[site_idx[row]].get(fridge_id[row])
        if nominal is not None:
            set_point[row] = nominal.set_point_celsius if np.isnan(set_point[row]) else set_point[row]
            possible[row] = nominal.volume_litres if np.isnan(possible[row]) else possible[row]
    texts = {name: tuple(values[name].tolist()) for name in ("fridge_id", "alarms")}
    return FridgeTable(**values | texts | {"set_point_celsius": set_point, "volume_possible_litres": possible})
