"""
Entries at 276 subway stations in ten minutes, 20 working days of 108 steps.

The file has no clock: its days are laid on four working weeks from a Monday, 05:00 to 23:00, which is how its authors
describe them; nights and weekends are unknown. Not part of the product: it has no licence.
"""

from __future__ import annotations

import gzip
from datetime import timedelta
from pathlib import Path

import numpy as np

from doseflow.bench.forecast.regular_grid import table_of, utc
from doseflow.bench.forecast.series_set import SeriesSet
from doseflow.errors import InputWrong

STARTS_AT = utc("2016-02-29 05:00:00")
STEP_MINUTES, STEPS_A_DAY = 10, 108
DEVELOPMENT_DAY, HELD_OUT_DAY = 13, 16
"""Days 17 to 20 of 20 are held out, 14 to 16 are for development."""
ORIGINAL = Path("subway_flow") / "entries_10min_days01-20.csv.gz"


def subway(folder: Path | None) -> SeriesSet:
    """
    The set, from the folder's original: there is no packaged copy.

    Raises
    ------
    InputWrong
        The file is not whole days of steps, or not numbers.
    """
    if folder is None:
        raise InputWrong("subway: this set is not packaged; give its folder with --data")
    try:
        with gzip.open(folder / ORIGINAL, "rt") as stream:
            values = np.loadtxt(stream, delimiter=",", ndmin=2)
    except ValueError as error:
        raise InputWrong(f"--data: {ORIGINAL}: {error}") from error
    num_stations, num_steps = values.shape
    if num_steps % STEPS_A_DAY:
        raise InputWrong(f"--data: {ORIGINAL}: steps must be whole days of {STEPS_A_DAY}, got {num_steps}")
    step = np.arange(num_steps)
    working_day = step // STEPS_A_DAY
    minutes = (working_day + working_day // 5 * 2) * 24 * 60 + step % STEPS_A_DAY * STEP_MINUTES
    times = [STARTS_AT + timedelta(minutes=int(minute)) for minute in minutes]
    table = table_of([f"station{row:03d}" for row in range(num_stations)], times, values.T, STEP_MINUTES)

    def first_step(day: int) -> int:
        return int(minutes[day * STEPS_A_DAY]) // STEP_MINUTES

    return SeriesSet(
        "subway",
        table,
        (12, 24),
        season_steps=24 * 60 // STEP_MINUTES,
        development_from=first_step(DEVELOPMENT_DAY),
        held_out_from=first_step(HELD_OUT_DAY),
        sums_minutes=(30, 60, 120),
        origin_minutes_of_day=tuple(range(6 * 60, 19 * 60 + 1, 60)),
        source="folder",
    )
