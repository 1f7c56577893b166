"""
The forecast of a table of series: the ridge forecast, boosted trees of the quantiles and of the mean, and two plain
ones, blended by what each missed in a back-test on the end of the table's own history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.blend import Blend, fit_blend
from doseflow.forecast.series.mean_member import MeanMember
from doseflow.forecast.series.mean_trees import MeanTrees
from doseflow.forecast.series.odd_origins import odd_origins
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.plain.historical_average import HistoricalAverage
from doseflow.forecast.series.plain.member import SeriesMember
from doseflow.forecast.series.plain.seasonal_naive import SeasonalNaive
from doseflow.forecast.series.quantile_trees import QuantileTrees
from doseflow.forecast.series.ridge_forecast import ridge_forecast
from doseflow.forecast.series.seasons import find_seasons
from doseflow.units import MINUTES_PER_DAY

BACK_TESTS = 4
"""Past origins that the blend is learnt on, as far as the history has them."""
MOST_BACK_TESTS, ENOUGH_CELLS = 10, 240
"""Of few series more are tried, until so many values are forecast: one series and four origins choose by chance."""
REFIT_GROWTH = 0.05
"""Share by which a history grows in the back-test until members are fitted anew, about as fresh as they serve."""
TREE_FITS = 2
"""Quantile trees whose mean is taken in the forecast; one in the back-test."""
LEAST_SHARE_BEFORE = 0.5
"""Of the history must lie before the first of them."""
LEAST_CELLS = 40
"""Values forecast in the back-test, under which the ridge forecast stands alone."""
ENOUGH_KNOWN = 0.5
"""Share of what is known after the best origins, from which on others will do."""
LOOKED_AT = 3
"""Times as many days are looked at as are tried, since on some nothing may be known."""
LEAST_WEEKS, LEAST_KNOWN = 1, 500
"""Weeks and known values before the back-test, under which it stands alone too."""
MOST_ENDS = 12
"""Different last steps of series for which every member is asked."""
PLAIN_MEAN = 20.0
"""Mean value at which plain members see a table."""
WEEK_MINUTES = 7 * MINUTES_PER_DAY


class SeriesForecaster:
    """Fitted once on a history, then asked about it or about a longer one with the same series."""

    def __init__(self, params: SeriesForecastParams | None = None) -> None:
        self._params = params or SeriesForecastParams()
        self._others: list[SeriesMember] = []
        self._blend = Blend(np.ones(1))
        self._unit = 1.0

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the members in the blend."""
        names = ("ridge", *(one.name for one in self._others))
        return dict(zip(names, self._blend.weights.tolist(), strict=True))

    def fit(self, table: SeriesTable, horizon: int, advance: Callable[[float], None] = lambda _: None) -> None:
        """Learn the blend at the end of the history, then each member on all of it."""
        origins = _origins(table, horizon)
        if not origins or not _takes_plain(table, origins[0]):
            return
        # Trees and plain members have sizes of their own for what is small, so they see every table at one size.
        self._unit = float(np.nanmean(table.values)) / PLAIN_MEAN or 1.0
        members_told, what_came = self._tried(table, horizon, origins, advance)
        known = np.isfinite(what_came) & np.isfinite(members_told).all(axis=(0, 4))
        known &= ~odd_origins(members_told, what_came)[None, :, None]
        if known.sum() < LEAST_CELLS:
            return
        self._blend = fit_blend(members_told[:, known], what_came[known], np.random.default_rng(self._params.seed))
        self._others = self._made(TREE_FITS)
        for one in self._others:
            one.fit(self._sized(table), horizon)
        advance(1.0)

    def _tried(
        self, table: SeriesTable, horizon: int, origins: list[int], advance: Callable[[float], None]
    ) -> tuple[FloatArray, FloatArray]:
        """What the members told at past origins, (M, S, O, N, Q), and what came, (S, O, N)."""
        others = self._made(1)
        told, came = [], []
        fitted_at = 0
        for number, origin in enumerate(origins, start=1):
            past = _until(table, origin)
            if origin > (1 + REFIT_GROWTH) * fitted_at:
                for one in others:
                    one.fit(self._sized(past), horizon)
                fitted_at = origin
            plain = self._asked(others, past, horizon)
            told.append(np.stack([ridge_forecast(past, horizon, self._params), *plain]))
            came.append(table.values[:, origin : origin + horizon])
            advance(number / (len(origins) + 1))
        return np.stack(told, axis=2), np.stack(came, axis=1)

    def forecast(
        self,
        table: SeriesTable,
        horizon: int,
        last_step_idx: IntArray | None = None,
        advance: Callable[[float], None] = lambda _: None,
    ) -> FloatArray:
        """
        Quantiles, (S, N, Q).

        Series that end together are blended together; beyond the commonest `MOST_ENDS` ends the ridge stands alone.
        """
        ridge = ridge_forecast(table, horizon, self._params, last_step_idx=last_step_idx, advance=advance)
        if not self._others:
            return ridge
        last = np.full(table.num_series, table.num_steps - 1) if last_step_idx is None else np.asarray(last_step_idx)
        can_be_blended = np.isfinite(ridge).all(axis=(1, 2))
        ends, counts = np.unique(last[can_be_blended], return_counts=True)
        made = ridge.copy()
        for end in ends[np.argsort(-counts, kind="stable")][:MOST_ENDS].tolist():
            chosen = can_be_blended & (last == end)
            made[chosen] = self._blended(_those(table, chosen, end), ridge[chosen])
        return made

    def _blended(self, table: SeriesTable, ridge: FloatArray) -> FloatArray:
        """The blend for series that all end with the table, (S, N, Q)."""
        members = np.stack([ridge, *self._asked(self._others, table, ridge.shape[1])])
        blended: FloatArray = np.maximum.accumulate(np.maximum(self._blend.of(members), 0.0), axis=-1)
        # Where the ridge forecast knows a step to be closed, nobody comes.
        blended[(ridge == 0).all(axis=-1)] = 0.0
        return blended

    def _sized(self, table: SeriesTable) -> SeriesTable:
        return replace(table, values=table.values / self._unit)

    def _asked(self, others: list[SeriesMember], table: SeriesTable, horizon: int) -> list[FloatArray]:
        sized = self._sized(table)
        return [one.forecast(sized, horizon) * self._unit for one in others]

    def _made(self, tree_fits: int) -> list[SeriesMember]:
        seed, examples = self._params.seed, self._params.tree_examples
        trees = MeanMember([QuantileTrees(seed + number, examples) for number in range(tree_fits)])
        return [trees, MeanTrees(seed, examples), SeasonalNaive(), HistoricalAverage()]


