"""
WaitScore: the wait that was told half an hour before against the wait that a site reports.

The wait told is the one the rules plan by: the fluid queue of the slowest stage under the median forecast, everybody
counted where the plan of that cycle puts them. What it does not see (chance, breaks, who leaves) is its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import StaffMove, StationChange
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Plan
from doseflow.domain.state import CityState
from doseflow.policy.outlook import wait_outlook
from doseflow.policy.reach import Reach
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

WAIT_LEAD_MINUTES = 30
USUAL_WAIT_MINUTES = 10.0
"""Added to each wait told when its error is taken as a share of it, so that a short wait weighs little."""
_LEAD_PERIODS = WAIT_LEAD_MINUTES // PERIOD_MINUTES
_MEDIAN = NeedParams(planning_level=0.5)


@dataclass(frozen=True, slots=True)
class ComparedWaits:
    """Sums over the sites compared, in minutes."""

    num_compared: int
    predicted_minutes: float
    observed_minutes: float
    absolute_error_minutes: float

    def __add__(self, other: ComparedWaits) -> ComparedWaits:
        return ComparedWaits(
            self.num_compared + other.num_compared,
            self.predicted_minutes + other.predicted_minutes,
            self.observed_minutes + other.observed_minutes,
            self.absolute_error_minutes + other.absolute_error_minutes,
        )

    @property
    def error_share(self) -> float:
        """Observed less predicted, as a share of the predicted and ten minutes each; NaN where none was compared."""
        told = self.predicted_minutes + USUAL_WAIT_MINUTES * self.num_compared
        return (self.observed_minutes - self.predicted_minutes) / told if self.num_compared else np.nan

    @property
    def mean_error_minutes(self) -> float:
        """Observed less predicted, mean of the sites; NaN where none was compared."""
        return (self.observed_minutes - self.predicted_minutes) / self.num_compared if self.num_compared else np.nan


class WaitScore:
    """Keeps the waits told in the last half hour."""

    def __init__(self) -> None:
        self._told: dict[int, FloatArray] = {}
        self._reach: Reach | None = None

    def look(self, cycle: Cycle) -> ComparedWaits | None:
        """Compare what was told of now, and keep what is told of half an hour ahead; None where nothing was told."""
        state = cycle.state
        now = int(epoch_minutes_from_datetime(state.as_of) // PERIOD_MINUTES)
        told = self._told.pop(now, None)
        if self._reach is None or self._reach.city is not state.city:
            self._reach = Reach(state.city)
        self._told = {due: each for due, each in self._told.items() if due > now}
        self._told[now + _LEAD_PERIODS] = predicted_wait_minutes(state, cycle.forecast, cycle.plan, self._reach)
        return None if told is None else compare_waits(told, state)


def predicted_wait_minutes(state: CityState, forecast: ArrivalForecast, plan: Plan, reach: Reach) -> FloatArray:
    """Wait half an hour ahead of who comes then, (S,), at most the policy's ceiling; NaN unknown or closed by then."""
    decisions = [planned.decision for planned in plan.decisions]
    moves = [each for each in decisions if isinstance(each, StaffMove)]
    changes = [each for each in decisions if isinstance(each, StationChange)]
    outlook = wait_outlook(survey(state, forecast, _MEDIAN, reach), moves, changes)
    stays_open = state.is_open & (state.open_minutes_left > WAIT_LEAD_MINUTES)
    return np.where(stays_open, outlook.wait_minutes[:, _LEAD_PERIODS - 1], np.nan)


def compare_waits(told_minutes: FloatArray, state: CityState) -> ComparedWaits:
    """Compare with the sites that have reported their wait for this cycle."""
    is_reported = state.source[:, FeatureClass.OBSERVED_WAIT] == ReadingSource.REPORTED
    is_compared = is_reported & state.is_open & np.isfinite(told_minutes) & np.isfinite(state.observed_wait_minutes)
    told, observed = told_minutes[is_compared], state.observed_wait_minutes[is_compared]
    return ComparedWaits(
        num_compared=len(told),
        predicted_minutes=float(told.sum()),
        observed_minutes=float(observed.sum()),
        absolute_error_minutes=float(np.abs(observed - told).sum()),
    )
