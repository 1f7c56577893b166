"""
The Czech vaccination programme of spring 2021 by site and day: bookings and doses given.

Booked is capacity less what was still free, summed over the calendars V1, V2 and VX (first dose, second dose, either),
which exist side by side. The originals list a row for what happened, so that a day without one within a site's life is
a day without doses; before its first one the site is unknown, not empty.

Data: Ministry of Health of the Czech Republic, open data, onemocneni-aktualne.mzcr.cz; terms in NOTICE.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from pathlib import Path

import numpy as np

from doseflow.bench.forecast.regular_grid import csv_rows, table_of, unknown_before_first
from doseflow.bench.forecast.series_set import MINUTES_OF_DAY, SeriesSet
from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable
from doseflow.errors import InputWrong
from doseflow.simulate.czech_days import FIRST_BOOKED_ON, FIRST_ON, LAST_ON, czech_site_rows, czech_table

DEVELOPMENT_FROM, HELD_OUT_FROM = date(2021, 4, 5), date(2021, 5, 2)
"""The last 30 of 137 booked days are held out; the four weeks before them are for development."""
HORIZONS = (7, 14)
FEWEST_DAYS = 28
"""A site needs so many days before the held-out part, or nothing could be learnt about it."""


def czech_bookings(folder: Path | None) -> SeriesSet:
    """Appointments booked by site and day: of all places, or of the packaged 200."""
    if folder is None:
        booked = czech_table().booked_people.sum(axis=-1).astype(np.float64)[(FIRST_BOOKED_ON - FIRST_ON).days :]
        return _daily("czech_bookings", _packaged(booked, FIRST_BOOKED_ON), folder)

    def booked_people(row: dict[str, str]) -> float:
        return float(row["maximalni_kapacita"]) - float(row["volna_kapacita"])

    path = folder / "czech" / "rezervace_site_day.csv.gz"
    return _daily("czech_bookings", _summed(path, FIRST_BOOKED_ON, booked_people), folder)


def czech_doses(folder: Path | None) -> SeriesSet:
    """Doses given by site and day, all products together: of all places, or of the packaged 200."""
    if folder is None:
        return _daily(
            "czech_doses", _packaged(czech_table().used_doses.sum(axis=-1).astype(np.float64), FIRST_ON), folder
        )
    path = folder / "czech" / "spotreba_site_day.csv.gz"
    return _daily("czech_doses", _summed(path, FIRST_ON, lambda row: float(row["pouzite_davky"])), folder)


def _daily(name: str, table: SeriesTable, folder: Path | None) -> SeriesSet:
    values = unknown_before_first(table.values)
    first_on = table.starts_at.date()
    held_out_from = (HELD_OUT_FROM - first_on).days
    lasting = np.isfinite(values[:, :held_out_from]).sum(axis=1) >= FEWEST_DAYS
    kept = SeriesTable(
        tuple(series_id for series_id, keep in zip(table.series_ids, lasting, strict=True) if keep),
        table.starts_at,
        table.step_minutes,
        values[lasting],
        table.latitude[lasting],
        table.longitude[lasting],
        {},
    )
    return SeriesSet(
        name,
        kept,
        HORIZONS,
        season_steps=7,
        development_from=(DEVELOPMENT_FROM - first_on).days,
        held_out_from=held_out_from,
        source="packaged, the 200 busiest sites" if folder is None else "folder, all places",
    )


def _packaged(by_day: FloatArray, first_on: date) -> SeriesTable:
    """By day and site, (D, S)."""
    rows = czech_site_rows()
    places = {row["site_id"]: (float(row["latitude"]), float(row["longitude"])) for row in rows}
    days = [_midnight(date.fromordinal(first_on.toordinal() + day)) for day in range(len(by_day))]
    return table_of([row["site_id"] for row in rows], days, by_day, MINUTES_OF_DAY, places)


def _summed(path: Path, first_on: date, value_of: Callable[[dict[str, str]], float]) -> SeriesTable:
    """Rows of one place and day added up; days that cannot be true are left out."""
    totals: dict[tuple[date, str], float] = {}
    for row in csv_rows(path):
        try:
            day_on, value = date.fromisoformat(row["datum"]), value_of(row)
        except (KeyError, ValueError) as error:
            raise InputWrong(f"--data: {path}: a row without date or number ({error})") from error
        if first_on <= day_on <= LAST_ON:
            key = (day_on, row["ockovaci_misto_id"])
            totals[key] = totals.get(key, 0.0) + value
    if not totals:
        raise InputWrong(f"--data: {path} has no row from {first_on} to {LAST_ON}")
    sites = sorted({site_id for _, site_id in totals})
    position = {site_id: column for column, site_id in enumerate(sites)}
    by_day = np.zeros(((LAST_ON - first_on).days + 1, len(sites)))
    for (day_on, site_id), value in totals.items():
        by_day[(day_on - first_on).days, position[site_id]] = value
    days = [_midnight(date.fromordinal(first_on.toordinal() + day)) for day in range(len(by_day))]
    return table_of(sites, days, by_day, MINUTES_OF_DAY, _places(path.parent / "sites.csv"))


def _places(path: Path) -> dict[str, tuple[float, float]]:
    """Where the sites are, of those with coordinates; a place that `sites.csv` lacks stays without."""
    with path.open(encoding="utf-8", newline="") as stream:
        return {
            row["ockovaci_misto_id"]: (float(row["latitude"]), float(row["longitude"]))
            for row in csv.DictReader(stream)
            if row["latitude"] and row["longitude"]
        }


def _midnight(day_on: date) -> datetime:
    return datetime.combine(day_on, time(), tzinfo=UTC)
