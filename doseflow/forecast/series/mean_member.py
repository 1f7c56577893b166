"""Several members of one form, as one: the mean of what they tell, level by level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.plain.member import SeriesMember


class MeanMember:
    """
    Members that differ in their draw of examples alone, under the name of the first.

    What each owes to its own draw is averaged out (L. Breiman, Bagging predictors, Machine Learning 24, 1996,
    doi:10.1007/BF00058655).
    """

    def __init__(self, members: Sequence[SeriesMember]) -> None:
        self.name = members[0].name
        self._members = tuple(members)

    def fit(self, table: SeriesTable, horizon: int) -> None:
        """Fit each on the whole history."""
        for member in self._members:
            member.fit(table, horizon)

    def forecast(self, table: SeriesTable, horizon: int) -> FloatArray:
        """The mean of their quantiles, (S, N, Q); quantiles that do not fall along Q keep to that in the mean."""
        return np.asarray(np.mean([member.forecast(table, horizon) for member in self._members], axis=0))
