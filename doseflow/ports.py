"""
Every seam of doseflow as a Protocol: what stands on the other side can be exchanged.

`bootstrap` is the only place that joins a port to its implementation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

from numpy.typing import NDArray

from doseflow.domain.audit import AuditEntry, ChainedEntry
from doseflow.domain.city import City, FloatArray
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.orders import Commitments, Order, OrderReceipt, OrderState
from doseflow.domain.plan import Infeasible, Plan, Proposal
from doseflow.domain.report import ReceivedReport
from doseflow.domain.state import CityState


class Clock(Protocol):
    """Where moments come from: the wall, or a simulated day."""

    def now(self) -> datetime:
        """The moment, aware, in UTC."""

    def monotonic_seconds(self) -> float:
        """Seconds of real time that only ever grow; for measuring, never for dating."""


class Forecaster(Protocol):
    """Forecasts who will come."""

    name: str

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Quantiles of arrivals for every site of the state."""


class Engine(Protocol):
    """Runs one net."""

    name: str

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        The net's outputs by name.

        Raises
        ------
        EngineFailed
        """


class Policy(Protocol):
    """Says what it would like to happen, for all sites jointly."""

    name: str

    def __call__(self, state: CityState, forecast: ArrivalForecast) -> Proposal:
        """A proposal, which may break rules."""


class Feasible(Protocol):
    """Turns a proposal into the nearest allowed plan."""

    def __call__(self, state: CityState, forecast: ArrivalForecast, proposal: Proposal) -> Plan | Infeasible:
        """The plan, or the rules that clash."""


@dataclass(frozen=True, slots=True)
class QuarantinedReport:
    """What could not be accepted, as it came; `raw` is cut at the store's limit and `num_bytes` is its true size."""

    quarantine_id: int | None
    received_at: datetime
    site_id: str | None
    field: str
    reason: str
    raw: bytes
    num_bytes: int


class ReportStore(Protocol):
    """Keeps every report as it came, accepted once or in quarantine."""

    def accept(self, reports: Sequence[ReceivedReport], raws: Sequence[bytes]) -> list[bool]:
        """
        Keep reports, in one transaction.

        Returns
        -------
        list of bool
            For each, whether it is new; a repeat is not kept again.
        """

    def quarantine(self, reports: Iterable[QuarantinedReport]) -> None:
        """Keep what was refused, for the operator."""

    def quarantined(self, limit: int = 100) -> list[QuarantinedReport]:
        """The latest refused ones, newest first."""

    def pending(self) -> list[ReceivedReport]:
        """Accepted reports that no cycle has taken yet, oldest first: what a restart must not lose."""

    def import_arrivals(self, day_on: date, site_ids: Sequence[str], people: FloatArray) -> None:
        """Keep arrivals of a past UTC day by site and period of five minutes, (S, 288), NaN unknown; again replaces."""

    def arrivals_between(self, city: City, start: datetime, end: datetime) -> FloatArray:
        """
        Arrivals by site and period of five minutes from `start` (a whole period) to `end`, (S, periods), NaN unknown.

        They come from the imported days and from accepted reports; a report valid at m tells the period that ends at m.
        """

    def reports_of_site(self, site_id: str, limit: int = 50) -> list[ReceivedReport]:
        """The latest reports of a site, newest first."""


class PlanStore(Protocol):
    """Keeps cycles with their inputs, plans, orders and receipts."""

    def save_city(self, city: City) -> None:
        """Keep the city, so that a later replay knows it; the same city twice is kept once."""

    def save_cycle(self, cycle: Cycle, taken: Sequence[ReceivedReport]) -> None:
        """
        Keep a cycle whole in one transaction: inputs, plan, orders, outbox entries, and which reports it took.

        Saving the same cycle again changes nothing.
        """

    def latest_state(self) -> CityState | None:
        """The state of the latest cycle: where a restarted process goes on."""

    def cycle_inputs(self, cycle_id: str) -> tuple[CityState, dict[str, Any]]:
        """
        The state a cycle was planned on, and its record (the row that `latest_cycle` gives).

        Raises
        ------
        CycleNotFound
        """

    def check_writable(self) -> None:
        """
        Write something that changes nothing.

        Raises
        ------
        StoreUnavailable
        """

    def cycle_ids_between(self, city: City, start: datetime, end: datetime) -> list[str]:
        """Ids of a city's cycles from `start` to before `end` that can be replayed, oldest first."""

    def digest_of(self, plan: Plan) -> str:
        """Digest of what a plan decides, as kept in `plan_digest` of its cycle's record."""

    def latest_cycle(self) -> dict[str, Any] | None:
        """The latest cycle: cycle_id, started_at, completed_at, planner, sites, orders, stage_milliseconds, ..."""

    def plan(self, plan_id: str) -> dict[str, Any]:
        """
        A plan as kept, ready to be sent as JSON; a plan's id is its cycle's id.

        Raises
        ------
        PlanNotFound
        """

    def orders(
        self, *, states: Sequence[OrderState] | None = None, site_id: str | None = None, limit: int = 1000
    ) -> list[Order]:
        """Orders, newest first."""

    def order(self, order_id: str) -> Order:
        """
        One order.

        Raises
        ------
        OrderNotFound
        """

    def commitments(self, now: datetime) -> Commitments:
        """What binds the next plan: open and recently refused orders, pins, frozen and suspended sites."""

    def record_receipt(self, order_id: str, receipt: OrderReceipt) -> Order:
        """
        Apply a receipt; the same receipt twice changes nothing.

        Raises
        ------
        OrderNotFound
        ReceiptRefused
            The order cannot go from its state to the receipt's.
        """

    def forget_inputs_before(self, moment: datetime) -> int:
        """Let go of the inputs of cycles that began before a moment, which cannot be replayed then; how many."""

    def expire_orders(self, now: datetime) -> list[str]:
        """
        Move to `expired`: unanswered orders past their due moment, and answered ones an hour past it; their ids.

        An order that a site has begun is late before it is void: its people and doses stay taken.
        """

    def freeze_site(self, site_id: str, now: datetime) -> None:
        """Leave a site as it is, until `unfreeze_site`; twice is once."""

    def unfreeze_site(self, site_id: str, now: datetime) -> None:
        """End `freeze_site`."""

    def suspend_site(self, site_id: str, now: datetime) -> None:
        """Stop vaccination at a site, until `resume_site`; twice is once."""

    def resume_site(self, site_id: str, now: datetime) -> None:
        """End `suspend_site`."""


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """An order's change waiting to be told: `topic` is `order` or `withdrawal`."""

    entry_id: int
    topic: str
    order: Order
    attempts: int


