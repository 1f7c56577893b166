"""
AutoETS and AutoARIMA of statsforecast, a model a series: chosen and fitted once before the part played, then carried
forward through the history to every origin with its parameters kept.

Days have the season of a week, which the models handle themselves. Steps within a day have seasons of 108 to 2,016
steps, which they do not: there the profile (the mean by time of the day or week) is taken out first, on the scale of
square roots, where the spread of counts is even (F. J. Anscombe, Biometrika 35, 1948, doi:10.2307/2332343), and put
back after.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from statsforecast.models import AutoARIMA, AutoETS, SeasonalNaive

from doseflow.bench.forecast.series_set import MINUTES_OF_DAY
from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.open_steps import OpenWeek, filled, open_week

LATEST_STEPS = 1_000
"""Open steps a model is fitted on and carried through, the latest ones."""
PROFILE_SEASONS = 28
"""Open days that the profile is the mean of."""
FEWEST_VALUES = 21
"""A series with fewer known values is left to the seasonal naive model."""
LEVELS = [50, 80]
MOST_TIMES_SEEN = 3.0
"""Forecasts are cut at so many times the largest value seen."""


class StatisticalPeer:
    """One model a series."""

    def __init__(self, name: str, model_of_season: Any, notes: str) -> None:
        self.name, self.notes = name, notes
        self._model_of_season = model_of_season
        self._models: list[Any] = []
        self._week = OpenWeek(MINUTES_OF_DAY, np.ones(7, dtype=bool))

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Choose and fit a model a series."""
        self._week = open_week(table)
        rest, _ = self._without_profile(table, horizon)
        season = self._season_of_model
        known = np.isfinite(table.values).sum(axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._models = [self._fitted(row, season, count) for row, count in zip(rest, known, strict=True)]

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q); 0 at steps that are never open."""
        ahead, _ = self._week.ahead(table, horizon)
        quantiles = np.zeros((len(table.series_ids), horizon, len(QUANTILE_LEVELS)))
        if not len(ahead):
            return quantiles
        rest, profile = self._without_profile(table, len(ahead))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row, (model, values) in enumerate(zip(self._models, rest, strict=True)):
                carried = model.forward(y=values, h=len(ahead), level=LEVELS)
                columns = [carried[name] for name in ("lo-80", "lo-50", "mean", "hi-50", "hi-80")]
                quantiles[row, ahead] = np.nan_to_num(np.column_stack(columns)) + profile[row][:, None]
        # A trend carried forward can run away, and nobody would use it then.
        most = MOST_TIMES_SEEN * np.nanmax(
            np.sqrt(table.values) if not self._days else table.values, axis=1, initial=0.0
        )
        quantiles = np.sort(np.clip(quantiles, 0.0, most[:, None, None]), axis=-1)
        return quantiles if self._days else quantiles**2

    @property
    def _days(self) -> bool:
        return self._week.step_minutes >= MINUTES_OF_DAY

    @property
    def _season_of_model(self) -> int:
        return self._week.season_steps if self._days else 1

    def _fitted(self, values: FloatArray, season: int, num_known: int) -> Any:
        begun = np.flatnonzero(values)
        own = values[begun[0] :] if self._days and begun.size else values
        if num_known < FEWEST_VALUES or np.ptp(own) == 0:
            return SeasonalNaive(max(season, 1)).fit(values)
        try:
            return self._model_of_season(season).fit(own)
        except ValueError:
            return SeasonalNaive(season).fit(values)  # what the library cannot fit at all

    def _without_profile(self, table: SeriesTable, horizon: int) -> tuple[FloatArray, FloatArray]:
        """Values (S, C) without their profile, and the profile of the open steps ahead (S, n)."""
        open_steps = self._week.open_before(table)
        season = self._week.season_steps
        values = filled(table.values[:, open_steps], season)
        if self._days:
            return values[:, -LATEST_STEPS:], np.zeros((len(values), horizon))
        roots = np.sqrt(values[:, -max(PROFILE_SEASONS * season, LATEST_STEPS) :])
        period = season if roots.shape[1] < 4 * self._week.week_steps else self._week.week_steps
        phase = np.arange(-roots.shape[1], horizon) % period
        profile = np.stack([roots[:, phase[:-horizon] == p].mean(axis=1) for p in range(period)], axis=1)
        rest = roots - profile[:, phase[:-horizon]]
        return rest[:, -LATEST_STEPS:], profile[:, phase[-horizon:]]


def auto_ets() -> StatisticalPeer:
    """Exponential smoothing with additive errors and season (values may be 0), trend chosen by AICc."""
    return StatisticalPeer(
        "auto_ets",
        lambda season: AutoETS(season_length=season, model="AZA" if season > 1 else "AZN"),
        "AutoETS (additive) a series, all series; days: season 7; within a day: profile out on root scale; "
        "fitted once, carried on",
    )


def auto_arima() -> StatisticalPeer:
    """ARIMA, orders chosen by AICc in steps."""
    return StatisticalPeer(
        "auto_arima",
        lambda season: AutoARIMA(season_length=season, max_p=3, max_q=3, max_P=1, max_Q=1, approximation=True),
        "AutoARIMA a series, all series, orders to 3; days: season 7; within a day: profile out on root scale; "
        "fitted once, carried on",
    )
