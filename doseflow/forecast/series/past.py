"""What the past of a table says at any moment of it: profiles of its seasons and surprises against them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from doseflow.domain.city import FloatArray, IntArray
from doseflow.forecast.series.profiles import Profile, make_profile
from doseflow.forecast.series.seasons import Seasons, places_in_round

ROUND_HALF_LIVES = (0.5, 2.0, 6.0, 20.0)
"""Of the mean of the same place in the round, in rounds."""
KIND_HALF_LIVES = (1.0, 4.0, 20.0)
"""Of the mean of cycles of the same kind, in such cycles."""
CYCLE_HALF_LIVES = (1.0, 4.0)
"""Of the mean of all cycles, in cycles."""
ROUND_BASE_IDX = 2
KIND_BASE_IDX = 1
LEAST_PATTERN = 0.01
"""Sum of squares of the table's pattern from which a series' share of it is known."""
PRIOR_CYCLES = 1.0
"""Weight of the wider profile in the mean of the narrower one, in cycles."""


@dataclass(frozen=True, slots=True)
class Past:
    """Values on the scale of the model, (S, P), and all that is folded from them."""

    values: FloatArray
    seasons: Seasons
    of_round: tuple[Profile, ...]
    of_kind: tuple[Profile, ...]
    of_cycle: tuple[Profile, ...]
    smooth: Profile
    like_all: FloatArray
    """How much of the table's own pattern each series takes, up to each column, (S, P)."""
    of_all: Pattern
    level: FloatArray
    surprise: FloatArray
    """Value less what the profiles said the step before, (S, P)."""
    lately: tuple[FloatArray, ...]
    """Weighted means of the surprise up to each column, by half-life, each (S, P)."""
    share_lately: tuple[FloatArray, ...]
    """The same over what was expected: a share, each (S, P)."""
    city_share: tuple[FloatArray, ...]
    """The same of all series together, each (1, P)."""
    size_lately: FloatArray
    """Weighted mean of the surprise's absolute value, (S, P)."""
    size: tuple[Profile, ...]
    """Profiles of the surprise's absolute value."""

    def of_series(self, rows: IntArray) -> Past:
        """The same of some series, (R,), beside the whole city's shares."""
        return replace(
            self,
            values=self.values[rows],
            of_round=tuple(each.of_series(rows) for each in self.of_round),
            of_kind=tuple(each.of_series(rows) for each in self.of_kind),
            of_cycle=tuple(each.of_series(rows) for each in self.of_cycle),
            smooth=self.smooth.of_series(rows),
            like_all=self.like_all[rows],
            level=self.level[rows],
            surprise=self.surprise[rows],
            lately=tuple(each[rows] for each in self.lately),
            share_lately=tuple(each[rows] for each in self.share_lately),
            size_lately=self.size_lately[rows],
            size=tuple(each.of_series(rows) for each in self.size),
        )

    def borrowed(self, targets: IntArray, origins: IntArray) -> FloatArray:
        """What the table's pattern says of each series, (S, n); its own level where that is not known yet."""
        columns = np.maximum(origins, 0)
        pattern = self.of_all.seen_from(targets, origins)
        return np.where(np.isfinite(pattern), self.like_all[:, columns] * pattern, self.level[:, columns])

    def base(self, targets: IntArray, origins: IntArray) -> FloatArray:
        """What the seasons alone say, (S, n): the round's mean, drawn to that of its kind, to the table's pattern."""
        start = self.borrowed(targets, origins)
        return draw_together((self.of_kind[KIND_BASE_IDX], self.of_round[ROUND_BASE_IDX]), start, targets, origins)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern of all series together, each on its own scale."""

    profiles: tuple[Profile, ...]
    """Of all cycles, of the kind, of the round, each (1, P)."""
    level: FloatArray

    def seen_from(self, targets: IntArray, origins: IntArray) -> FloatArray:
        """The pattern at each target, (1, n)."""
        return draw_together(self.profiles, self.level[:, np.maximum(origins, 0)], targets, origins)


def draw_together(profiles: tuple[Profile, ...], start: FloatArray, targets: IntArray, origins: IntArray) -> FloatArray:
    """The last profile, drawn to the one before, and so on to the start, (S, n), as far as few cycles are known."""
    expected = start
    for profile in profiles:
        mean, weight = profile.seen_from(targets, origins)
        start = np.where(np.isfinite(expected), expected, mean)
        drawn = (weight * np.nan_to_num(mean) + PRIOR_CYCLES * start) / (weight + PRIOR_CYCLES)
        expected = np.where(weight > 0, drawn, expected)
    return expected


def look_back(values: FloatArray, seasons: Seasons, num_future: int) -> Past:
    """Fold values, (S, P); the first column is the first of a cycle."""
    num_steps = values.shape[1]
    cycle = seasons.cycle_steps
    num_cycles = -(-(num_steps + num_future) // cycle) + 1
    places = places_in_round(seasons, num_cycles)
    kinds = np.asarray(seasons.kinds)[places]
    alike = np.zeros(num_cycles, dtype=np.int64)
    of_round = tuple(make_profile(values, cycle, places, half) for half in ROUND_HALF_LIVES)
    of_kind = tuple(make_profile(values, cycle, kinds, half) for half in KIND_HALF_LIVES)
    of_cycle = tuple(make_profile(values, cycle, alike, half) for half in CYCLE_HALF_LIVES)
    level = decayed_mean(values, max(8.0, 2.0 * cycle))
    widest = of_round[-2]
    smooth = replace(widest, mean=smooth_along(widest.mean, cycle))
    together, like_all = _pattern_of_all(values, cycle, (alike, kinds, places), level)
    past = Past(
        values, seasons, of_round, of_kind, of_cycle, smooth, like_all, together, level, values, (), (), (), values, ()
    )
    columns = np.arange(num_steps)
    expected = past.base(columns, columns - 1)
    surprise = values - expected
    half_lives = surprise_half_lives(seasons)
    size = np.abs(surprise)
    prior = float(np.nanmean(expected**2))
    return Past(
        values,
        seasons,
        of_round,
        of_kind,
        of_cycle,
        smooth,
        like_all,
        together,
        level,
        surprise,
        tuple(decayed_mean(surprise, half, prior=0.3, start=0.0) for half in half_lives),
        tuple(decayed_share(surprise, expected, half, prior) for half in half_lives[1:]),
        tuple(decayed_share(surprise, expected, half, prior, together=True) for half in half_lives),
        decayed_mean(size, max(6.0, cycle / 4), prior=0.3),
        (
            make_profile(size, cycle, places, 8.0),
            make_profile(size, cycle, alike, 15.0),
        ),
    )


def _pattern_of_all(
    values: FloatArray, cycle_steps: int, classes: tuple[IntArray, ...], level: FloatArray
) -> tuple[Pattern, FloatArray]:
    """The pattern of all series, each over its own scale, and how much of it each series takes, (S, P)."""
    scale = np.sqrt(np.nan_to_num(_mean_known(values**2, axis=1)))[:, None]
    relative = np.divide(values, scale, out=np.full(values.shape, np.nan), where=scale > 0)
    mean = _mean_known(relative, axis=0)[None, :]
    half_lives = (CYCLE_HALF_LIVES[-1], KIND_HALF_LIVES[KIND_BASE_IDX], ROUND_HALF_LIVES[ROUND_BASE_IDX])
    together = Pattern(
        tuple(make_profile(mean, cycle_steps, each, half) for each, half in zip(classes, half_lives, strict=True)),
        decayed_mean(mean, max(8.0, 2.0 * cycle_steps)),
    )
    columns = np.arange(values.shape[1])
    pattern = together.seen_from(columns, columns - 1)
    known = np.isfinite(values) & np.isfinite(pattern)
    keep = 0.5 ** (1 / max(8.0, 2.0 * cycle_steps))
    cross = lfilter([1.0], [1.0, -keep], np.where(known, values * pattern, 0.0), axis=1)
    square = lfilter([1.0], [1.0, -keep], np.where(known, np.broadcast_to(pattern**2, values.shape), 0.0), axis=1)
    like_all = np.divide(cross, square, out=np.full(values.shape, np.nan), where=square > LEAST_PATTERN)
    like_all = _carry_forward(like_all)
    return together, np.where(np.isfinite(like_all), like_all, level)


def _mean_known(values: FloatArray, axis: int) -> FloatArray:
    """Mean of the known values; NaN where none is."""
    known = np.isfinite(values)
    counts = known.sum(axis=axis)
    sums = np.where(known, values, 0.0).sum(axis=axis)
    mean: FloatArray = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return mean


def surprise_half_lives(seasons: Seasons) -> tuple[float, ...]:
    """Half-lives of the surprises that are looked at, in steps; 0 is the newest alone."""
    long = {float(seasons.cycle_steps), float(seasons.round_steps), seasons.cycle_steps / 4}
    return (0.0, 1.0, 3.0, 10.0, *sorted(each for each in long if each > 14.0))


def decayed_mean(values: FloatArray, half_life: float, prior: float = 0.0, start: float | None = None) -> FloatArray:
    """Mean of the known values up to each column, newer ones weighing more; `prior` steps of `start` drawn in."""
    known = np.isfinite(values)
    keep = 0.5 ** (1 / half_life) if half_life > 0 else 0.0
    sums = lfilter([1.0], [1.0, -keep], np.where(known, values, 0.0), axis=1)
    weight = lfilter([1.0], [1.0, -keep], known.astype(float), axis=1)
    if start is not None:
        sums = sums + prior * start
        weight = weight + prior
    result: FloatArray = np.divide(sums, weight, out=np.full(values.shape, np.nan), where=weight > 1e-9)
    return _carry_forward(result) if start is None else result


def _carry_forward(values: FloatArray) -> FloatArray:
    """The newest known value up to each column."""
    known = np.isfinite(values)
    if known.all():
        return values
    columns = np.maximum.accumulate(np.where(known, np.arange(values.shape[1]), 0), axis=1)
    carried: FloatArray = np.take_along_axis(values, columns, axis=1)
    return carried


def decayed_share(
    surprise: FloatArray, expected: FloatArray, half_life: float, prior: float, *, together: bool = False
) -> FloatArray:
    """Slope of the surprise on what was expected, up to each column; of all series at once if `together`."""
    known = np.isfinite(surprise)
    cross = np.where(known, surprise * expected, 0.0)
    square = np.where(known, expected**2, 0.0)
    if together:
        cross = cross.sum(axis=0, keepdims=True)
        square = square.sum(axis=0, keepdims=True)
    keep = 0.5 ** (1 / half_life) if half_life > 0 else 0.0
    slope: FloatArray = lfilter([1.0], [1.0, -keep], cross, axis=1) / (
        lfilter([1.0], [1.0, -keep], square, axis=1) + prior + 1e-12
    )
    return slope


def smooth_along(mean: FloatArray, cycle_steps: int) -> FloatArray:
    """Mean with the neighbouring phases, where a cycle has enough of them."""
    if cycle_steps < 12:
        return mean
    kernel = np.array([1.0, 2.0, 3.0, 2.0, 1.0]) if cycle_steps < 60 else np.array([1, 2, 3, 4, 5, 4, 3, 2, 1.0])
    known = np.isfinite(mean)
    padded = len(kernel) // 2
    sums = _moving(np.where(known, mean, 0.0), kernel, padded)
    weight = _moving(known.astype(float), kernel, padded)
    return np.where(known, sums / np.maximum(weight, 1e-9), np.nan)


def _moving(values: FloatArray, kernel: FloatArray, reach: int) -> FloatArray:
    wide = np.pad(values, ((0, 0), (reach, reach)))
    moved: FloatArray = np.sum([each * wide[:, idx : idx + values.shape[1]] for idx, each in enumerate(kernel)], axis=0)
    return moved
