"""Rolling origins: fit once before the part, then forecast from every origin with the history up to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from doseflow.bench.forecast.model import SeriesModel
from doseflow.bench.forecast.series_set import Part, SeriesSet, history_before, with_reports_missing
from doseflow.domain.city import FloatArray, IntArray


@dataclass(frozen=True)
class BackTest:
    """
    What a model forecast and what came; O origins, S series, N steps ahead, Q quantiles.

    Parameters
    ----------
    quantiles
        (O, S, N, Q).
    actual
        (O, S, N), NaN where unknown.
    seconds
        Processor time to fit and to forecast all origins.
    """

    model: str
    notes: str
    origins: IntArray
    quantiles: FloatArray
    actual: FloatArray
    seconds: float


def back_test(
    model: SeriesModel,
    of: SeriesSet,
    part: Part,
    at_most: int,
    *,
    missing_share: float = 0.0,
    seed: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> BackTest:
    """
    Try a model on a part of a set.

    Parameters
    ----------
    at_most
        Origins, evenly spread over the part.
    missing_share
        Share of all reports before each origin that the model does not see, drawn with the seed; what it is scored on
        stays whole.
    advance
        Called after the fit and after every origin.
    """
    began = time.process_time()
    horizon = of.horizons[-1]
    seen = with_reports_missing(of.table, missing_share, seed) if missing_share > 0 else of.table
    model.fit(history_before(seen, of.bounds(part)[0]), horizon)
    advance()
    origins = of.origins(part, at_most)
    quantiles = []
    for origin in origins:
        quantiles.append(_whole(model, model.forecast(history_before(seen, int(origin)), horizon), of))
        advance()
    seconds = time.process_time() - began
    return BackTest(model.name, model.notes, origins, np.array(quantiles), of.actual(origins), seconds)


def _whole(model: SeriesModel, quantiles: FloatArray, of: SeriesSet) -> FloatArray:
    """A forecast that is not there counts as 0: leaving a hard site out must not pay."""
    expected = (len(of.table.series_ids), of.horizons[-1])
    if quantiles.shape[:2] != expected:
        raise ValueError(f"{model.name}: expected a forecast of {expected} series and steps, got {quantiles.shape[:2]}")
    return np.nan_to_num(quantiles)
