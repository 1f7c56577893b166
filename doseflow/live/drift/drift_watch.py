"""DriftWatch: day by day, whether what came is still what the models were made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.cycle import Cycle
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.state import CityState
from doseflow.live.drift.class_readings import class_readings
from doseflow.live.drift.day_distance import ClassDistance, DayReadings, DistanceParams, distances_of_day
from doseflow.live.drift.evidence import DriftKind, DriftView, Evidence, features_evidence
from doseflow.live.drift.self_starting_cusum import SelfStartingCusum
from doseflow.live.forecast_score import LeadScore
from doseflow.live.wait_score import ComparedWaits
from doseflow.units import MINUTES_PER_HOUR, epoch_minutes_from_datetime

LEAST_SCORED = 30
"""Forecasts or waits that a day must have to count."""


class DriftWatch:
    """
    Used by one thread at a time. A day is one value of a cumulative sum, since errors of waits hang together from hour
    to hour and those of forecasts depend on the hour; the first whole days are the reference of the readings.

    It lives in memory and begins anew with the process; `doseflow backtest` compares days from the store instead.
    """

    def __init__(self, params: DistanceParams | None = None) -> None:
        self._params = params or DistanceParams()
        self._sums = {kind: _new_sum(kind) for kind in (DriftKind.FORECAST_ERROR, DriftKind.WAIT_ERROR)}
        self._raised_at: dict[DriftKind, datetime] = {}
        self._hour = -1
        self._score = LeadScore()
        self._waits = ComparedWaits(0, 0.0, 0.0, 0.0)
        self._day_on: date | None = None
        self._is_whole_day = False
        self._days: list[DayReadings] = []
        self._readings: list[DayReadings] = []
        self._classes: tuple[ClassDistance, ...] = ()

    def look(self, cycle: Cycle, scores: Mapping[int, LeadScore], waits: ComparedWaits | None) -> None:
        """Take one cycle."""
        state = cycle.state
        hour = int(epoch_minutes_from_datetime(state.as_of) // MINUTES_PER_HOUR)
        if hour != self._hour:
            self._hour = hour
            self._take_readings(state)
        self._score = sum(scores.values(), self._score)
        if waits is not None:
            self._waits += waits

    def begin_anew(self, kind: DriftKind) -> None:
        """Forget the errors of one kind, and an alarm that they raised: another model makes them from now on."""
        self._sums[kind] = _new_sum(kind)
        self._raised_at.pop(kind, None)
        if kind is DriftKind.FORECAST_ERROR:
            self._score = LeadScore()
        else:
            self._waits = ComparedWaits(0, 0.0, 0.0, 0.0)

    def view(self) -> DriftView:
        """How things stand."""
        evidence = [
            Evidence(kind, each.evidence_share, self._raised_at.get(kind), _sentence(kind, each))
            for kind, each in self._sums.items()
        ]
        evidence.append(features_evidence(self._classes, self._raised_at.get(DriftKind.FEATURES)))
        needed = self._params.reference_days
        return DriftView(tuple(evidence), self._classes, min(len(self._days), needed), needed)

    def _take(self, kind: DriftKind, value: float, as_of: datetime) -> None:
        self._sums[kind].take(value)
        if self._sums[kind].is_raised:
            self._raised_at.setdefault(kind, as_of)

    def _take_readings(self, state: CityState) -> None:
        day_on = state.as_of.astimezone(ZoneInfo(state.city.timezone)).date()
        if day_on != self._day_on:
            self._close_day(state.as_of)
            # The day on which the process began is a whole one if no site was open yet.
            self._is_whole_day = self._day_on is not None or not state.is_open.any()
            self._day_on = day_on
        self._readings.append(class_readings(state))

    def _close_day(self, as_of: datetime) -> None:
        day, self._readings = joined(self._readings), []
        score, self._score = self._score, LeadScore()
        waits, self._waits = self._waits, ComparedWaits(0, 0.0, 0.0, 0.0)
        if score.num_scored >= LEAST_SCORED:
            self._take(DriftKind.FORECAST_ERROR, score.loss_over_width, as_of)
        if waits.num_compared >= LEAST_SCORED:
            self._take(DriftKind.WAIT_ERROR, waits.error_share, as_of)
        if not any(len(each) for each in day.values()):
            return
        if len(self._days) < self._params.reference_days:
            if self._is_whole_day:
                self._days.append(day)
            return
        self._classes = distances_of_day(self._days, day, self._params)
        if any(each.speaks for each in self._classes):
            self._raised_at.setdefault(DriftKind.FEATURES, as_of)
        else:
            self._raised_at.pop(DriftKind.FEATURES, None)


def _new_sum(kind: DriftKind) -> SelfStartingCusum:
    # A forecast that grows better is no drift; waits that fall speak against the simulator as those that rise do.
    return SelfStartingCusum(two_sided=kind is DriftKind.WAIT_ERROR)


def joined(readings: Sequence[DayReadings]) -> DayReadings:
    """The readings of several moments as one."""
    return {each: np.concatenate([np.empty(0), *(moment[each] for moment in readings)]) for each in FeatureClass}


def _sentence(kind: DriftKind, cusum: SelfStartingCusum) -> str:
    what = {
        DriftKind.FORECAST_ERROR: "loss over the width that the forecasts gave themselves",
        DriftKind.WAIT_ERROR: "error of the waits as a share of them",
    }[kind]
    if cusum.num_values <= cusum.params.least_values:
        return f"Learning: {cusum.num_values} days so far of {what}."
    verdict = "has shifted" if cusum.is_raised else "has not shifted"
    return f"The {what} {verdict} in {cusum.num_values} days; its mean is {cusum.mean:.3f}."
