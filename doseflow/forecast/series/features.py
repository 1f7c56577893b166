"""What a fit sees of the past: every feature grows with the values, so that one fit serves series of any size."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.forecast.series.past import Past


def features_of(past: Past, targets: IntArray, origins: IntArray, base: FloatArray, scale: FloatArray) -> FloatArray:
    """Features, (F, S, n), of pairs of target and origin column; 0 where the past does not say."""
    rows = [base, np.broadcast_to(scale[:, None], base.shape)]
    for profile in (*past.of_round, *past.of_kind, *past.of_cycle, past.smooth):
        mean, weight = profile.seen_from(targets, origins)
        rows.append((mean - base) * np.minimum(weight * 2, 1.0))
    rows.append(past.level[:, origins] - base)
    rows.append(past.borrowed(targets, origins) - base)
    rows.extend(each[:, origins] for each in past.lately)
    rows.extend(each[:, origins] * base for each in past.share_lately)
    rows.extend(each[:, origins] * base for each in past.city_share)
    rows.extend(_surprise_then(past, targets, origins, steps) for steps in _echoes(past))
    return _known_or_zero(rows)


def spread_features(
    past: Past, targets: IntArray, origins: IntArray, expected: FloatArray, scale: FloatArray
) -> FloatArray:
    """What the size of the error may hang on, (G, S, n), none negative."""
    usual = _usual_size(past.surprise)
    rows = [np.abs(expected), np.broadcast_to(scale[:, None], expected.shape)]
    rows.append(np.broadcast_to(usual, expected.shape))
    rows.append(past.size_lately[:, origins])
    for profile in past.size:
        mean, _ = profile.seen_from(targets, origins)
        rows.append(np.where(np.isfinite(mean), mean, usual))
    return _known_or_zero(rows)


def _known_or_zero(rows: list[FloatArray]) -> FloatArray:
    stacked: FloatArray = np.stack(rows)
    stacked[~np.isfinite(stacked)] = 0.0
    return stacked


def _usual_size(surprise: FloatArray) -> FloatArray:
    """Mean absolute surprise of each series, (S, 1); that of all where a series has none."""
    known = np.isfinite(surprise)
    sums = np.abs(np.where(known, surprise, 0.0)).sum(axis=1, keepdims=True)
    counts = known.sum(axis=1, keepdims=True)
    of_all = sums.sum() / max(1, int(counts.sum()))
    size: FloatArray = np.where(counts > 0, sums / np.maximum(counts, 1), of_all)
    return size


def _echoes(past: Past) -> tuple[int, ...]:
    seasons = past.seasons
    return tuple(sorted({seasons.cycle_steps, seasons.round_steps} - {1}))


def _surprise_then(past: Past, targets: IntArray, origins: IntArray, steps: int) -> FloatArray:
    """The surprise at the target's own phase, the newest that the origin could know."""
    back = np.maximum(1, -((origins - targets) // steps))
    columns = targets - back * steps
    return np.where(columns >= 0, past.surprise[:, np.maximum(columns, 0)], 0.0)
