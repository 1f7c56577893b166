"""The verdict on a day: its figures against those of the days before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from doseflow.backtest.played_day import PlayedDay
from doseflow.live.drift.day_distance import DistanceParams, distances_of_day
from doseflow.live.drift.evidence import DriftKind, DriftView, Evidence, features_evidence

LEAST_REFERENCE_DAYS = 3


@dataclass(frozen=True, slots=True)
class VerdictParams:
    """
    When a day is another than those before it.

    Parameters
    ----------
    false_alarm_share
        Nights on which forecast or wait, each for itself, may speak by chance, days being alike and normal.
    least_worse_share
        A forecast must be so much worse, as a share of the usual loss.
    least_wait_error_share
        A wait must be so much further off, as a share of the waits told.
    """

    false_alarm_share: float = 0.01
    least_worse_share: float = 0.1
    least_wait_error_share: float = 0.15


def verdict(reference: Sequence[PlayedDay], day: PlayedDay, params: VerdictParams | None = None) -> DriftView:
    """
    Set a day against the reference days; those that tell nothing of forecasts, waits or readings are left out there.

    Raises
    ------
    ValueError
        There are fewer than three reference days.
    """
    params = params or VerdictParams()
    if len(reference) < LEAST_REFERENCE_DAYS:
        raise ValueError(f"reference: must have at least {LEAST_REFERENCE_DAYS} days, got {len(reference)}")
    read = [each.readings for each in reference if any(len(values) for values in each.readings.values())]
    enough = len(read) >= LEAST_REFERENCE_DAYS
    distances = distances_of_day(read, day.readings, DistanceParams()) if enough else ()
    evidence = (
        _of_forecast(reference, day, params),
        _of_waits(reference, day, params),
        features_evidence(distances, None),
    )
    return DriftView(evidence, distances, len(reference), LEAST_REFERENCE_DAYS)


def _of_forecast(reference: Sequence[PlayedDay], day: PlayedDay, params: VerdictParams) -> Evidence:
    usual = _known([each.score.loss_over_width for each in reference])
    value = day.score.loss_over_width
    if trouble := _trouble(usual, value, "no forecast"):
        return Evidence(DriftKind.FORECAST_ERROR, math.nan, None, trouble)
    mean = float(usual.mean())
    room = max(_room(usual, 1 - params.false_alarm_share), params.least_worse_share * mean)
    coverage = 100 * day.score.coverage_share
    sentence = (
        f"Loss over the width told {value:.3f}; usual {mean:.3f}, limit {mean + room:.3f}. "
        f"{coverage:.0f} % of the arrivals lay within the 80 % interval."
    )
    return Evidence(DriftKind.FORECAST_ERROR, _share(value - mean, room), None, sentence)


def _of_waits(reference: Sequence[PlayedDay], day: PlayedDay, params: VerdictParams) -> Evidence:
    usual = _known([each.waits.error_share for each in reference])
    value = day.waits.error_share
    if trouble := _trouble(usual, value, "no wait"):
        return Evidence(DriftKind.WAIT_ERROR, math.nan, None, trouble)
    mean = float(usual.mean())
    room = max(_room(usual, 1 - params.false_alarm_share / 2), params.least_wait_error_share)
    sentence = f"Waits were off by {value:+.2f} of what was told; usual {mean:+.2f}, limits {room:.2f} to either side."
    return Evidence(DriftKind.WAIT_ERROR, _share(abs(value - mean), room), None, sentence)


def _known(values: Sequence[float]) -> np.ndarray:
    return np.array([value for value in values if math.isfinite(value)])


def _trouble(usual: np.ndarray, value: float, nothing: str) -> str:
    """Why a day cannot be judged, in a sentence; empty where it can."""
    if not math.isfinite(value):
        return f"Cannot be judged: {nothing} of the day could be compared with what came."
    if len(usual) < LEAST_REFERENCE_DAYS:
        return (
            f"Cannot be judged: {len(usual)} days before it can be compared with, of at least {LEAST_REFERENCE_DAYS}."
        )
    return ""


def _room(usual: np.ndarray, level: float) -> float:
    """Half width of the prediction interval of one more normal value, one-sided at `level`."""
    count = len(usual)
    return float(stdtrit(count - 1, level) * usual.std(ddof=1) * math.sqrt(1 + 1 / count))


def _share(excess: float, room: float) -> float:
    return max(0.0, excess / room) if room > 0 else 0.0
