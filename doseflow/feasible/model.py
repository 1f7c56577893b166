"""
The nearest allowed plan as a small integer programme, in arrays and without a solver.

Each choice of the universe is a whole number of steps between two bounds; switches are 0 or 1 and say whether any of
some choices is ordered. Rows bound sums of them. The cost is the weighted distance to what was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.feasible.distance import WEIGHT
from doseflow.feasible.lookup import WHOLE_TOLERANCE
from doseflow.feasible.universe import Choice, Universe

Term = tuple[int, float]
"""A position and its coefficient, in the decision's own unit (switches: 1)."""

ROW_TOLERANCE = 1e-6
"""By how much a row may be exceeded: the solver's own tolerance."""


@dataclass(slots=True)
class Rows:
    """Rows `sum coefficient * value <= bound`, one after the other; `starts` has one entry more than there are rows."""

    positions: IntArray
    coefficients: FloatArray
    starts: IntArray
    bounds: FloatArray

    def broken(self, values: FloatArray) -> BoolArray:
        """Which rows a solution breaks."""
        if not len(self.bounds):
            return np.zeros(0, dtype=np.bool_)
        activity = np.add.reduceat(self.coefficients * values[self.positions], self.starts[:-1])
        return np.asarray(activity > self.bounds + ROW_TOLERANCE)


class NearestModel:
    """
    The programme under construction: row functions bound, forbid and join choices.

    `is_impossible` is set once a bound leaves a choice nothing.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.ledger = universe.ledger
        self.choices: list[Choice] = list(universe.choices)
        self.lower = [choice.lower for choice in self.choices]
        self.upper = [choice.upper for choice in self.choices]
        self._steps = [choice.step for choice in self.choices]
        self.objected: set[int] = set()
        self.must_order: set[int] = set()
        self._is_ruled_out = False
        self.switched: list[tuple[int, ...]] = []
        self._switch_of: dict[tuple[int, ...], int] = {}
        self._positions: list[int] = []
        self._coefficients: list[float] = []
        self._starts: list[int] = [0]
        self._bounds: list[float] = []

    @property
    def num_choices(self) -> int:
        """Choices; switches stand behind them."""
        return len(self.choices)

    @property
    def is_impossible(self) -> bool:
        """Whether bounds alone leave no plan."""
        leaves_nothing = any(low > high for low, high in zip(self.lower, self.upper, strict=True))
        return self._is_ruled_out or leaves_nothing or bool(self.objected & self.must_order)

    def rule_out(self) -> None:
        """Say that no plan is possible, whatever the choices."""
        self._is_ruled_out = True

    def restrict(self, position: int, low: float, high: float) -> None:
        """Keep a choice between two bounds, in the decision's own unit."""
        step = self._steps[position]
        self.lower[position] = max(self.lower[position], math.ceil(low / step - WHOLE_TOLERANCE))
        self.upper[position] = min(self.upper[position], math.floor(high / step + WHOLE_TOLERANCE))

    def forbid(self, position: int) -> None:
        """Leave what a decision would change as it is."""
        self.objected.add(position)
        present = self.choices[position].present
        self.restrict(position, present, present)

    def at_most(self, terms: Iterable[Term], bound: float) -> None:
        """Require a weighted sum of choices and switches to be at most `bound`."""
        steps = [(position, coefficient * self._steps[position]) for position, coefficient in terms]
        if sum(weight * (self.upper if weight > 0 else self.lower)[position] for position, weight in steps) <= bound:
            return
        adds_up = all(coefficient >= 0 for _, coefficient in steps)
        if adds_up:
            self._tighten(steps, bound)
        if len(steps) > 1 or not adds_up:
            self._add(steps, bound)

    def sum_at_most(self, positions: Sequence[int], bound: int) -> None:
        """Require a plain sum of choices that count single things to be at most `bound`."""
        if len(positions) == 1:
            self.upper[positions[0]] = min(self.upper[positions[0]], bound)
        elif sum(self.upper[position] for position in positions) > bound:
            self.at_most([(position, 1.0) for position in positions], bound)

    def at_least(self, terms: Iterable[Term], bound: float) -> None:
        """Require a weighted sum of choices and switches to be at least `bound`."""
        self.at_most([(position, -coefficient) for position, coefficient in terms], -bound)

    def switch(self, positions: Sequence[int]) -> int:
        """Position of the switch that is 1 where any of some choices is above 0."""
        key = tuple(positions)
        if key not in self._switch_of:
            self._switch_of[key] = self.num_choices + len(self.switched)
            self.switched.append(key)
            self.lower.append(0)
            self.upper.append(1)
            self._steps.append(1)
        return self._switch_of[key]

    def stations(self, site_idx: int, stage_idx: int) -> tuple[int | None, int | None]:
        """Position of the choice of a stage's stations, None where it stays; and those open now, None if unknown."""
        entry = self.ledger.stations.get((site_idx, stage_idx))
        now = self.ledger.lookup.open_now(site_idx, stage_idx)
        return (None if entry is None or now is None else entry.position), now

    def rows(self) -> Rows:
        """All rows, those that tie switches to their choices included. To be asked for once, when all is said."""
        for offset, positions in enumerate(self.switched):
            switch = self.num_choices + offset
            for position in positions:
                if self.upper[switch] <= 0:
                    self.upper[position] = min(self.upper[position], 0)
                self._add([(position, 1.0), (switch, -float(self.upper[position]))], 0.0)
        return Rows(
            np.array(self._positions, dtype=np.int64),
            np.array(self._coefficients, dtype=np.float64),
            np.array(self._starts, dtype=np.int64),
            np.array(self._bounds, dtype=np.float64),
        )

    def nearest_bounded(self) -> list[int]:
        """The values nearest to what was asked for within the bounds alone, in steps, switches included."""
        values = [
            min(max(choice.asked // choice.step, low), high)
            for choice, low, high in zip(self.choices, self.lower, self.upper, strict=False)
        ]
        return self.with_switches(values)

    def with_switches(self, values: Sequence[int]) -> list[int]:
        """Values of the choices, and after them what the switches then are."""
        return [*values, *(int(any(values[one] > 0 for one in positions)) for positions in self.switched)]

    def weight(self, position: int) -> float:
        """Cost of changing a choice by one of its decision's own units."""
        return WEIGHT[self.choices[position].decision.kind]

    def _tighten(self, steps: Sequence[Term], bound: float) -> None:
        """Bound each choice by what the others leave of a sum at the least."""
        lower, upper = self.lower, self.upper
        spare = bound - sum(coefficient * lower[position] for position, coefficient in steps)
        for position, coefficient in steps:
            if coefficient > 0 and coefficient * (upper[position] - lower[position]) > spare:
                upper[position] = lower[position] + math.floor(spare / coefficient + WHOLE_TOLERANCE)

    def _add(self, steps: Sequence[Term], bound: float) -> None:
        self._positions += [position for position, _ in steps]
        self._coefficients += [coefficient for _, coefficient in steps]
        self._starts.append(len(self._positions))
        self._bounds.append(bound)
