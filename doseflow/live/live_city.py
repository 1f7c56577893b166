"""LiveCity: one city's running state, and the four things that can be done to it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from pydantic import TypeAdapter

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.city import City
from doseflow.domain.cycle import Cycle
from doseflow.domain.orders import Order, OrderReceipt
from doseflow.domain.report import ReceivedReport, SiteReport
from doseflow.errors import ReportRepeated
from doseflow.intake.body import AcceptedItem, RefusedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.live.cycle_counts import count_cycle
from doseflow.live.event_feed import EventFeed
from doseflow.live.model_watch import ModelWatch
from doseflow.live.site_watch import SiteWatch
from doseflow.live.sources import Sources
from doseflow.pipeline import Planner, plan_once
from doseflow.ports import AuditLog, Clock, Outbox, PlanStore, QuarantinedReport, ReportStore
from doseflow.serve.release_desk import ReleaseDesk
from doseflow.state.arrival_history import ArrivalHistory
from doseflow.state.unknown import unknown_state
from doseflow.telemetry.deadline import deadline_at
from doseflow.telemetry.metrics import Metrics, make_metrics
from doseflow.telemetry.stopwatch import Stopwatch
from doseflow.telemetry.tracing import span, tell_span

log = structlog.get_logger(__name__)
_REPORTS = TypeAdapter(Sequence[SiteReport])


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of one body of reports, in the order they came."""

    accepted: tuple[AcceptedItem, ...]
    refused: tuple[RefusedItem, ...]


