"""SeriesTable: many series on one regular clock, what is not known left open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from doseflow.domain.city import FloatArray


@dataclass(frozen=True)
class SeriesTable:
    """
    Values of S series at P regular steps.

    Parameters
    ----------
    starts_at
        Moment of the first step, in UTC; times without a zone are taken as UTC.
    step_minutes
        Length of a step, positive; 1440 for days, 10080 for weeks.
    values
        (S, P), NaN where unknown.
    latitude
        Degrees, (S,), NaN where unknown.
    longitude
        Degrees, (S,), NaN where unknown.
    covariates
        Other readings by name, each (S, P).
    """

    series_ids: tuple[str, ...]
    starts_at: datetime
    step_minutes: int
    values: FloatArray
    latitude: FloatArray
    longitude: FloatArray
    covariates: dict[str, FloatArray]
