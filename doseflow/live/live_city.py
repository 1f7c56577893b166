"""LiveCity: one city's running state, and the four things that can be done to it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import structlog
from pydantic import TypeAdapter

from doseflow.dispatch.approval import asked_about
from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.approvals import ApprovalParams
from doseflow.domain.city import City, FloatArray
from doseflow.domain.commanding import Press
from doseflow.domain.cycle import Cycle
from doseflow.domain.orders import Order, OrderReceipt
from doseflow.domain.report import ReceivedReport, SiteReport
from doseflow.errors import CommandRefused, ReportRepeated, SiteUnknown
from doseflow.intake.body import AcceptedItem, RefusedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.live.cycle_counts import count_cycle
from doseflow.live.event_feed import EventFeed
from doseflow.live.fhir_door import FhirDoor
from doseflow.live.model_watch import ModelWatch
from doseflow.live.override_check import objection_to, with_quantity
from doseflow.live.push_desk import PushDesk
from doseflow.live.site_watch import SiteWatch
from doseflow.live.sources import Sources
from doseflow.pipeline import Planner, plan_once
from doseflow.ports import AuditLog, Clock, CommandDesk, Outbox, PlanStore, QuarantinedReport, ReportStore
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
    approvals
        Which orders wait for a person before they go out.
    answer_seconds
        Time from a cycle's start in which nets must have answered; None is any.
    why_engines_rest
        Why a net cannot be asked just now, empty where all can.
    metrics
        What is counted; the same that the engines of the planner are counted by.
    tellers
        Asked before the metrics are read, so that whoever keeps counts of their own can tell them.

    Attributes
    ----------
    before_cycle
        Called before each cycle takes the pending reports, so that it has the newest; quick, like `after_cycle`.
    appointments, fhir_door
        Take appointments of other systems; None where no door for them is on.
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
        desk: CommandDesk,
        clock: Clock,
        history: ArrivalHistory,
        intake: IntakeParams,
        sources: Sources,
        feed: EventFeed,
        approvals: ApprovalParams | None = None,
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
        self.desk = desk
        self.approvals = approvals or ApprovalParams()
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
        self.push: PushDesk | None = None
        self._cycle_lock = threading.Lock()
        self._pending_lock = threading.Lock()
        plans.save_city(city)
        self._pending: list[ReceivedReport] = reports.pending()
        self._state = plans.latest_state() or unknown_state(city, clock.now())
        self.latest: Cycle | None = None
        self.began_at = clock.now()
        self.metrics = metrics or make_metrics()
        self.tellers = tuple(tellers)
        self.before_cycle: list[Callable[[], object]] = []
        self.appointments: AppointmentDesk | None = None
        self.fhir_door: FhirDoor | None = None
        self.watch = SiteWatch(self._state)
        self.models = ModelWatch(self.metrics.quality)

    @property
    def num_pending_reports(self) -> int:
        """Accepted reports that the next cycle will take."""
        return len(self._pending)

    def submit(self, body: bytes, *, site_ids: Set[str] | None = None) -> Submission:
        """
        Take one report or a list of them: keep the good, quarantine the rest, lose nothing.

        Parameters
        ----------
        site_ids
            Sites that whoever sends may speak for; None is all.

        Raises
        ------
        ReportRefused
            The body as a whole cannot be read; it is in quarantine too.
        """
        with span("reports"):
            return self._submit(body, site_ids)

    def submit_reports(self, reports: Sequence[SiteReport], *, site_ids: Set[str] | None = None) -> Submission:
        """
        Take reports that another format was read into, by the same checks as those of the sites themselves.

        `site_ids` are those that the sender speaks for; None is all.
        """
        taken = [
            self.submit(
                _REPORTS.dump_json(reports[start : start + self.intake.max_reports], exclude_none=True),
                site_ids=site_ids,
            )
            for start in range(0, len(reports), self.intake.max_reports)
        ]
        return Submission(
            tuple(item for one in taken for item in one.accepted), tuple(item for one in taken for item in one.refused)
        )

    def run_cycle(self) -> Cycle:
        """Take every pending report and plan the city once; plan and orders are stored when this returns."""
        with self._cycle_lock, span("cycle"):
            self._prepare()
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

    @property
    def undo_for(self) -> timedelta:
        """How long what a person has approved can be undone."""
        return timedelta(seconds=self.approvals.undo_seconds)

    def override(self, order_id: str, quantity: float, press: Press) -> Order:
        """
        Order the same in another quantity, if the referee allows it on the latest plan.

        Raises
        ------
        OrderNotFound
        CommandRefused
            A rule forbids it, in words; no cycle has run; or the site has promised or ended the order.
        """
        decision = with_quantity(self.plans.order(order_id).decision, quantity)
        if self.latest is None:
            raise CommandRefused("order_id: must be of a city that has been planned; no cycle has run since the start")
        objection = objection_to(self.latest, decision)
        if objection:
            raise CommandRefused(f"quantity: must be allowed, got {quantity:g}; {objection}")
        return self.desk.override(order_id, decision, press)

    def settle_approvals(self) -> list[Order]:
        """Let orders that nobody answered in time go out or lapse, as the approval rules say."""
        settled = self.desk.settle_waiting(self.clock.now())
        for order in settled:
            self.feed.publish("order_decided", {"order_id": order.order_id, "state": order.state, "by": "doseflow"})
        return settled

    def use_history(self, history: ArrivalHistory) -> None:
        """Go on with another arrival history, after past days were imported."""
        with self._cycle_lock:
            self._history = history

    def past_weeks_at(self, moments: Sequence[datetime]) -> FloatArray:
        """Arrivals in the 24 periods after each moment in past weeks, (moments, S, W, T), NaN unknown."""
        with self._cycle_lock:
            return np.stack([self._history.coming_periods(moment) for moment in moments])

    def open_orders(self) -> list[Order]:
        """Orders not in a final state, newest first."""
        return self.plans.orders(states=OPEN_STATES, limit=100_000)

    def _submit(self, body: bytes, site_ids: Set[str] | None) -> Submission:
        now = self.clock.now()
        items = read_body(body, self.city, now, self.intake, self.reports.quarantine)
        if site_ids is not None:
            items = [_refused_if_foreign(item, site_ids) for item in items]
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

    def _prepare(self) -> None:
        for prepare in self.before_cycle:
            try:
                prepare()
            except Exception:  # the boundary of what comes before: the cycle goes on with what is known
                log.exception("before_cycle_failed")

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
            self.settle_approvals()
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
        asked = asked_about(cycle.new_orders, open_orders, commitments, self.approvals)
        cycle = replace(cycle, models=models, new_orders=asked)
        with stopwatch.stage("store"):
            self.plans.save_cycle(cycle, taken)
        return cycle


def _refused_if_foreign(item: AcceptedItem | RefusedItem, site_ids: Set[str]) -> AcceptedItem | RefusedItem:
    site_id = item.site_id if isinstance(item, RefusedItem) else item.received.report.site_id
    if site_id in site_ids or (isinstance(item, RefusedItem) and not isinstance(item.error, SiteUnknown)):
        return item
    # The same words for a site of somebody else and for one that is not there: asking finds nothing out.
    reason = f"must be one of the {len(site_ids)} sites that this sender speaks for, got {site_id!r}"
    return RefusedItem(item.position, site_id, SiteUnknown("site_id", reason), item.raw)


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
