"""What a played day is judged by: every measure, its unit, and its value of one day. See docs/reference/metrics.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.evaluate.fifo_waits import Queue, waits_through
from doseflow.evaluate.recorder import DayRecord
from doseflow.units import PERIOD_MINUTES

BUSY_BLOCK_SHARE = 0.85
"""A block of five minutes is a busy one above this share of work."""
FEWEST_PEOPLE = 20
"""A site or district with fewer people in the day has no mean wait that could be the city's worst."""


class Measure(NamedTuple):
    """A measure's unit, and whether less of it is better (None where neither is)."""

    unit: str
    less_is_better: bool | None


MEASURES: dict[str, Measure] = {
    "mean_wait_minutes": Measure("minutes", True),
    "p95_wait_minutes": Measure("minutes", True),
    "people_lost_share": Measure("share", True),
    "busy_share": Measure("share", None),
    "busy_block_share": Measure("share", True),
    "overtime_staff_minutes": Measure("minutes", True),
    "missed_breaks": Measure("breaks", True),
    "moves_per_person": Measure("moves", True),
    "dose_utilisation_share": Measure("share", False),
    "cold_volume_utilisation_share": Measure("share", None),
    "excursion_lot_minutes": Measure("minutes", True),
    "expired_doses": Measure("doses", True),
    "worst_site_wait_minutes": Measure("minutes", True),
    "worst_district_wait_minutes": Measure("minutes", True),
    "served_people": Measure("people", False),
    "decision_p50_milliseconds": Measure("milliseconds", True),
    "decision_p99_milliseconds": Measure("milliseconds", True),
    "referee_violations": Measure("violations", True),
    "fallbacks": Measure("cycles", True),
}


@dataclass(frozen=True)
class PlanningRecord:
    """
    What the planner did in the day.

    Parameters
    ----------
    decision_milliseconds
        Of the proposal and its repair, once a cycle.
    referee_violations
        Breaches of hard rules by plans that went out.
    fallbacks
        Cycles that another planner than the chosen one answered, or in which nothing was allowed.
    people_moved
        People of staff moves that were begun.
    """

    decision_milliseconds: FloatArray
    referee_violations: int
    fallbacks: int
    people_moved: int


def measures_of_day(day: DayRecord, planning: PlanningRecord, city: City) -> dict[str, float]:
    """Every measure of `MEASURES` for one day."""
    measured = waiting_measures(day, city) | work_measures(day) | dose_measures(day) | planning_measures(day, planning)
    return {name: float(measured[name]) for name in MEASURES}


def waiting_measures(day: DayRecord, city: City) -> dict[str, float]:
    """Waits and losses; who turned at the door waited nothing and is lost."""
    waits = waits_by_site(day)
    people = np.array([len(of_site) for of_site in waits])
    waited = day.waited_minutes.sum(axis=-1)
    lost = day.added["balked"] + day.added["left"] + day.added["turned_away"]
    everybody = np.concatenate(waits)
    return {
        "mean_wait_minutes": waited.sum() / max(people.sum(), 1),
        "p95_wait_minutes": float(np.percentile(everybody, 95)) if len(everybody) else 0.0,
        "people_lost_share": lost.sum() / max(people.sum(), 1),
        "worst_site_wait_minutes": _worst(waited, people),
        "worst_district_wait_minutes": _worst(*_by_district(city, waited, people)),
        "served_people": day.added["doses_given"].sum(),
    }


def waits_by_site(day: DayRecord) -> list[FloatArray]:
    """For each site the minutes waited by everybody who came or was there before the needle, (people,)."""
    joined, gone, started = (
        np.diff(curve, axis=0, prepend=curve[:1]) for curve in (day.joined_people, day.gone_people, day.started_people)
    )
    joined[0] = day.queued_people
    at_the_door = np.asarray(day.added["arrived"] - joined[1:, :, 0].sum(axis=0), dtype=np.int64)
    waits = []
    for site_idx in range(joined.shape[1]):
        at = (slice(None), site_idx)
        queues = [Queue(joined[(*at, k)], gone[(*at, k)], started[(*at, k)]) for k in range(joined.shape[2])]
        through = waits_through(queues, day.in_service_people[site_idx, :-1])
        waits.append(np.concatenate([through, np.zeros(at_the_door[site_idx])]))
    return waits


def work_measures(day: DayRecord) -> dict[str, float]:
    """Work of staff with a post in the first three stages."""
    busy, staffed = (np.diff(curve, axis=0) for curve in (day.busy_minutes, day.staffed_minutes))
    blocks = [np.diff(curve[::PERIOD_MINUTES], axis=0) for curve in (day.busy_minutes, day.staffed_minutes)]
    is_busy = blocks[0] > BUSY_BLOCK_SHARE * blocks[1]
    return {
        "busy_share": busy.sum() / max(staffed.sum(), 1.0),
        "busy_block_share": (blocks[1] * is_busy).sum() / max(blocks[1].sum(), 1.0),
        "overtime_staff_minutes": day.added["overtime_minutes"].sum(),
    }


def dose_measures(day: DayRecord) -> dict[str, float]:
    """Doses and cold chain."""
    given, wasted, expired, discarded = (
        day.added[f"doses_{name}"].sum() for name in ("given", "wasted", "expired", "discarded")
    )
    return {
        "dose_utilisation_share": given / max(given + wasted + expired + discarded, 1),
        "cold_volume_utilisation_share": day.used_litres_share.mean() if len(day.used_litres_share) else 0.0,
        "excursion_lot_minutes": day.excursion_lot_minutes,
        "expired_doses": expired,
    }


def planning_measures(day: DayRecord, planning: PlanningRecord) -> dict[str, float]:
    """What the planner asked of people and of the machine."""
    milliseconds = planning.decision_milliseconds
    p50, p99 = np.percentile(milliseconds, [50, 99]) if len(milliseconds) else (0.0, 0.0)
    return {
        "moves_per_person": planning.people_moved / max(day.rostered_people, 1),
        "missed_breaks": day.missed_breaks,
        "decision_p50_milliseconds": p50,
        "decision_p99_milliseconds": p99,
        "referee_violations": planning.referee_violations,
        "fallbacks": planning.fallbacks,
    }


def queue_by_period(day: DayRecord) -> list[int]:
    """People in the queues of the whole city at every fifth minute of the record."""
    joined, gone = day.joined_people - day.joined_people[:1], day.gone_people - day.gone_people[:1]
    queued = (day.queued_people + joined - gone).sum(axis=(-2, -1))
    return [int(people) for people in queued[::PERIOD_MINUTES]]


def _worst(waited_minutes: FloatArray, people: FloatArray) -> float:
    counts = people >= FEWEST_PEOPLE
    return float((waited_minutes[counts] / people[counts]).max()) if counts.any() else 0.0


def _by_district(city: City, waited_minutes: FloatArray, people: FloatArray) -> tuple[FloatArray, FloatArray]:
    names, district_idx = np.unique([site.district for site in city.sites], return_inverse=True)
    return tuple(np.bincount(district_idx, weights=one, minlength=len(names)) for one in (waited_minutes, people))  # type: ignore[return-value]
