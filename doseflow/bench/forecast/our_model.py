"""The forecaster of `doseflow forecast`, as it comes."""

from __future__ import annotations

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series import SeriesForecaster


class OurForecaster:
    """What `doseflow forecast` fits, fitted once on what lies before the part that is played, as every peer is."""

    name = "doseflow"

    def __init__(self) -> None:
        self._forecaster = SeriesForecaster()
        self.notes = "the blend of `doseflow forecast`"

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Learn blend and members."""
        self._forecaster = SeriesForecaster()
        self._forecaster.fit(table, horizon)
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in self._forecaster.weights.items())
        self.notes = f"the blend of `doseflow forecast`: {weights}"

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """Quantiles, (S, N, Q)."""
        return self._forecaster.forecast(table, horizon)
