"""Bins of features, found once for all trees that are fitted on the same examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray

NUM_BINS = 100
"""At most, a column; few enough for the trees to take each as it is."""
EXAMPLES_LOOKED_AT = 8_000


@dataclass(frozen=True, slots=True)
class TreeBins:
    """Columns that tell something, (K,), and the edges of their bins."""

    columns: IntArray
    edges: tuple[FloatArray, ...]

    def of(self, features: FloatArray) -> FloatArray:
        """Number of the bin of each value, (E, K); NaN stays NaN."""
        if not len(self.columns):
            return np.zeros((len(features), 0))
        numbers = []
        for column, edges in zip(self.columns.tolist(), self.edges, strict=True):
            values = features[:, column]
            numbers.append(np.where(np.isnan(values), np.nan, np.searchsorted(edges, values)))
        return np.column_stack(numbers)


def find_bins(features: FloatArray) -> TreeBins:
    """Bins of about as many examples each, of the columns of (E, F) that are not the same for all examples."""
    columns = _telling(features)
    some = features[:: max(1, len(features) // EXAMPLES_LOOKED_AT)]
    shares = np.linspace(0, 1, NUM_BINS + 1)[1:-1]
    edges = []
    for column in columns.tolist():
        known = some[:, column][np.isfinite(some[:, column])]
        edges.append(np.unique(np.quantile(known, shares)) if known.size else np.zeros(0))
    return TreeBins(columns, tuple(edges))


def _telling(features: FloatArray) -> IntArray:
    """A step that is the only one ahead tells nothing."""
    if not len(features):
        return np.zeros(0, dtype=np.int64)
    least: FloatArray = np.fmin.reduce(features, axis=0)
    most: FloatArray = np.fmax.reduce(features, axis=0)
    return np.flatnonzero(most > least)
