"""
Queues as cohorts by age: first in, first served, with the waiting of everybody known. Axis A: age in steps, youngest
first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import FloatArray, IntArray

Cohorts = NDArray[np.int32]


def aged(waiting_people: Cohorts) -> Cohorts:
    """One step later: everybody a step older; the oldest cohort keeps its people."""
    older = np.zeros_like(waiting_people)
    older[..., 1:] = waiting_people[..., :-1]
    older[..., -1] += waiting_people[..., -1]
    return older


def taken_oldest_first(waiting_people: Cohorts, people: IntArray) -> Cohorts:
    """The cohorts of the `people`, (...), who have waited longest; all of them where fewer wait."""
    up_to_age = np.cumsum(waiting_people, axis=-1, dtype=waiting_people.dtype)
    older = up_to_age[..., -1:] - up_to_age
    wanted = people.astype(waiting_people.dtype)[..., None]
    return np.minimum(np.maximum(wanted - older, 0), waiting_people)


def waited_minutes(cohorts: Cohorts, step_minutes: float) -> FloatArray:
    """Sum of the waiting of these people, (...), cut at the oldest age."""
    return cohorts @ (np.arange(cohorts.shape[-1]) * step_minutes)


def leaving(waiting_people: Cohorts, from_step: int, share: float, rng: np.random.Generator) -> Cohorts:
    """Those who give up in one step: each of the people older than `from_step` steps with probability `share`."""
    left = np.zeros_like(waiting_people)
    patient = waiting_people[..., from_step:]
    where = np.nonzero(patient) if share > 0 else ()
    if where and len(where[0]):
        left[..., from_step:][where] = rng.binomial(patient[where], share)
    return left