class Outbox(Protocol):
    """What was decided and not told yet: filled with the plan, told at least once, in order for a site."""

    def due(self, now: datetime, limit: int = 500) -> list[OutboxEntry]:
        """Entries whose next attempt is due: of each site only its oldest undelivered ones, in order."""

    def mark_delivered(self, entry_ids: Sequence[int], now: datetime) -> None:
        """Delivered: an order becomes `sent`."""

    def mark_failed(self, entry_id: int, now: datetime, reason: str, retry_at: datetime | None) -> None:
        """Not delivered: try again at `retry_at`, or put it on the dead-letter list when that is None."""

    def dead_letters(self) -> list[OutboxEntry]:
        """Entries that nobody tries any more."""

    def resend(self, entry_id: int, now: datetime) -> None:
        """Take an entry off the dead-letter list and try it at once."""


class AuditLog(Protocol):
    """Keeps who did what; nothing in it can be changed or taken out without its being seen."""

    def append(self, entry: AuditEntry) -> ChainedEntry:
        """Keep an entry."""

    def entries(self, after_no: int = 0, limit: int = 1000) -> list[ChainedEntry]:
        """Entries after a number, oldest first."""


@dataclass(frozen=True, slots=True)
class UnknownCode:
    """A code of an outside system that nobody here knows; `text` is what the system itself says of it."""

    system: str
    code: str
    text: str
    first_seen_at: datetime
    last_seen_at: datetime
    count: int


@dataclass(frozen=True, slots=True)
class UnmappedId:
    """An id of an outside system that no table maps to a place of this city."""

    outside_id: str
    first_seen_at: datetime
    last_seen_at: datetime
    count: int


@dataclass(frozen=True, slots=True)
class SourceState:
    """Where an outside source stands; its name is `kind` or `kind:which`."""

    source: str
    last_ok_at: datetime | None
    last_failed_at: datetime | None
    last_error: str
    num_ok: int
    num_failed: int
    unknown_codes: tuple[UnknownCode, ...]
    unmapped_ids: tuple[UnmappedId, ...]


class SourceBook(Protocol):
    """Keeps where each outside source stands, and what it said that nobody here knows."""

    def mark(self, source: str, at: datetime, ok: bool, text: str = "") -> None:
        """Note that a source was heard, or that it failed and why."""

    def note_unknown(self, source: str, system: str, code: str, text: str, at: datetime) -> None:
        """Keep a code that nobody here knows."""

    def note_unmapped(self, source: str, outside_ids: Iterable[str], at: datetime) -> None:
        """Keep ids that no table maps to a place of this city."""

    def states(self) -> list[SourceState]:
        """Every source that was ever heard or failed, by name."""


@dataclass(frozen=True, slots=True)
class LoggerPoint:
    """What a cold-chain logger measured at one moment; None where it had no temperature."""

    logger_id: str
    at: datetime
    temperature_celsius: float | None


class LoggerPoints(Protocol):
    """Keeps the points of cold-chain loggers, known by logger and moment."""

    def keep(self, points: Sequence[LoggerPoint]) -> None:
        """Keep points in one transaction; one that is there already only gains a temperature that it had not."""

    def of(self, logger_id: str, start: datetime, end: datetime) -> list[LoggerPoint]:
        """Points of a logger from `start` to `end`, both included, oldest first."""

    def forget_before(self, logger_ids: Sequence[str], moment: datetime) -> int:
        """Let go of points of some loggers before a moment; how many."""


class Gateway(Protocol):
    """One outside system that orders are told to."""

    name: str

    async def deliver(self, entry: OutboxEntry) -> None:
        """
        Tell one change; telling it twice does no harm, since it carries the order's id.

        Raises
        ------
        GatewayFailed
        """
