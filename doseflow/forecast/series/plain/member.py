"""What a member of the blend must do."""

from __future__ import annotations

from typing import Protocol

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable


class SeriesMember(Protocol):
    """A forecaster of series that never were negative, on steps that fit into the week."""

    name: str

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Learn from a history."""

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles of the N steps after the end of a table with the same seasons, (S, N, Q)."""
