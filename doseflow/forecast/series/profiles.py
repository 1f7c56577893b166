"""Weighted means of the same phase of past cycles, as they stood at any moment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Profile:
    """
    The mean of the same phase of cycles of the same class up to each column, (S, P), and its weight in cycles.

    Newer cycles weigh more: by half for each `half_life` cycles of the class.
    """

    mean: FloatArray
    weight: FloatArray
    cycle_steps: int
    class_of_cycle: IntArray
    """Class of each cycle, also of the cycles of the future, (C,)."""
    newest_alike: IntArray
    """For each cycle and class the newest cycle of the class that is no later, -1 for none, (C, classes)."""

    def of_series(self, rows: IntArray) -> Profile:
        """The same of some series, (R,)."""
        return replace(self, mean=self.mean[rows], weight=self.weight[rows])

    def source_columns(self, targets: IntArray, origins: IntArray) -> IntArray:
        """The column with the newest state for each target that the origin could know; -1 where there is none."""
        back = np.maximum(0, -((origins - targets) // self.cycle_steps))
        wanted = self.class_of_cycle[targets // self.cycle_steps]
        latest = targets // self.cycle_steps - back
        cycle = np.where(latest < 0, -1, self.newest_alike[np.maximum(latest, 0), wanted])
        return np.where(cycle < 0, -1, cycle * self.cycle_steps + targets % self.cycle_steps)

    def seen_from(self, targets: IntArray, origins: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and weight, (S, n), for pairs of target and origin column; NaN and 0 where nothing is known."""
        columns = self.source_columns(targets, origins)
        mean = self.mean[:, np.maximum(columns, 0)]
        weight = np.where(columns < 0, 0.0, self.weight[:, np.maximum(columns, 0)])
        return np.where(weight > 0, mean, np.nan), weight


def make_profile(values: FloatArray, cycle_steps: int, class_of_cycle: IntArray, half_life: float) -> Profile:
    """Fold values, (S, P), cycle by cycle; unknown values leave the mean as it was."""
    num_series, num_steps = values.shape
    keep = 0.5 ** (1 / half_life)
    mean = np.full(values.shape, np.nan)
    weight = np.zeros(values.shape)
    sums = {int(each): np.zeros((2, num_series, cycle_steps)) for each in np.unique(class_of_cycle)}
    for cycle in range(-(-num_steps // cycle_steps)):
        columns = slice(cycle * cycle_steps, min((cycle + 1) * cycle_steps, num_steps))
        length = columns.stop - columns.start
        state = sums[int(class_of_cycle[cycle])][:, :, :length]
        today = values[:, columns]
        known = np.isfinite(today)
        state *= keep
        state[0] += np.where(known, today, 0.0)
        state[1] += known
        weight[:, columns] = state[1]
        np.divide(state[0], state[1], out=mean[:, columns], where=state[1] > 1e-6)
    weight[weight <= 1e-6] = 0.0
    return Profile(mean, weight, cycle_steps, class_of_cycle, newest_alike(class_of_cycle))


def newest_alike(class_of_cycle: IntArray) -> IntArray:
    """For each cycle and class the newest cycle of the class that is no later, -1 for none, (C, classes)."""
    cycles = np.arange(len(class_of_cycle))[:, None]
    is_class = class_of_cycle[:, None] == np.arange(int(class_of_cycle.max()) + 1)
    newest: IntArray = np.maximum.accumulate(np.where(is_class, cycles, -1), axis=0)
    return newest
