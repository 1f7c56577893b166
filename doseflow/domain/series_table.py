"""SeriesTable: many series on one regular grid of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from doseflow.domain.city import FloatArray


@dataclass(frozen=True)
class SeriesTable:
    """
    What S series were at P moments, one step apart.

    Parameters
    ----------
    starts_at
        Moment of the first column; aware UTC, or naive and then taken as UTC.
    step_minutes
        1440 for days, 10080 for weeks.
    values
        (S, P), NaN where unknown; zeros are zeros.
    latitude, longitude
        Degrees, (S,), NaN where unknown; unknown everywhere when left out.
    covariates
        Other readings by name, each (S, P), NaN where unknown.

    Raises
    ------
    ValueError
        The shapes do not fit each other, or the step is not positive.
    """

    series_ids: tuple[str, ...]
    starts_at: datetime
    step_minutes: int
    values: FloatArray
    latitude: FloatArray = field(default_factory=lambda: np.empty(0))
    longitude: FloatArray = field(default_factory=lambda: np.empty(0))
    covariates: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        num_series = len(self.series_ids)
        for name in ("latitude", "longitude"):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(num_series, np.nan))
            if getattr(self, name).shape != (num_series,):
                raise ValueError(f"{name}: must be ({num_series},), got {getattr(self, name).shape}")
        if self.values.ndim != 2 or len(self.values) != num_series:
            raise ValueError(f"values: must be ({num_series}, P), got {self.values.shape}")
        for name, covariate in self.covariates.items():
            if covariate.shape != self.values.shape:
                raise ValueError(f"covariates[{name!r}]: must be {self.values.shape}, got {covariate.shape}")
        if self.step_minutes < 1:
            raise ValueError(f"step_minutes: must be at least 1, got {self.step_minutes}")

    @property
    def num_series(self) -> int:
        """S."""
        return len(self.series_ids)

    @property
    def num_steps(self) -> int:
        """P."""
        return int(self.values.shape[1])

    @property
    def starts_at_utc(self) -> datetime:
        """Moment of the first column, aware."""
        return self.starts_at if self.starts_at.tzinfo else self.starts_at.replace(tzinfo=UTC)

    def at(self, step_idx: int) -> datetime:
        """Moment of a column; columns past the last one are the future."""
        return self.starts_at + timedelta(minutes=self.step_minutes * step_idx)
