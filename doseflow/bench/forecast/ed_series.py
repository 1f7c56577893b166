"""
Arrivals at one emergency department by hour, 2013-07 to 2018-03.

Not part of the product: it comes from a package under the GPL (R. Peterson, fastTS).
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np

from doseflow.bench.forecast.regular_grid import csv_rows, table_of, utc
from doseflow.bench.forecast.series_set import SeriesSet
from doseflow.errors import InputWrong

DEVELOPMENT_FROM, HELD_OUT_FROM = utc("2016-10-01 00:00:00"), utc("2017-04-01 00:00:00")
"""The last year of nearly five is held out, the half year before it is for development."""
ORIGINAL = Path("ed_arrivals") / "ed_arrivals_hourly_2013-2018.csv.gz"


def ed_arrivals(folder: Path | None) -> SeriesSet:
    """
    The set, from the folder's original: there is no packaged copy.

    Raises
    ------
    InputWrong
        No folder, or a row without time or number.
    """
    if folder is None:
        raise InputWrong("ed_arrivals: this set is not packaged; give its folder with --data")
    try:
        rows = [
            (utc(row["Date"]) + timedelta(hours=float(row["Hour"])), float(row["Arrivals"]))
            for row in csv_rows(folder / ORIGINAL)
        ]
    except (KeyError, ValueError) as error:
        raise InputWrong(f"--data: {ORIGINAL}: a row without time or number ({error})") from error
    times = [moment for moment, _ in rows]
    table = table_of(["emergency department"], times, np.array([[arrivals] for _, arrivals in rows]), 60)
    hours = [int((moment - table.starts_at).total_seconds() // 3600) for moment in (DEVELOPMENT_FROM, HELD_OUT_FROM)]
    return SeriesSet(
        "ed_arrivals",
        table,
        (24,),
        season_steps=24,
        development_from=hours[0],
        held_out_from=hours[1],
        source="folder",
    )