class LiveCity:
    """
    The running city. Thread-safe: reports may arrive while a cycle runs; cycles run one at a time.

    A restart goes on where the store stands: the latest state, and accepted reports that no cycle has taken.

    Parameters
    ----------
    releases
        By net, what judges the release of its models.
    after_cycle
        Called with each cycle once it is stored, one after another; quick, since the next cycle waits for them.
    answer_seconds
        Time from a cycle's start in which nets must have answered; None is any.
    why_engines_rest
        Why a net cannot be asked just now, empty where all can.
    metrics
        What is counted; the same that the engines of the planner are counted by.
    tellers
        Asked before the metrics are read, so that whoever keeps counts of their own can tell them.
    """

    def __init__(
        self,
        city: City,
        *,
        planner: Planner,
        reports: ReportStore,
        plans: PlanStore,
        outbox: Outbox,
        audit: AuditLog,
        clock: Clock,
        history: ArrivalHistory,
        intake: IntakeParams,
        sources: Sources,
        feed: EventFeed,
        releases: Mapping[str, ReleaseDesk[Any]] | None = None,
        after_cycle: Sequence[Callable[[Cycle], None]] = (),
        answer_seconds: float | None = None,
        why_engines_rest: Callable[[], str] = lambda: "",
        metrics: Metrics | None = None,
        tellers: Sequence[Callable[[Metrics], None]] = (),
    ) -> None:
        self.city = city
        self.reports = reports
        self.plans = plans
        self.outbox = outbox
        self.audit = audit
        self.sources = sources
        self.clock = clock
        self.feed = feed
        self.releases = releases or {}
        self._after_cycle = after_cycle
        self._planner = planner
        self._history = history
        self.intake = intake
        self._answer_seconds = answer_seconds
        self.why_engines_rest = why_engines_rest
        self._cycle_lock = threading.Lock()
        self._pending_lock = threading.Lock()
        plans.save_city(city)
        self._pending: list[ReceivedReport] = reports.pending()
        self._state = plans.latest_state() or unknown_state(city, clock.now())
        self.latest: Cycle | None = None
        self.began_at = clock.now()
        self.metrics = metrics or make_metrics()
        self.tellers = tuple(tellers)
        self.watch = SiteWatch(self._state)
        self.models = ModelWatch(self.metrics.quality)

    @property
    def num_pending_reports(self) -> int:
        """Accepted reports that the next cycle will take."""
        return len(self._pending)

    def submit(self, body: bytes) -> Submission:
        """
        Take one report or a list of them: keep the good, quarantine the rest, lose nothing.

        Raises
        ------
        ReportRefused
            The body as a whole cannot be read; it is in quarantine too.
        """
        with span("reports"):
            return self._submit(body)

    def submit_reports(self, reports: Sequence[SiteReport]) -> Submission:
        """Take reports that another format was read into, by the same checks as those of the sites themselves."""
        taken = [
            self.submit(_REPORTS.dump_json(reports[start : start + self.intake.max_reports], exclude_none=True))
            for start in range(0, len(reports), self.intake.max_reports)
        ]
        return Submission(
            tuple(item for one in taken for item in one.accepted), tuple(item for one in taken for item in one.refused)
        )

    def run_cycle(self) -> Cycle:
        """Take every pending report and plan the city once; plan and orders are stored when this returns."""
        with self._cycle_lock, span("cycle"):
            return self._run_cycle()

    def record_receipt(self, order_id: str, receipt: OrderReceipt) -> Order:
        """
        Apply a receipt.

        Raises
        ------
        OrderNotFound, ReceiptRefused
        """
        order = self.plans.record_receipt(order_id, receipt)
        self.feed.publish("receipt_recorded", {"order_id": order_id, "state": order.state, "site_id": order.site_id})
        return order

    def use_history(self, history: ArrivalHistory) -> None:
        """Go on with another arrival history, after past days were imported."""
        with self._cycle_lock:
            self._history = history

    def open_orders(self) -> list[Order]:
        """Orders not in a final state, newest first."""
        return self.plans.orders(states=OPEN_STATES, limit=100_000)

    def _submit(self, body: bytes) -> Submission:
        now = self.clock.now()
        items = read_body(body, self.city, now, self.intake, self.reports.quarantine)
        accepted = [item for item in items if isinstance(item, AcceptedItem)]
        refused = [item for item in items if isinstance(item, RefusedItem)]
        is_new = self.reports.accept([item.received for item in accepted], [item.raw for item in accepted])
        fresh = [item for item, new in zip(accepted, is_new, strict=True) if new]
        repeated = [_as_repeated(item) for item, new in zip(accepted, is_new, strict=True) if not new]
        refused += repeated
        if refused:
            self.reports.quarantine([_quarantined(item, now) for item in refused])
        with self._pending_lock:
            self._pending += [item.received for item in fresh]
        if fresh or refused:
            self.feed.publish("reports_received", {"accepted": len(fresh), "refused": len(refused)})
        tell_span(accepted=len(fresh), refused=len(refused))
        return Submission(tuple(fresh), tuple(sorted(refused, key=lambda item: item.position)))

    def _run_cycle(self) -> Cycle:
        as_of = self.clock.now()
        with self._pending_lock:
            taken, self._pending = self._pending, []
        try:
            with deadline_at(self._answer_seconds and time.monotonic() + self._answer_seconds):
                cycle = self._plan(taken, Stopwatch(self.clock))
        except BaseException:
            with self._pending_lock:
                self._pending = taken + self._pending
            raise
        if cycle.plan.why_this_planner:
            log.error("another_planner_answered", cycle_id=cycle.cycle_id, why=cycle.plan.why_this_planner)
        if cycle.forecast.why_this_forecaster:
            log.error("another_forecaster_answered", cycle_id=cycle.cycle_id, why=cycle.forecast.why_this_forecaster)
        tell_span(
            cycle_id=cycle.cycle_id,
            planner=cycle.plan.planner,
            forecaster=cycle.forecast.forecaster,
            reports=len(taken),
            new_orders=len(cycle.new_orders),
        )
        self.latest = cycle
        self._state = cycle.state
        count_cycle(self.metrics, cycle)
        self.watch.look(cycle.state)
        self.models.look(cycle, {net: desk.slot.standing.champion.digest for net, desk in self.releases.items()})
        self.feed.publish("cycle_completed", {"cycle_id": cycle.cycle_id, "as_of": as_of.isoformat()})
        self._look_back(cycle)
        return cycle

    def _look_back(self, cycle: Cycle) -> None:
        for look in self._after_cycle:
            try:
                look(cycle)
            except Exception:  # the boundary of what looks back: the cycle is stored and stands
                log.exception("look_back_failed", cycle_id=cycle.cycle_id)

    def _plan(self, taken: Sequence[ReceivedReport], stopwatch: Stopwatch) -> Cycle:
        as_of = self.clock.now()
        with stopwatch.stage("read"):
            self.plans.expire_orders(as_of)
            self._history.record(taken)
            past_weeks_people = self._history.coming_periods(as_of)
            commitments = self.plans.commitments(as_of)
            open_orders = self.open_orders()
        cycle = plan_once(
            self._state,
            taken,
            past_weeks_people,
            commitments,
            open_orders,
            cycle_id=f"{as_of:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}",
            as_of=as_of,
            planner=self._planner,
            stopwatch=stopwatch,
        )
        models = {net: desk.slot.standing.as_record() for net, desk in self.releases.items()}
        cycle = replace(cycle, models=models)
        with stopwatch.stage("store"):
            self.plans.save_cycle(cycle, taken)
        return cycle


def _as_repeated(item: AcceptedItem) -> RefusedItem:
    reason = "this report was accepted before; it counts once and need not be sent again"
    return RefusedItem(item.position, item.received.report.site_id, ReportRepeated("report_id", reason), item.raw)


def _quarantined(item: RefusedItem, now: datetime) -> QuarantinedReport:
    return QuarantinedReport(
        quarantine_id=None,
        received_at=now,
        site_id=item.site_id,
        field=item.error.field,
        reason=item.error.reason,
        raw=item.raw,
        num_bytes=len(item.raw),
    )
