"""Past origins to learn from: pairs of an origin and a step ahead, drawn where the forecast will stand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from doseflow.domain.city import FloatArray, IntArray


def groups_of_steps(horizon: int, max_groups: int) -> list[IntArray]:
    """Steps ahead, 1..N, in groups that widen with the distance."""
    if horizon <= max_groups:
        return [np.array([step]) for step in range(1, horizon + 1)]
    edges = np.unique(np.round(np.geomspace(1, horizon + 1, max_groups + 1)).astype(int))
    if len(edges) < max_groups + 1:
        # The first groups are single steps: spend what they left over on the far ones.
        singles = int(max_groups // 3)
        far = np.geomspace(singles + 1, horizon + 1, max_groups - singles + 1)
        edges = np.unique(np.concatenate([np.arange(1, singles + 1), np.round(far).astype(int)]))
    return [np.arange(first, last) for first, last in pairwise(edges)]


def draw_pairs(
    steps: IntArray, first: int, last: int, num_pairs: int, phase: tuple[int, int], rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """
    Pairs of target and origin column with their weights, each (n,).

    Half of the pairs start near the phase of the cycle at which the forecast will start, `phase` being the last column
    and the steps of a cycle; the others anywhere.
    """
    origins = np.arange(first, last - steps[0] + 1)
    if not len(origins):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    at, cycle = phase
    away = np.abs((origins - at + cycle // 2) % cycle - cycle // 2)
    near = origins[away <= max(1, cycle // 12)]
    take = num_pairs // 2
    picked = [_pick(near, take, rng), _pick(origins, num_pairs - take, rng)]
    chosen = np.concatenate(picked)
    ahead = steps[rng.integers(0, len(steps), len(chosen))]
    targets = chosen + ahead
    inside = targets <= last
    chosen, targets = chosen[inside], targets[inside]
    order = np.lexsort((targets, chosen))
    chosen, targets = chosen[order], targets[order]
    away = np.abs((chosen - at + cycle // 2) % cycle - cycle // 2) / cycle
    return targets, chosen, np.where(away <= 1 / 12, 1.0, 0.3)


def _pick(candidates: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    if len(candidates) <= count:
        return candidates
    return np.sort(rng.choice(candidates, count, replace=False))
