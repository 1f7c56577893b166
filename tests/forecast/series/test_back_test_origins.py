"""Where the blend of the series forecast is tried."""

from datetime import UTC, datetime

import numpy as np

from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.forecaster import MOST_BACK_TESTS, _origins

HOURS, DAYS, HORIZON = 24, 28, 6


def hourly(values: np.ndarray) -> SeriesTable:
    nowhere = np.full(len(values), np.nan)
    names = tuple(f"s{row}" for row in range(len(values)))
    return SeriesTable(names, datetime(2024, 1, 1, tzinfo=UTC), 60, values, nowhere, nowhere, {})


def counts() -> np.ndarray:
    hours = np.arange(DAYS * HOURS)
    return 20 + 10 * np.sin(2 * np.pi * hours / HOURS) + np.arange(3)[:, None]


def test_a_table_that_ends_in_the_unknown_night_is_tried_where_something_is_known():
    values, hour = counts(), np.arange(DAYS * HOURS) % HOURS
    values[:, (hour < 8) | (hour >= 18)] = np.nan
    origins = _origins(hourly(values), HORIZON)
    assert len(origins) == MOST_BACK_TESTS
    assert all(np.isfinite(values[:, origin : origin + HORIZON]).mean() >= 0.5 for origin in origins)


def test_a_table_without_gaps_is_tried_at_the_time_of_day_at_which_the_forecast_starts():
    end = DAYS * HOURS
    assert (
        _origins(hourly(counts()), HORIZON) == [end - HORIZON - HOURS * back for back in range(MOST_BACK_TESTS)][::-1]
    )
