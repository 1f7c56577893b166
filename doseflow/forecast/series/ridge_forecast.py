"""The ridge forecast of a table: seasons, a regression for each group of steps ahead, and the spread of its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.closed_steps import closed_steps
from doseflow.forecast.series.features import features_of, spread_features
from doseflow.forecast.series.origins import draw_pairs, groups_of_steps
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.past import Past, look_back
from doseflow.forecast.series.ridge import fit_ridge
from doseflow.forecast.series.seasons import Seasons, find_seasons
from doseflow.forecast.series.spread import Spread, fit_spread

NUM_FOLDS = 5
LEAST_ROWS = 30
"""Rows under which nothing is fitted."""
LEAST_STEPS_KEPT = 200
LEAST_PAIRS = 400
"""Past origins behind one fit, as far as the history has them."""
LEVEL_SHARE = 0.1
"""Of a series' scale, added to the expected value where rows are weighed, so that quiet hours count too."""
MOST_OF_LARGEST = 2.0
"""No quantile is farther out than so many times the largest value of its series."""
NORMAL_QUANTILES = np.array([-1.6, -0.84, 0.0, 0.84, 1.6])
"""Of an error over its mean absolute value, if it is normal."""


@dataclass(frozen=True, slots=True)
class GroupFit:
    """What was learnt for a group of steps ahead."""

    steps: IntArray
    coefficients: FloatArray
    spread: Spread


def ridge_forecast(
    table: SeriesTable,
    horizon: int,
    params: SeriesForecastParams | None = None,
    *,
    last_step_idx: IntArray | None = None,
    advance: Callable[[float], None] = lambda _: None,
) -> FloatArray:
    """The ridge forecast alone; takes and gives what `forecast_series` does."""
    params = params or SeriesForecastParams()
    last = np.full(table.num_series, table.num_steps - 1) if last_step_idx is None else np.asarray(last_step_idx)
    is_known = (np.isfinite(table.values) & (np.arange(table.num_steps) <= last[:, None])).any(axis=1)
    # Series in the order of their names: what one gets must not hang on where it stands.
    order = np.array(sorted(np.flatnonzero(is_known), key=lambda idx: table.series_ids[idx]), dtype=np.int64)
    result = np.full((table.num_series, horizon, len(QUANTILE_LEVELS)), np.nan)
    if not len(order):
        return result
    values = np.asarray(table.values, dtype=float)[order]
    last = last[order]
    values = np.where(np.arange(table.num_steps) <= last[:, None], values, np.nan)
    made = _forecast_kept(table, values, horizon, last, params, advance)
    result[order] = made
    return result