def forecast_series(
    table: SeriesTable,
    horizon: int,
    params: SeriesForecastParams | None = None,
    *,
    last_step_idx: IntArray | None = None,
    advance: Callable[[float], None] = lambda _: None,
) -> FloatArray:
    """
    Quantiles of the coming steps, (S, N, Q), not falling along Q, not negative where the table never was.

    NaN for a series without any known value.

    Parameters
    ----------
    horizon
        N, steps ahead.
    last_step_idx
        The column after which each series' forecast begins, (S,); the table's last one when left out.
    advance
        Hears the share of the work that is done, 0..1.

    Raises
    ------
    ValueError
        The horizon is under 1.
    """
    if horizon < 1:
        raise ValueError(f"horizon: must be at least 1, got {horizon}")
    # Series in the order of their names: what one gets must not hang on where it stands.
    order = np.array(sorted(range(table.num_series), key=lambda idx: table.series_ids[idx]), dtype=np.int64)
    last = np.full(table.num_series, table.num_steps - 1) if last_step_idx is None else np.asarray(last_step_idx)
    ended = _ended(table, order, last)
    forecaster = SeriesForecaster(params)
    forecaster.fit(ended, horizon, lambda share: advance(0.8 * share))
    made = np.full((table.num_series, horizon, len(QUANTILE_LEVELS)), np.nan)
    made[order] = forecaster.forecast(ended, horizon, last[order], lambda share: advance(0.8 + 0.2 * share))
    return made


def _ended(table: SeriesTable, order: IntArray, last: IntArray) -> SeriesTable:
    """The table in another order, without what lies after each series' end."""
    end = int(last.max()) + 1
    values = np.where(np.arange(table.num_steps) <= last[:, None], table.values, np.nan)[order, :end]
    return replace(
        table,
        series_ids=tuple(table.series_ids[idx] for idx in order),
        values=values,
        latitude=table.latitude[order],
        longitude=table.longitude[order],
        covariates={},
    )


def _those(table: SeriesTable, chosen: BoolArray, end: int) -> SeriesTable:
    """Some of the series, up to and with a step."""
    return replace(
        table,
        series_ids=tuple(name for name, kept in zip(table.series_ids, chosen.tolist(), strict=True) if kept),
        values=table.values[chosen, : end + 1],
        latitude=table.latitude[chosen],
        longitude=table.longitude[chosen],
        covariates={},
    )


def _until(table: SeriesTable, step_idx: int) -> SeriesTable:
    return replace(table, values=table.values[:, :step_idx], covariates={})


def _takes_plain(table: SeriesTable, before: int) -> bool:
    """Whether plain members can be asked: counts whose steps fit into the week, and enough of them before a step."""
    if WEEK_MINUTES % table.step_minutes or bool((table.values < 0).any()):
        return False
    num_weeks = before * table.step_minutes / WEEK_MINUTES
    return num_weeks >= LEAST_WEEKS and np.isfinite(table.values[:, :before]).sum() >= LEAST_KNOWN


def _origins(table: SeriesTable, horizon: int) -> list[int]:
    """
    Past origins a cycle apart, the earliest first.

    At the time of day at which the forecast starts, unless hardly anything is known there: a table that ends at closing
    time has its nights unknown, and would be tried on nothing.
    """
    end = table.num_steps
    at_most = int(np.clip(-(-ENOUGH_CELLS // (table.num_series * horizon)), BACK_TESTS, MOST_BACK_TESTS))
    cycle = find_seasons(table.values, table.starts_at, table.step_minutes).cycle_steps
    stride = max(cycle, -(-horizon // 2))
    least = max(LEAST_SHARE_BEFORE * end, 2 * horizon)
    until = np.concatenate([[0], np.isfinite(table.values).sum(axis=0).cumsum()])
    choices = []
    for earlier in range(0, stride, max(1, -(-horizon // 2))):
        tried = np.arange(end - horizon - earlier, least, -stride, dtype=np.int64)[: at_most * LOOKED_AT]
        known = until[tried + horizon] - until[tried]
        # Days on which nothing is known, such as Sundays, are passed over.
        kept = np.flatnonzero(known >= ENOUGH_KNOWN * known.max(initial=0))[:at_most]
        choices.append((int(known[kept].sum()), sorted(tried[kept].tolist())))
    most = max(known for known, _ in choices)
    return next(origins for known, origins in choices if known >= ENOUGH_KNOWN * most)
