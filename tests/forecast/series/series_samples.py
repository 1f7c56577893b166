"""Simulated series whose true law is known."""

from datetime import UTC, datetime

import numpy as np

from doseflow.domain.series_table import SeriesTable

MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
DISPERSION = 30.0
"""Of the negative binomial: variance = mean + mean**2 / DISPERSION."""


def mean_of(num_series: int, num_steps: int, step_minutes: int = 60) -> np.ndarray:
    """True means, (S, P): a day with one hump, quieter weekends, series of different size."""
    minutes = np.arange(num_steps) * step_minutes
    of_day = 1 + 0.8 * np.sin(2 * np.pi * (minutes % 1440) / 1440)
    of_week = np.where(minutes // 1440 % 7 >= 5, 0.5, 1.0)
    return np.linspace(5, 80, num_series)[:, None] * (of_day * of_week)[None, :]


def table_of(values: np.ndarray, step_minutes: int = 60) -> SeriesTable:
    return SeriesTable(tuple(f"s{idx:03d}" for idx in range(len(values))), MONDAY, step_minutes, values)


def counts_of(mean: np.ndarray, seed: int = 0) -> np.ndarray:
    """Draws of the negative binomial law."""
    rng = np.random.default_rng(seed)
    return rng.poisson(mean * rng.gamma(DISPERSION, 1 / DISPERSION, mean.shape)).astype(float)
