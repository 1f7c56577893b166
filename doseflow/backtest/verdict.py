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
    Set a day against the reference days.

    Raises
    ------
    ValueError
        There are fewer than three reference days.
    """
    params = params or VerdictParams()
    if len(reference) < LEAST_REFERENCE_DAYS:
        raise ValueError(f"reference: must have at least {LEAST_REFERENCE_DAYS} days, got {len(reference)}")
    distances = distances_of_day([each.readings for each in reference], day.readings, DistanceParams())
    evidence = (
        _of_forecast(reference, day, params),
        _of_waits(reference, day, params),
        features_evidence(distances, None),
    )
    return DriftView(evidence, distances, len(reference), LEAST_REFERENCE_DAYS)


def _of_forecast(reference: Sequence[PlayedDay], day: PlayedDay, params: VerdictParams) -> Evidence:
    usual = np.array([each.score.loss_over_width for each in reference])
    value, mean = day.score.loss_over_width, float(usual.mean())
    room = max(_room(usual, 1 - params.false_alarm_share), params.least_worse_share * mean)
    coverage = 100 * day.score.coverage_share
    sentence = (
        f"Loss over the width told {value:.3f}; usual {mean:.3f}, limit {mean + room:.3f}. "
        f"{coverage:.0f} % of the arrivals lay within the 80 % interval."
    )
    return Evidence(DriftKind.FORECAST_ERROR, _share(value - mean, room), None, sentence)


def _of_waits(reference: Sequence[PlayedDay], day: PlayedDay, params: VerdictParams) -> Evidence:
    usual = np.array([each.waits.error_share for each in reference])
    value, mean = day.waits.error_share, float(usual.mean())
    room = max(_room(usual, 1 - params.false_alarm_share / 2), params.least_wait_error_share)
    sentence = f"Waits were off by {value:+.2f} of what was told; usual {mean:+.2f}, limits {room:.2f} to either side."
    return Evidence(DriftKind.WAIT_ERROR, _share(abs(value - mean), room), None, sentence)


def _room(usual: np.ndarray, level: float) -> float:
    """Half width of the prediction interval of one more normal value, one-sided at `level`."""
    count = len(usual)
    return float(stdtrit(count - 1, level) * usual.std(ddof=1) * math.sqrt(1 + 1 / count))


def _share(excess: float, room: float) -> float:
    return max(0.0, excess / room) if math.isfinite(excess) and math.isfinite(room) and room > 0 else 0.0
