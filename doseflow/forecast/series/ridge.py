"""Ridge regression by folds of time, so that each error is one that a forecast would have made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from doseflow.domain.city import FloatArray, IntArray

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Tried penalties, as shares of the weight of the rows."""


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """Coefficients, (F,), and what folds that did not see each row say of it, (n,)."""

    coefficients: FloatArray
    out_of_fold: FloatArray
    penalty: float


def fit_ridge(features: FloatArray, wanted: FloatArray, weights: FloatArray, folds: IntArray) -> RidgeFit:
    """
    Fit wanted, (n,), on features, (F, n); the penalty is the tried one whose folds miss least.

    Features are put on one size first; nothing is centred, so that 0 stays "nothing known".
    """
    size = np.sqrt((weights * features**2).sum(axis=1) / weights.sum())
    size = np.where(size > 0, size, 1.0)
    scaled = features / size[:, None]
    num_folds = int(folds.max()) + 1
    order = np.argsort(folds, kind="stable")
    scaled, wanted, weights = scaled[:, order], wanted[order], weights[order]
    edges = np.searchsorted(folds[order], np.arange(num_folds + 1))
    slices = [slice(first, last) for first, last in pairwise(edges)]
    grams, sides = [], []
    for inside in slices:
        weighted = scaled[:, inside] * weights[inside]
        grams.append(weighted @ scaled[:, inside].T)
        sides.append(weighted @ wanted[inside])
    gram, side = np.sum(grams, axis=0), np.sum(sides, axis=0)
    total = weights.sum()
    best: RidgeFit | None = None
    least = np.inf
    for penalty in PENALTIES:
        out = np.empty(len(wanted))
        for fold, inside in enumerate(slices):
            share = total - weights[inside].sum()
            coefficients = _solve(gram - grams[fold], side - sides[fold], penalty * share)
            out[inside] = coefficients @ scaled[:, inside]
        loss = float((weights * np.abs(wanted - out)).sum())
        if loss < least:
            least = loss
            unsorted = np.empty_like(out)
            unsorted[order] = out
            best = RidgeFit(_solve(gram, side, penalty * total) / size, unsorted, penalty)
    assert best is not None  # noqa: S101 - a loss is finite
    return best


def _solve(gram: FloatArray, side: FloatArray, penalty: float) -> FloatArray:
    ridge = gram + (penalty + 1e-9 * np.trace(gram) / len(gram) + 1e-12) * np.eye(len(gram))
    solved: FloatArray = np.linalg.solve(ridge, side)
    return solved
