"""
Stuck readings: a run of equal values, tested by its probability.

A reading repeats itself with some chance p; k repeats in a row have p to the k. p is learned from all sites together,
for each size of the value, from a prior that theory gives; the first repeats of a run are counted and the rest not, so
that a stuck sensor does not teach that sensors stick.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray

COUNTED_REPEATS = 3
MOST_SURE_CHANCE = 0.95


@dataclass(frozen=True)
class Runs:
    """
    Runs of N readings, and what was learned of repeats by B sizes of the value.

    `value`, `log_chance` (of the run so far, 0 or below), `length` (repeats) and `since` (epoch minutes) are (N,);
    `repeats` and `trials` are (B,).
    """

    value: FloatArray
    log_chance: FloatArray
    length: IntArray
    since: FloatArray
    repeats: FloatArray
    trials: FloatArray


def no_runs(num_readings: int, num_sizes: int) -> Runs:
    """Nothing was read yet."""
    unknown, zeros = np.full(num_readings, np.nan), np.zeros(num_readings)
    return Runs(unknown, zeros, np.zeros(num_readings, np.int64), unknown, np.zeros(num_sizes), np.zeros(num_sizes))


def go_on(
    runs: Runs,
    value: FloatArray,
    valid: FloatArray,
    is_told: BoolArray,
    *,
    speaks: BoolArray,
    size: IntArray,
    prior: FloatArray,
    strength: float,
    exponent: float,
) -> Runs:
    """
    Runs after new readings, (N,).

    Parameters
    ----------
    speaks
        Where a repeat would mean something, (N,); one that does not leaves its run as it was.
    size
        Size of the value, (N,), a position on axis B.
    prior, strength
        Chance of a repeat by size, (B,), and the readings it counts for.
    """
    is_told = is_told & ~np.isnan(value)
    is_same = is_told & (value == runs.value)
    is_repeat = is_same & speaks
    is_change = is_told & ~is_same
    log_chance = log_chance_of_repeat(runs, prior, strength, exponent)[size]
    is_counted = (is_repeat | (is_change & speaks & ~np.isnan(runs.value))) & (runs.length < COUNTED_REPEATS)
    num_sizes = len(prior)
    return Runs(
        value=np.where(is_told, value, runs.value),
        log_chance=np.where(is_change, 0.0, runs.log_chance + np.where(is_repeat, log_chance, 0.0)),
        length=np.where(is_change, 0, runs.length + is_repeat),
        since=np.where(is_change, valid, runs.since),
        repeats=runs.repeats + np.bincount(size[is_counted & is_repeat], minlength=num_sizes),
        trials=runs.trials + np.bincount(size[is_counted], minlength=num_sizes),
    )


def log_chance_of_repeat(runs: Runs, prior: FloatArray, strength: float, exponent: float) -> FloatArray:
    """Log of the chance of a repeat, made cautious, (B,)."""
    chance = (runs.repeats + strength * prior) / (runs.trials + strength)
    log_chance: FloatArray = exponent * np.log(np.clip(chance, 1e-3, MOST_SURE_CHANCE))
    return log_chance


def most_likely_repeat(mean: FloatArray, dispersion: float) -> FloatArray:
    """
    Largest chance that a count of one period equals its mean, whatever its rate: the mode of a rounded normal.

    For a Poisson count (dispersion 1) the exact bound is exp(-c) c**c / c!, which is close by from c = 1 on.
    """
    sd = np.sqrt(dispersion * np.maximum(mean, 0.0) + 1 / 12)
    chance: FloatArray = np.minimum(1 / (np.sqrt(2 * np.pi) * sd), MOST_SURE_CHANCE)
    return chance
