"""PlayedDay: how right the champion was on one kept day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import HORIZON_PERIODS, ArrivalForecast
from doseflow.live.drift.class_readings import class_readings
from doseflow.live.drift.day_distance import DayReadings
from doseflow.live.drift.drift_watch import joined
from doseflow.live.forecast_score import LEADS_MINUTES, LeadScore, score_period
from doseflow.live.wait_score import WAIT_LEAD_MINUTES, ComparedWaits, compare_waits, predicted_wait_minutes
from doseflow.pipeline import Planner, plan_state
from doseflow.policy.reach import Reach
from doseflow.ports import Clock, Forecaster, PlanStore, ReportStore
from doseflow.telemetry.stopwatch import Stopwatch
from doseflow.units import PERIOD_MINUTES

STRIDE_MINUTES = WAIT_LEAD_MINUTES
"""One cycle in so many minutes is planned again; the waits told by one are seen by the next."""


@dataclass(frozen=True)
class PlayedDay:
    """
    What the champion said of a day, against what came.

    `scores` are by lead in minutes; `plain` is all leads together of the plain forecast that the champion must beat.
    """

    day_on: date
    num_cycles: int
    scores: dict[int, LeadScore]
    plain: LeadScore
    waits: ComparedWaits
    readings: DayReadings

    @property
    def score(self) -> LeadScore:
        """All leads together."""
        return sum(self.scores.values(), LeadScore())


@dataclass(frozen=True)
class Champion:
    """What is held to account: the planner in use, and the plain forecaster beside it."""

    planner: Planner
    plain: Forecaster
    clock: Clock


def play_day(plans: PlanStore, reports: ReportStore, city: City, day_on: date, champion: Champion) -> PlayedDay | None:
    """Plan a day's kept cycles again, one each half hour; None where none is kept."""
    scores = dict.fromkeys(LEADS_MINUTES, LeadScore())
    plain, waits, readings = LeadScore(), ComparedWaits(0, 0.0, 0.0, 0.0), []
    told: tuple[datetime, FloatArray] | None = None
    reach, num_cycles = Reach(city), 0
    for cycle in _cycles(plans, city, day_on, champion):
        state, came = cycle.state, _arrivals_after(reports, cycle)
        for lead, score in _scores(came, cycle.forecast).items():
            scores[lead] += score
        plain = sum(_scores(came, champion.plain(state)).values(), plain)
        readings.append(class_readings(state))
        if told is not None and _is_half_an_hour(told[0], state.as_of):
            waits += compare_waits(told[1], state)
        told = (state.as_of, predicted_wait_minutes(state, cycle.forecast, cycle.plan, reach))
        num_cycles += 1
    return PlayedDay(day_on, num_cycles, scores, plain, waits, joined(readings)) if num_cycles else None


def _cycles(plans: PlanStore, city: City, day_on: date, champion: Champion) -> Iterator[Cycle]:
    """Cycles of the local day in which a site is open, the first one after each half hour, planned again."""
    start = datetime.combine(day_on, time(), ZoneInfo(city.timezone))
    for slot in range(24 * 60 // STRIDE_MINUTES):
        begin = start + timedelta(minutes=slot * STRIDE_MINUTES)
        ids = plans.cycle_ids_between(city, begin, begin + timedelta(minutes=2 * PERIOD_MINUTES))
        if not ids:
            continue
        state, _ = plans.cycle_inputs(ids[0])
        if state.is_open.any():
            stopwatch = Stopwatch(champion.clock)
            yield plan_state(state, (), cycle_id=ids[0], planner=champion.planner, stopwatch=stopwatch)


def _arrivals_after(reports: ReportStore, cycle: Cycle) -> FloatArray:
    """Arrivals of the periods that the cycle's forecast speaks of, (S, T), NaN unknown."""
    as_of = cycle.state.as_of
    since_period = timedelta(
        minutes=as_of.minute % PERIOD_MINUTES, seconds=as_of.second, microseconds=as_of.microsecond
    )
    start = as_of - since_period
    return reports.arrivals_between(
        cycle.state.city, start, start + timedelta(minutes=PERIOD_MINUTES * HORIZON_PERIODS)
    )


def _scores(came_people: FloatArray, forecast: ArrivalForecast) -> dict[int, LeadScore]:
    ahead = {lead: lead // PERIOD_MINUTES - 1 for lead in LEADS_MINUTES}
    return {
        lead: score_period(np.asarray(came_people[:, period]), forecast.arrivals_people[:, period])
        for lead, period in ahead.items()
    }


def _is_half_an_hour(earlier: datetime, later: datetime) -> bool:
    minutes = (later - earlier).total_seconds() / 60
    return abs(minutes - WAIT_LEAD_MINUTES) <= PERIOD_MINUTES
