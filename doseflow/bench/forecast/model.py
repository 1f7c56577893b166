"""What a model must do to be tried."""

from __future__ import annotations

from typing import Protocol

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable


class SeriesModel(Protocol):
    """
    A forecaster of series.

    `notes` says in a few words how it was set up, for the figures.
    """

    name: str
    notes: str

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Learn from what is before the part that is played; called once."""
        ...

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles of the N steps after the end of the table, (S, N, Q)."""
        ...
