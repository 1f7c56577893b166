"""What the sites told since the last cycle, as the detectors look at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.state import CityState, LotTable
from doseflow.units import PERIOD_MINUTES

LATE_BY_MINUTES = 1.5
"""A reading still follows the one before when it is this much early or late."""


@dataclass(frozen=True)
class Counts:
    """
    The counts as last told, NaN unknown.

    `valid` is (S, 17), `waiting` (S, R), all else (S,); `stock` is the sum of `lots`.
    """

    valid: FloatArray
    arrivals: FloatArray
    waiting: FloatArray
    doses: FloatArray
    wait_minutes: FloatArray
    stock: FloatArray
    lots: LotTable
    posts: FloatArray


@dataclass(frozen=True)
class Told:
    """The counts before and now; `is_new` and `follows` are (S, 17): told anew, and exactly one period later."""

    before: Counts
    now: Counts
    is_new: BoolArray
    follows: BoolArray

    def follow(self, *classes: FeatureClass) -> BoolArray:
        """Where all these classes were told one period after they were told before, (S,)."""
        follow: BoolArray = np.all(self.follows[:, classes], axis=1)
        return follow


def or_nought(values: FloatArray) -> FloatArray:
    """The values with 0 where they are unknown: only where another test of the same place minds that."""
    return np.where(np.isnan(values), 0.0, values)


def counts_of(state: CityState) -> Counts:
    """The counts of a state; the arrays are its own, and nobody writes to them."""
    lots = state.lots
    doses = (lots.unopened_doses + lots.open_vial_doses).astype(np.float64)
    stock: FloatArray = np.zeros(state.city.num_sites) + np.bincount(
        lots.site_idx, weights=doses, minlength=state.city.num_sites
    )
    return Counts(
        valid=state.valid_epoch_minutes,
        arrivals=state.arrivals_people,
        waiting=state.waiting_people,
        doses=state.doses_given,
        wait_minutes=state.observed_wait_minutes,
        stock=stock,
        lots=lots,
        posts=state.stations_open[:, :-1].sum(axis=1),
    )


def told_since(before: Counts, state: CityState) -> Told:
    """Compare a state with the counts of the cycle before."""
    now = counts_of(state)
    step = now.valid - before.valid
    is_new = ~np.isnan(now.valid) & (np.isnan(before.valid) | (step > 0))
    return Told(before, now, is_new, np.abs(step - PERIOD_MINUTES) <= LATE_BY_MINUTES)
