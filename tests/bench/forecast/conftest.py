from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from doseflow.bench.forecast.series_set import SeriesSet
from doseflow.domain.series_table import SeriesTable


@pytest.fixture
def hourly() -> SeriesSet:
    """Four sites with a day's rhythm over six weeks, a gap of two days at one of them, and nights that are unknown."""
    rng = np.random.default_rng(0)
    hours = np.arange(24 * 7 * 6)
    rate = np.array([3.0, 8.0, 20.0, 50.0])[:, None] * (1.2 + np.sin(2 * np.pi * hours / 24))
    values = rng.poisson(rate).astype(float)
    values[1, 200:248] = np.nan
    values[:, (hours % 24 < 5)] = np.nan
    unknown = np.full(4, np.nan)
    table = SeriesTable(("a", "b", "c", "d"), datetime(2024, 1, 1, tzinfo=UTC), 60, values, unknown, unknown.copy(), {})
    return SeriesSet(
        "tiny",
        table,
        (3, 6),
        season_steps=24,
        development_from=24 * 28,
        held_out_from=24 * 35,
        sums_minutes=(120,),
        origin_minutes_of_day=(8 * 60, 12 * 60, 16 * 60),
    )