def _forecast_kept(
    table: SeriesTable,
    values: FloatArray,
    horizon: int,
    last: IntArray,
    params: SeriesForecastParams,
    advance: Callable[[float], None],
) -> FloatArray:
    """Use the newest steps that the bounds allow; series that ended long before are forecast on their own."""
    end = int(last.max()) + 1
    keep = min(params.max_steps, max(LEAST_STEPS_KEPT, params.max_cells // len(values)))
    dropped = max(0, end - keep)
    newest_known = np.where(np.isfinite(values[:, :end]), np.arange(end), -1).max(axis=1)
    is_stale = np.minimum(last, newest_known) < dropped + keep // 2 if dropped else np.zeros(len(values), dtype=bool)
    if is_stale.any() and not is_stale.all() and last[is_stale].max() < end - 1:
        made = np.empty((len(values), horizon, len(QUANTILE_LEVELS)))
        for part in (is_stale, ~is_stale):
            made[part] = _forecast_kept(table, values[part], horizon, last[part], params, advance)
        return made
    first_at = table.at(dropped)
    seasons = find_seasons(values[:, dropped:end], first_at, table.step_minutes)
    return _forecast(values[:, dropped:end], seasons, horizon, last - dropped, params, advance)


def _forecast(
    values: FloatArray,
    seasons: Seasons,
    horizon: int,
    last: IntArray,
    params: SeriesForecastParams,
    advance: Callable[[float], None],
) -> FloatArray:
    pad = seasons.offset_steps % seasons.cycle_steps
    values = np.pad(values, ((0, 0), (pad, 0)), constant_values=np.nan)
    last = last + pad
    is_count = not bool((values < 0).any())
    # The root makes the noise of counts the same at every level (Anscombe 1948, doi:10.1093/biomet/35.3-4.246).
    scaled = np.sqrt(values) if is_count else values
    scale = np.sqrt(np.nan_to_num(np.nanmean(scaled**2, axis=1)))
    past = look_back(scaled, seasons, horizon)
    fits: list[GroupFit] = []
    groups = groups_of_steps(horizon, params.max_fits)
    for number, steps in enumerate(groups, start=1):
        fits.append(_fit_group(past, steps, scale, int(np.median(last)), params) or _like(fits, past, steps))
        advance(number / (len(groups) + 1))
    made = _predict(past, fits, scale, last, horizon)
    largest = np.nanmax(np.abs(scaled), axis=1)[:, None, None] * MOST_OF_LARGEST
    made = np.clip(made, 0.0 if is_count else -largest, largest)
    made = np.maximum.accumulate(made, axis=2)
    if is_count:
        made = made**2
        made[_is_closed(values, seasons, last, horizon, pad)] = 0.0
    advance(1.0)
    return made


def _is_closed(values: FloatArray, seasons: Seasons, last: IntArray, horizon: int, pad: int) -> np.ndarray:
    """Whether each series is closed at each step ahead, (S, N)."""
    round_start = seasons.offset_steps - pad
    steps = np.arange(1, horizon + 1)
    closed = np.zeros((len(values), horizon), dtype=bool)
    for at in np.unique(last):
        rows = last == at
        closed[rows] = closed_steps(values[rows], seasons, at + steps, round_start)
    return closed


def _fit_group(
    past: Past, steps: IntArray, scale: FloatArray, at: int, params: SeriesForecastParams
) -> GroupFit | None:
    num_series, num_steps = past.values.shape
    cycle = past.seasons.cycle_steps
    rng = np.random.default_rng((params.seed, int(steps[0])))
    first = min(2 * cycle + 2, num_steps // 3)
    num_pairs = max(LEAST_PAIRS, params.rows_per_fit // num_series)
    targets, origins, pair_weights = draw_pairs(steps, first, num_steps - 1, num_pairs, (at, cycle), rng)
    base = past.base(targets, origins)
    wanted = past.values[:, targets] - base
    # Moments teach more than series, which share their surprises: rather all moments and some series of each.
    good = np.isfinite(wanted) & (rng.random(wanted.shape) * wanted.size < params.rows_per_fit)
    if good.sum() < LEAST_ROWS:
        return None
    features = features_of(past, targets, origins, base, scale)[:, good]
    # On the root scale an error counts by the level it sits on.
    weights = (pair_weights[None, :] * (np.abs(base) + LEVEL_SHARE * scale[:, None]))[good]
    if not weights.any():
        return None
    folds = np.broadcast_to(np.arange(len(targets)) * NUM_FOLDS // len(targets), base.shape)[good]
    fit = fit_ridge(features, wanted[good], weights, folds)
    around = spread_features(past, targets, origins, np.maximum(base, 0), scale)[:, good]
    spread = fit_spread(base[good] + fit.out_of_fold, wanted[good] - fit.out_of_fold, around, weights)
    return GroupFit(steps, fit.coefficients, spread)


def _like(fits: list[GroupFit], past: Past, steps: IntArray) -> GroupFit:
    """Where too little was seen so far ahead: as the steps before, else the seasons alone."""
    if fits:
        return GroupFit(steps, fits[-1].coefficients, fits[-1].spread)
    one = np.array([0])
    scale = np.ones(len(past.values))
    base = past.base(one, one)
    num_features = len(features_of(past, one, one, base, scale))
    around = spread_features(past, one, one, base, scale)
    only_usual = np.zeros(len(around))
    only_usual[2] = 1.0
    return GroupFit(steps, np.zeros(num_features), Spread(only_usual, np.zeros(1), NORMAL_QUANTILES[None, :]))


def _predict(past: Past, fits: list[GroupFit], scale: FloatArray, last: IntArray, horizon: int) -> FloatArray:
    made = np.empty((len(last), horizon, len(QUANTILE_LEVELS)))
    for at in np.unique(last):
        rows = np.flatnonzero(last == at)
        part = past if len(rows) == len(last) else past.of_series(rows)
        for fit in fits:
            origins = np.full(len(fit.steps), at)
            targets = origins + fit.steps
            base = part.base(targets, origins)
            features = features_of(part, targets, origins, base, scale[rows])
            expected = base + np.tensordot(fit.coefficients, features, axes=1)
            around = spread_features(part, targets, origins, np.maximum(base, 0), scale[rows])
            made[np.ix_(rows, fit.steps - 1)] = fit.spread.quantiles_of(expected, around)
    return made
