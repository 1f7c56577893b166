"""
A simulated day as a forecaster sees it, cycle by cycle, and what came of it.

The day runs under its fixed roster: who comes does not depend on who is sent where. The path of a report is that of a
serving city, from its bytes through the checks to the folded state, so that a net is trained on exactly what it will be
fed, with everything that is late, missing, repeated or wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.orders import Commitments
from doseflow.domain.state import CityState
from doseflow.intake.body import AcceptedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.ports import QuarantinedReport
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_city import simulated_city_of
from doseflow.state.arrival_history import ArrivalHistory
from doseflow.state.fold import fold
from doseflow.state.unknown import unknown_state
from doseflow.units import PERIOD_MINUTES

Look = Callable[[CityState], None]


@dataclass(frozen=True)
class DayTruth:
    """
    What came: people by cycle and site who arrived in the period after it, and doses given in it, both (C, S).

    Cycle c is the c-th time that the day was looked at; after the last look they go on until the day is over.
    """

    arrived_people: FloatArray
    doses_given: FloatArray

    def arrivals_ahead(self) -> FloatArray:
        """People who arrived in the 24 periods after each cycle, (C, S, T); periods after the day's end have nobody."""
        num_cycles, num_sites = self.arrived_people.shape
        padded = np.concatenate([self.arrived_people, np.zeros((HORIZON_PERIODS, num_sites))])
        ahead = np.stack([padded[cycle : cycle + HORIZON_PERIODS] for cycle in range(num_cycles)])
        return ahead.transpose(0, 2, 1)

    def doses_left(self) -> FloatArray:
        """Doses given after each cycle until the end of the day, (C, S)."""
        left: FloatArray = np.cumsum(self.doses_given[::-1], axis=0)[::-1]
        return left


def live_day(scenario: Scenario, seed: int, look: Look) -> DayTruth:
    """Live a day to its end; `look` sees the state of every cycle of the scenario's window, five minutes apart."""
    city = simulated_city_of(scenario, seed)
    history = _history_of(city)
    state = unknown_state(city.city, city.now)
    ends_at = datetime.combine(city.now_local.date(), scenario.window.ends_at, city.now_local.tzinfo)
    known: set[tuple[str, str | None]] = set()
    arrived, given = [], []
    while not city.is_over:
        if city.now < ends_at:
            state = _folded(city, state, history, known)
            look(state)
        before = city.world.totals
        city.advance(PERIOD_MINUTES)
        after = city.world.totals
        arrived.append(np.asarray(after.arrived - before.arrived, dtype=np.float64))
        given.append(np.asarray(after.doses_given - before.doses_given, dtype=np.float64))
    return DayTruth(np.stack(arrived), np.stack(given))


def _history_of(city: SimulatedCity) -> ArrivalHistory:
    history = ArrivalHistory(city.city, city.now)
    for day_on, _, people in city.past_weeks_arrivals():
        history.load(people, datetime.combine(day_on, datetime.min.time(), city.now.tzinfo))
    return history


def _folded(
    city: SimulatedCity, state: CityState, history: ArrivalHistory, known: set[tuple[str, str | None]]
) -> CityState:
    sent = city.reports()
    items = read_body(b"[" + b",".join(sent) + b"]", city.city, city.now, IntakeParams(), _forget) if sent else []
    accepted = [item.received for item in items if isinstance(item, AcceptedItem)]
    fresh = [one for one in accepted if (one.report.site_id, one.report.report_id) not in known]
    known.update((one.report.site_id, one.report.report_id) for one in fresh)
    history.record(fresh)
    return fold(state, fresh, history.coming_periods(city.now), Commitments(), city.now)


def _forget(_refused: Iterable[QuarantinedReport]) -> None:
    """Nobody looks into the quarantine of a training day."""
