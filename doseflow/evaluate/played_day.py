"""
One day under one planner, in a closed loop: reports in, orders out, receipts back, every five minutes.

It is the path of a serving city from the bytes of the reports to the orders at the sites; only the database, the clock
and the network are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import orjson

from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import StaffMove
from doseflow.domain.orders import Order, OrderState, ReceiptStatus
from doseflow.domain.plan import RepairPath
from doseflow.domain.report import ReceivedReport
from doseflow.errors import OrderNotFound, ReceiptRefused
from doseflow.evaluate.measures import PlanningRecord
from doseflow.evaluate.order_book import OrderBook
from doseflow.evaluate.recorder import DayRecord, Recorder
from doseflow.feasible.referee import referee
from doseflow.intake.body import AcceptedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.intake.receipt_body import read_receipt
from doseflow.live.clocks import SimulatedClock
from doseflow.pipeline import Planner, plan_once
from doseflow.ports import QuarantinedReport
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.step_params import StepParams
from doseflow.state.arrival_history import ArrivalHistory
from doseflow.state.unknown import unknown_state
from doseflow.telemetry.stopwatch import Stopwatch
from doseflow.units import PERIOD_MINUTES

DECISION_STAGES = ("policy", "feasible")


@dataclass(frozen=True)
class PlayedDay:
    """What a day left behind."""

    record: DayRecord
    planning: PlanningRecord
    num_cycles: int


@dataclass
class _Notes:
    decision_milliseconds: list[float] = field(default_factory=list)
    referee_violations: int = 0
    fallbacks: int = 0
    people_moved: int = 0
    num_cycles: int = 0


class DayPlay:
    """A simulated city and the planner that is in charge of it, from takeover until the last site is empty."""

    def __init__(
        self, city: SimulatedCity, planner: Planner, history: ArrivalHistory, params: StepParams, intake: IntakeParams
    ) -> None:
        self._city, self._planner, self._history, self._intake = city, planner, history, intake
        self._clock = SimulatedClock(city.now)
        self._recorder = Recorder(city.world, params)
        self._book = OrderBook()
        self._told: dict[str, dict[str, Any]] = {}
        self._known_reports: set[tuple[str, str | None]] = set()
        self._state = unknown_state(city.city, city.now)
        self._notes = _Notes()
        self.sent_reports: list[bytes] = []
        """Reports of the latest period, as they left the sites."""

    def play(self, until: datetime, on_cycle: Callable[[Cycle], None] | None = None) -> PlayedDay:
        """Play until the last site is empty, or until a moment if that comes first; `on_cycle` sees every cycle."""
        while not self._city.is_over and self._city.now < until:
            cycle = self.play_period()
            if on_cycle is not None:
                on_cycle(cycle)
        notes = self._notes
        planning = PlanningRecord(
            np.array(notes.decision_milliseconds), notes.referee_violations, notes.fallbacks, notes.people_moved
        )
        return PlayedDay(self._recorder.record(), planning, notes.num_cycles)

    def play_period(self) -> Cycle:
        """Let five minutes pass, plan the city once, and hand the orders to the sites."""
        self._city.advance(PERIOD_MINUTES, on_step=self._recorder.on_step)
        self._clock.set(self._city.now)
        self._bring_receipts()
        cycle = self._plan(self._accepted_reports())
        self._state = cycle.state
        self._note(cycle)
        self._book.save(cycle.new_orders, cycle.withdrawn_order_ids)
        self._book.hand_over()
        self._city.take_orders([self._payload(order) for order in self._book.sent_orders()])
        return cycle

    def _bring_receipts(self) -> None:
        for order_id, payload in self._city.receipts():
            receipt = read_receipt(orjson.dumps(payload), self._city.now)
            with contextlib.suppress(ReceiptRefused, OrderNotFound):  # withdrawn or expired meanwhile
                order = self._book.record_receipt(order_id, receipt)
                # What a site has begun has happened, also where nobody waits for its end any more.
                if receipt.status is ReceiptStatus.UNDER_WAY and isinstance(order.decision, StaffMove):
                    self._notes.people_moved += order.decision.people

    def _accepted_reports(self) -> list[ReceivedReport]:
        """The reports that an intake would accept, each once."""
        sent = self.sent_reports = self._city.reports()
        if not sent:
            return []
        body = b"[" + b",".join(sent) + b"]"
        items = read_body(body, self._city.city, self._city.now, self._intake, _forget)
        accepted = [item.received for item in items if isinstance(item, AcceptedItem)]
        fresh = [one for one in accepted if (one.report.site_id, one.report.report_id) not in self._known_reports]
        self._known_reports.update((one.report.site_id, one.report.report_id) for one in fresh)
        return fresh

    def _plan(self, taken: list[ReceivedReport]) -> Cycle:
        now = self._city.now
        self._book.expire(now)
        self._history.record(taken)
        return plan_once(
            self._state,
            taken,
            self._history.coming_periods(now),
            self._book.commitments(now),
            self._book.open_orders(),
            cycle_id=f"{now:%Y%m%dT%H%M%S}",
            as_of=now,
            planner=self._planner,
            stopwatch=Stopwatch(self._clock),
        )

    def _note(self, cycle: Cycle) -> None:
        notes, plan = self._notes, cycle.plan
        notes.num_cycles += 1
        notes.decision_milliseconds.append(sum(cycle.stage_milliseconds[name] for name in DECISION_STAGES))
        answered_by_another = plan.why_this_planner or cycle.forecast.why_this_forecaster
        notes.fallbacks += bool(answered_by_another) or plan.repair_path is RepairPath.HELD
        found = referee(cycle.state, cycle.forecast, [planned.decision for planned in plan.decisions])
        notes.referee_violations += sum(violation.hard for violation in found)

    def _payload(self, order: Order) -> dict[str, Any]:
        """An order as the sites read it; the same order is written once."""
        if order.order_id not in self._told:
            decision = orjson.loads(orjson.dumps(order.decision))
            self._told[order.order_id] = {
                "order_id": order.order_id,
                "decision": decision,
                "state": OrderState.SENT.value,
            }
        return self._told[order.order_id]


def _forget(_refused: Iterable[QuarantinedReport]) -> None:
    """Nobody looks into the quarantine of a played day."""
