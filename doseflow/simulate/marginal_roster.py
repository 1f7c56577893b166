"""
Where the people of a role are rostered: each next person goes where they save the most waiting (marginal allocation,
Fox 1966, doi:10.1287/opre.14.2.210, the best whole numbers where every further person saves less than the one before).

Waiting in a shift follows the time-dependent queue of Kimber and Hollis (1979, TRRL report LR 909), which is the
stationary queue where there is slack and the queue of a fluid where there is none: a shift is too short for the first
to hold near full load, and a group above full load has no stationary queue. Axes: S sites, H shifts.
"""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray

# 1 for Poisson arrivals and exponential service, 1/2 for constant service, near which appointments are. 0.5 and 1 were
# tried on the training families: 22.4 and 22.5 min mean wait under the fixed roster, 23.2 by largest remainder.
QUEUE_VARIABILITY = 0.5


def waiting_person_minutes(
    busy_people: FloatArray, people: FloatArray, shift_minutes: FloatArray, service_minutes: float
) -> FloatArray:
    """
    Waiting in a shift of a group of `people` that keeps `busy_people` at work on average; of any one shape.

    Mean queue of Kimber and Hollis with no queue at the start, times the length of the shift.
    """
    people = np.maximum(people, 1e-6)
    load = busy_people / people
    served = np.maximum(people * shift_minutes / service_minutes, 1e-6)
    over = load - 1
    queue = served / 4 * (over + np.sqrt(over**2 + 8 * QUEUE_VARIABILITY * load / served))
    waiting: FloatArray = queue * shift_minutes
    return waiting


def place_people(
    rostered_minutes: float,
    low: IntArray,
    high: IntArray,
    busy_people: FloatArray,
    person_minutes: FloatArray,
    shift_minutes: FloatArray,
    service_minutes: float,
) -> IntArray:
    """
    People of one role by site and shift, (S, H), whose minutes sum to about `rostered_minutes` where bounds allow it.

    Parameters
    ----------
    low, high
        Fewest and most people, (S, H).
    person_minutes
        Minutes that a rostered person works at the station in a shift, (S, H): less breaks and absence.
    shift_minutes
        Opening minutes that the shift answers for, (S, H).
    """
    work_share = person_minutes / np.maximum(shift_minutes, 1)
    people = low.copy()

    def waiting(of_people: IntArray) -> FloatArray:
        return waiting_person_minutes(busy_people, of_people * work_share, shift_minutes, service_minutes)

    saved = waiting(people) - waiting(people + 1)
    has_work = (busy_people > 0) & (work_share > 0)
    missing = rostered_minutes - float((people * person_minutes).sum())
    while True:
        may_grow: BoolArray = has_work & (people < high)
        chosen = np.unravel_index(np.argmax(np.where(may_grow, saved, -np.inf)), people.shape)
        if not may_grow[chosen] or missing < person_minutes[chosen] / 2:
            return people
        people[chosen] += 1
        missing -= float(person_minutes[chosen])
        saved = waiting(people) - waiting(people + 1)
