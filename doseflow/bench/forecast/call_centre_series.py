"""
Calls to a bank's centre in five minutes, working days 07:00 to 21:05, 2003.

Not part of the product: it comes from a package under the GPL (R. J. Hyndman, fpp2, `calls`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from doseflow.bench.forecast.regular_grid import csv_rows, table_of, utc
from doseflow.bench.forecast.series_set import SeriesSet
from doseflow.errors import InputWrong

STEP_MINUTES = 5
DEVELOPMENT_FROM, HELD_OUT_FROM = utc("2003-07-07 00:00:00"), utc("2003-07-28 00:00:00")
"""The last five of 26 weeks are held out, the three before them are for development."""
ORIGINAL = Path("call_centre") / "calls_5min_until_2003-08.csv.gz"


def call_centre(folder: Path | None) -> SeriesSet:
    """
    The set, from the folder's original: there is no packaged copy.

    Raises
    ------
    InputWrong
        No folder, or a row without time or number.
    """
    if folder is None:
        raise InputWrong("call_centre: this set is not packaged; give its folder with --data")
    try:
        rows = [(utc(row["DateTime"]), float(row["Calls"])) for row in csv_rows(folder / ORIGINAL)]
    except (KeyError, ValueError) as error:
        raise InputWrong(f"--data: {ORIGINAL}: a row without time or number ({error})") from error
    times = [moment for moment, _ in rows]
    table = table_of(["calls"], times, np.array([[calls] for _, calls in rows]), STEP_MINUTES)
    seconds = [(moment - table.starts_at).total_seconds() for moment in (DEVELOPMENT_FROM, HELD_OUT_FROM)]
    return SeriesSet(
        "call_centre",
        table,
        (12, 24),
        season_steps=24 * 60 // STEP_MINUTES,
        development_from=int(seconds[0] // 60 // STEP_MINUTES),
        held_out_from=int(seconds[1] // 60 // STEP_MINUTES),
        sums_minutes=(30, 60, 120),
        origin_minutes_of_day=tuple(range(8 * 60, 19 * 60 + 1, 60)),
        source="folder",
    )
