"""From an expected value to quantiles: how large errors are, and how they lie."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS

NUM_BANDS = 4
"""Bands of the expected value over its spread, each with its own shape of errors."""
LEAST_IN_BAND = 400
SCALE_IDX = 1
"""Of the series' scale among the features."""
LEAST_OF_SCALE = 0.01
"""The expected error is at least this share of the series' scale."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Weights of the spread's features, (G,), and quantiles of error over spread by band, (K, Q), at centres, (K,)."""

    weights: FloatArray
    centres: FloatArray
    quantiles: FloatArray

    def quantiles_of(self, expected: FloatArray, features: FloatArray) -> FloatArray:
        """Quantiles, (..., Q), from expected values, (...), and features, (G, ...)."""
        size = self.size_of(features)
        place = np.log1p(np.maximum(expected, 0) / size)
        shape = np.stack(
            [np.interp(place, self.centres, self.quantiles[:, idx]) for idx in range(len(QUANTILE_LEVELS))], axis=-1
        )
        return expected[..., None] + size[..., None] * shape

    def size_of(self, features: FloatArray) -> FloatArray:
        """Expected absolute error, (...)."""
        size: FloatArray = np.tensordot(self.weights, features, axes=1)
        floored: FloatArray = np.maximum(size, LEAST_OF_SCALE * features[SCALE_IDX] + 1e-12)
        return floored


def fit_spread(expected: FloatArray, errors: FloatArray, features: FloatArray, weights: FloatArray) -> Spread:
    """Fit on errors, (n,), made out of fold, with features, (G, n)."""
    root = np.sqrt(weights)
    level = np.abs(errors)
    # Relative rows: an error counts by how far it is from its own size, not by the size of its series.
    first = np.maximum(features.mean(axis=0), 1e-12)
    found = _fit_not_negative(features * (root / first), level * root / first)
    spread = Spread(found, np.zeros(1), np.zeros((1, len(QUANTILE_LEVELS))))
    size = spread.size_of(features)
    ratio = errors / size
    place = np.log1p(np.maximum(expected, 0) / size)
    num_bands = int(np.clip(len(errors) // LEAST_IN_BAND, 1, NUM_BANDS))
    edges = np.quantile(place, np.linspace(0, 1, num_bands + 1))
    centres, shapes = [], []
    for low, high in pairwise(edges):
        inside = (place >= low) & (place <= high)
        if not inside.any():
            continue
        centres.append(float(np.median(place[inside])))
        shapes.append(weighted_quantiles(ratio[inside], (weights * size)[inside]))
    return Spread(found, np.array(centres), np.array(shapes))


def _fit_not_negative(features: FloatArray, wanted: FloatArray) -> FloatArray:
    """Weights, (G,), none negative, of features, (G, n), by way of their small Gram matrix."""
    size = np.sqrt((features**2).mean(axis=1)) + 1e-12
    scaled = features / size[:, None]
    gram = scaled @ scaled.T / scaled.shape[1] + 1e-6 * np.eye(len(size))
    lower = np.linalg.cholesky(gram)
    found, _ = nnls(lower.T, solve_triangular(lower, scaled @ wanted / scaled.shape[1], lower=True))
    weights: FloatArray = found / size
    return weights


def weighted_quantiles(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Quantiles at the domain's levels, (Q,)."""
    order = np.argsort(values, kind="stable")
    ranks = np.cumsum(weights[order]) - 0.5 * weights[order]
    result: FloatArray = np.interp(QUANTILE_LEVELS, ranks / weights.sum(), values[order])
    return result
