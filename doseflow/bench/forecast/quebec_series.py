"""
People waiting at the emergency rooms of Quebec, hour by hour, 119 sites, 2024-09 to 2025-05, with the source's gaps.

It is a stock, not what came within the hour. The packaged copy and the original give the same rows of that time.

Data: Gouvernement du Québec (MSSS), donneesquebec.ca, CC BY 4.0, as gathered by jlomako/quebec-emergency-rooms (MIT);
terms in NOTICE.
"""

from __future__ import annotations

import gzip
from datetime import datetime
from importlib.resources import files
from pathlib import Path

import numpy as np

from doseflow.bench.forecast.regular_grid import table_of, utc
from doseflow.bench.forecast.series_set import SeriesSet
from doseflow.domain.series_table import SeriesTable
from doseflow.errors import InputWrong

FIRST_AT = utc("2024-09-01 00:00:00")
DEVELOPMENT_FROM, HELD_OUT_FROM = utc("2025-02-24 00:00:00"), utc("2025-04-01 00:00:00")
"""The last two of nine months are held out; the five weeks before them are for development."""
PACKAGED = files("doseflow.bench.forecast") / "packaged" / "quebec_er_hourly.csv.gz"
ORIGINAL = Path("quebec_er") / "patients_waiting_hourly_until_2025-05.csv.gz"


def quebec_er(folder: Path | None) -> SeriesSet:
    """The set, from the folder's original or from the packaged copy."""
    if folder is None:
        with PACKAGED.open("rb") as packed:
            table = hourly_table(gzip.decompress(packed.read()).decode())
    else:
        table = hourly_table(gzip.decompress((folder / ORIGINAL).read_bytes()).decode())
    hours = [round((moment - table.starts_at).total_seconds() / 3600) for moment in (DEVELOPMENT_FROM, HELD_OUT_FROM)]
    return SeriesSet(
        "quebec_er",
        table,
        (24,),
        season_steps=24,
        development_from=hours[0],
        held_out_from=hours[1],
        counts=False,
        source="packaged" if folder is None else "folder",
    )


def hourly_table(text: str) -> SeriesTable:
    """
    Rows from `FIRST_AT` on, a column a site; an empty cell and a missing hour are unknown.

    Raises
    ------
    InputWrong
        A row has another number of cells than the header, or a cell is no number.
    """
    lines = text.splitlines()
    site_ids = lines[0].split(",")[1:]
    times: list[datetime] = []
    rows: list[list[float]] = []
    for number, line in enumerate(lines[1:], start=2):
        moment, *cells = line.split(",")
        if moment < f"{FIRST_AT:%Y-%m-%d}":
            continue
        try:
            times.append(utc(moment))
            rows.append([float(cell) if cell else float("nan") for cell in cells])
        except ValueError as error:
            raise InputWrong(f"--data: quebec_er, line {number}: {error}") from error
        if len(cells) != len(site_ids):
            raise InputWrong(f"--data: quebec_er, line {number}: {len(cells)} cells for {len(site_ids)} sites")
    if not rows:
        raise InputWrong(f"--data: quebec_er has no row from {FIRST_AT:%Y-%m-%d} on")
    return table_of(site_ids, times, np.array(rows), 60)
