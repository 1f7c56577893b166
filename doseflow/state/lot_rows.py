"""Classes 13 and 14: a row a lot in a fridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import City, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.state import CityState, FridgeTable, LotTable
from doseflow.state.epoch_minutes import epoch_minutes_of
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.table_rows import Column, merge_rows, rows_of_other_sites
from doseflow.units import epoch_minutes_from_datetime


@dataclass(frozen=True)
class LotRows:
    """Lots with the id of their fridge, before the fridges have rows; columns as in `domain.state.LotTable`."""

    site_idx: IntArray
    fridge_id: Column
    product_idx: IntArray
    lot_number: Column
    unopened_doses: IntArray
    open_vial_doses: IntArray
    expires_epoch_minutes: FloatArray

    @property
    def columns(self) -> list[Column]:
        """The columns, the site first."""
        return [
            self.site_idx,
            self.fridge_id,
            self.product_idx,
            self.lot_number,
            self.unopened_doses,
            self.open_vial_doses,
            self.expires_epoch_minutes,
        ]

    @property
    def places(self) -> list[tuple[int, str]]:
        """Site and fridge of each row."""
        return list(zip(self.site_idx.tolist(), self.fridge_id.tolist(), strict=True))


def known_lots(previous: CityState) -> LotRows:
    """The lots of a state."""
    lots = previous.lots
    fridge_ids = previous.fridges.fridge_id
    return LotRows(
        lots.site_idx,
        np.array([fridge_ids[row] for row in lots.fridge_row.tolist()], dtype=object),
        lots.product_idx,
        np.array(lots.lot_number, dtype=object),
        lots.unopened_doses,
        lots.open_vial_doses,
        lots.expires_epoch_minutes,
    )


def read_lots(known: LotRows, batch: ReportBatch, newest: NewestReadings, city: City) -> LotRows:
    """Lots after the fold: sites that tell theirs anew have exactly those; an expiry once told stays with its lot."""
    sites, rows = newest.sites_of(FeatureClass.DOSES_ON_HAND)
    columns = known.columns
    if len(sites):
        is_kept = rows_of_other_sites(known.site_idx, sites, len(newest.row))
        columns = merge_rows([column[is_kept] for column in columns], _lot_columns(batch, sites, rows, city))
    lots = LotRows(*columns)
    unknown_rows = np.flatnonzero(np.isnan(lots.expires_epoch_minutes))
    if not len(unknown_rows) or not batch.reports:
        return lots
    expires_epoch_minutes = lots.expires_epoch_minutes.copy()
    expires_epoch_minutes[unknown_rows] = _told_expiry(lots, unknown_rows.tolist(), known, batch, city)
    return replace(lots, expires_epoch_minutes=expires_epoch_minutes)


def lot_table(lots: LotRows, fridges: FridgeTable) -> LotTable:
    """The table of the state, each lot pointing to the row of its fridge; nothing is reserved yet."""
    row_of = {key: row for row, key in enumerate(zip(fridges.site_idx.tolist(), fridges.fridge_id, strict=True))}
    return LotTable(
        site_idx=lots.site_idx,
        fridge_row=np.array([row_of[place] for place in lots.places], dtype=np.int64),
        product_idx=lots.product_idx,
        lot_number=tuple(lots.lot_number.tolist()),
        unopened_doses=lots.unopened_doses,
        open_vial_doses=lots.open_vial_doses,
        expires_epoch_minutes=lots.expires_epoch_minutes,
        reserved_doses=np.zeros(len(lots.site_idx), dtype=np.int64),
    )


def _lot_columns(batch: ReportBatch, sites: IntArray, rows: IntArray, city: City) -> list[Column]:
    product_to_idx = city.product_to_idx
    # A report kept from before the city's list of products changed may name one that is gone.
    told = [[lot for lot in batch.reports[row].lots or () if lot.product_id in product_to_idx] for row in rows.tolist()]
    lots = [lot for site_lots in told for lot in site_lots]
    columns = [
        np.repeat(sites, [len(site_lots) for site_lots in told]),
        np.array([lot.fridge_id for lot in lots], dtype=object),
        np.array([product_to_idx[lot.product_id] for lot in lots], dtype=np.int64),
        np.array([lot.lot_number for lot in lots], dtype=object),
        np.array([lot.unopened_doses for lot in lots], dtype=np.int64),
        np.array([lot.open_vial_doses for lot in lots], dtype=np.int64),
        epoch_minutes_of([lot.expires_at for lot in lots]),
    ]
    return _added_up(columns)


def _added_up(columns: list[Column]) -> list[Column]:
    """Rows of one lot in one fridge as one row: doses added, the earliest expiry that is told."""
    keys = list(zip(*(column.tolist() for column in columns[:4]), strict=True))
    row_of = {key: row for row, key in enumerate(dict.fromkeys(keys))}
    if len(row_of) == len(keys):
        return columns
    target = np.array([row_of[key] for key in keys])
    first = np.unique(target, return_index=True)[1]
    merged = [column[first] for column in columns]
    for at in (4, 5):
        merged[at] = np.zeros(len(first), dtype=np.int64)
        np.add.at(merged[at], target, columns[at])
    merged[6] = np.full(len(first), np.nan)
    np.fmin.at(merged[6], target, columns[6])
    return merged


def _told_expiry(lots: LotRows, rows: Sequence[int], known: LotRows, batch: ReportBatch, city: City) -> list[float]:
    """Expiry last told for the lots in `rows`, NaN where it never was."""
    told: dict[tuple[int, int, str], float] = {}
    keys = zip(known.site_idx.tolist(), known.product_idx.tolist(), known.lot_number.tolist(), strict=True)
    for key, expires in zip(keys, known.expires_epoch_minutes.tolist(), strict=True):
        told.setdefault(key, expires)
    for report_row in np.flatnonzero(batch.given[:, FeatureClass.LOT_EXPIRY]).tolist():
        site_idx = int(batch.site_idx[report_row])
        for lot in batch.reports[report_row].lots or ():
            if lot.expires_at is not None:
                product_idx = city.product_to_idx.get(lot.product_id, -1)
                told[site_idx, product_idx, lot.lot_number] = epoch_minutes_from_datetime(lot.expires_at)
    site_idx, product_idx, lot_number = (
        column[rows].tolist() for column in (lots.site_idx, lots.product_idx, lots.lot_number)
    )
    return [told.get(key, np.nan) for key in zip(site_idx, product_idx, lot_number, strict=True)]
