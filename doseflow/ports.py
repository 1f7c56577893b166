"""
Every seam of doseflow as a Protocol: what stands on the other side can be exchanged.

`bootstrap` is the only place that joins a port to its implementation. Over 500 lines, since whoever looks for a seam
looks here, and each is a few lines of promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Protocol

from numpy.typing import NDArray

from doseflow.domain.appointment import Place, SourceMessage
from doseflow.domain.audit import AuditEntry, AuditFilter, AuditHead, AuditPage, ChainedEntry
from doseflow.domain.city import City, FloatArray
from doseflow.domain.commanding import Handover, OrderWish, Press, WishAnswer
from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import Decision
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.orders import Commitments, Order, OrderReceipt, OrderState
from doseflow.domain.plan import Infeasible, Plan, Proposal
from doseflow.domain.playbooks import Playbook
from doseflow.domain.report import ReceivedReport
from doseflow.domain.sign_ins import ApiKey, Session
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

    def expire_orders(self, now: datetime) -> list[str]:
        """
        Move to `expired`: unanswered orders past their due moment, and answered ones an hour past it; their ids.

        An order that a site has begun is late before it is void: its people and doses stay taken.
        """


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """An order's change waiting to be told to one gateway: `topic` is `order` or `withdrawal`."""

    entry_id: int
    topic: str
    order: Order
    attempts: int
    gateway: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter(OutboxEntry):
    """An entry that nobody tries any more, since when, and why."""

    dead_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class OutboxLine:
    """How one gateway stands: entries that wait, since when the oldest of them does, and its dead letters."""

    gateway: str
    num_waiting: int
    oldest_at: datetime | None
    num_dead: int


class Outbox(Protocol):
    """What was decided and not told yet: filled with the plan, told at least once, in order for a site and gateway."""

    def set_up_gateways(self, names: Sequence[str], now: datetime) -> None:
        """From now on these gateways are told, a new one every open order; nothing waits for any other."""

    def due(self, now: datetime, limit: int = 500, gateway: str | None = None) -> list[OutboxEntry]:
        """Entries whose next attempt is due, of one gateway or all: of each site only its oldest ones, in order."""

    def mark_delivered(self, entry_ids: Sequence[int], now: datetime) -> None:
        """Delivered: an order becomes `sent` with the first gateway that took it."""

    def drop(self, entry_ids: Sequence[int]) -> None:
        """The gateway does not reach the site: nobody is to be told."""

    def mark_failed(self, entry_id: int, now: datetime, reason: str, retry_at: datetime | None) -> None:
        """Not delivered: try again at `retry_at`, or put it on the dead-letter list when that is None."""

    def lines(self) -> list[OutboxLine]:
        """How each gateway stands."""

    def dead_letters(self) -> list[DeadLetter]:
        """Entries that nobody tries any more, oldest first."""

    def resend(self, entry_id: int, now: datetime, *, by: str = "doseflow", reason: str = "") -> DeadLetter:
        """
        Take an entry off the dead-letter list and try it at once; the audit log says who wanted it.

        Raises
        ------
        NotFound
        ResendRefused
            Its order has ended.
        """

    def dismiss(self, entry_id: int, now: datetime, *, by: str = "doseflow", reason: str = "") -> DeadLetter:
        """
        Take an entry off the dead-letter list for good; the audit log says who wanted it.

        Raises
        ------
        NotFound
        """


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """A browser's subscription (W3C Push API): where to push to, its two keys in base64url, and its language."""

    endpoint: str
    public_key: str
    auth: str
    language: str = "en"


class AuditLog(Protocol):
    """Keeps who did what; nothing in it can be changed or taken out without its being seen."""

    def append(self, entry: AuditEntry) -> ChainedEntry:
        """Keep an entry."""

    def entries(self, after_no: int = 0, limit: int = 1000) -> list[ChainedEntry]:
        """Entries after a number, oldest first."""

    def search(self, wanted: AuditFilter, after_no: int = 0, limit: int = 1000) -> AuditPage:
        """Entries that fit, oldest first; a page may hold fewer than `limit` and not be the last."""

    def head(self) -> AuditHead:
        """The last entry's number and digest."""


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


class CommandDesk(Protocol):
    """
    What people in command do; each deed is kept together with its entry in the audit log, or not at all.

    Wherever a press carries a client key that was used before, nothing is done and the first answer is given again.
    """

    def decide(self, wishes: Sequence[OrderWish], press: Press, undo_for: timedelta) -> list[WishAnswer]:
        """Do each wish, or say why not."""

    def decide_all(self, wishes: Sequence[OrderWish], press: Press, undo_for: timedelta) -> list[WishAnswer]:
        """
        Do all wishes, or none; what is approved goes out after `undo_for`.

        Raises
        ------
        OrderNotFound, CommandRefused
        """

    def settle_waiting(self, now: datetime) -> list[Order]:
        """Let orders that nobody answered in time go out or lapse; the orders as they are then."""

    def override(self, order_id: str, decision: Decision, press: Press) -> Order:
        """
        Replace an order by one in another quantity, which every plan keeps while it is open; the new order.

        Raises
        ------
        OrderNotFound, CommandRefused
        """

    def pin_order(self, order_id: str, press: Press) -> Order:
        """
        Keep an order's decision in every plan as long as an order for it is open.

        Raises
        ------
        OrderNotFound, CommandRefused
        """

    def unpin_order(self, order_id: str, press: Press) -> Order:
        """
        Leave an order's decision to the plans again.

        Raises
        ------
        OrderNotFound
        """

    def command_site(self, command: str, site_id: str, press: Press) -> None:
        """`freeze`, `unfreeze`, `suspend` or `resume` a site."""

    def hand_over(self, from_officer: str, to_officer: str, note: str, press: Press) -> Handover:
        """Give the watch to the next officer."""

    def confirm_handover(self, handover_id: int, press: Press) -> Handover:
        """
        Take the watch.

        Raises
        ------
        HandoverNotFound, CommandRefused
        """

    def handovers(self, limit: int = 20) -> list[Handover]:
        """The latest first."""

    def open_items(self) -> dict[str, Any]:
        """What is open now, ready to be sent as JSON."""

    def start_playbook(self, playbook: Playbook, press: Press) -> Playbook:
        """Start a playbook; it binds the next plan."""

    def end_playbook(self, playbook_id: str, press: Press) -> Playbook:
        """
        End a playbook; one that has ended stays as it is.

        Raises
        ------
        PlaybookNotFound
        """

    def playbooks(self, limit: int = 100) -> list[Playbook]:
        """The latest first, running and ended."""


@dataclass(frozen=True, slots=True)
class TakenMessage:
    """
    What became of a message: appointments changed, those older than what was known, and names of places of no site.

    A repeat changes nothing.
    """

    is_repeat: bool
    changed: int = 0
    outdated: int = 0
    unplaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnplacedAppointments:
    """Appointments or slots (`kind` says which) of a place that is no site yet."""

    source: str
    place: tuple[str, ...]
    kind: str
    number: int
    told_at: datetime


@dataclass(frozen=True, slots=True)
class SlotsLeft:
    """Free slots of a site as a publisher tells them; `capacity_left` is None where it tells no capacity."""

    source: str
    site_id: str
    slots: int
    capacity_left: int | None
    told_at: datetime


class AppointmentBook(Protocol):
    """Keeps what other systems say of their appointments: the newest word of each, and no name of anybody."""

    def take(
        self,
        message: SourceMessage,
        site_of: Callable[[Place], str | None],
        hash_of: Callable[[str], str],
        now: datetime,
    ) -> TakenMessage:
        """Keep a message in one transaction, once; an older word than what is known changes nothing."""

    def mark(self, source: str, now: datetime, ok: bool, text: str = "") -> None:
        """Note that a source was heard, or that it could not be asked and why."""

    def place_again(self, site_of: Callable[[Place], str | None]) -> int:
        """Give what had no site the site that its names stand for now; how many."""

    def booked_people(
        self, start: datetime, *, heard_since: datetime, first_before: datetime
    ) -> dict[str, tuple[int, ...]]:
        """People booked in each of the eight quarter hours after `start`, by site that a source speaks for."""

    def told_reports(self) -> dict[str, str]:
        """Id of the last report made from the book, by site."""

    def note_told(self, report_ids: dict[str, str]) -> None:
        """Remember which reports were made, by site."""

    def unplaced(self, limit: int = 1000) -> list[UnplacedAppointments]:
        """Appointments and slots of places that are no site yet."""

    def slots_left(self, start: datetime, end: datetime) -> list[SlotsLeft]:
        """What publishers still offer between two moments."""

    def sources(self) -> dict[str, datetime]:
        """When each source last told of an appointment at a site."""

    def doses_told(self, since: datetime) -> list[tuple[str, str, str, int]]:
        """Doses that messages told, as source, site, day and number."""

    def forget_before(self, moment: datetime) -> int:
        """Let go of what ended before a moment; how many rows."""


class SessionStore(Protocol):
    """Keeps who has signed in, until they sign out or their time is over."""

    def begin(self, session: Session, entry: AuditEntry) -> None:
        """Keep a session, and in the same transaction that it began; those whose time is over are forgotten."""

    def find(self, token_digest: str) -> Session | None:
        """The session of a token, whether its time is over or not."""

    def see(self, token_digest: str, now: datetime) -> None:
        """Something was heard of it."""

    def end(self, token_digest: str, entry: AuditEntry) -> None:
        """End one session; where there is none nothing is kept."""

    def end_all_of(self, name: str) -> int:
        """End every session of a person; how many there were."""


class KeyStore(Protocol):
    """Keeps the keys of machines, those too that hold no more."""

    def add(self, key: ApiKey, entry: AuditEntry) -> None:
        """Keep a key, and in the same transaction that it was made."""

    def find(self, prefix: str) -> ApiKey | None:
        """The key of a prefix, whether it holds or not."""

    def all_keys(self) -> list[ApiKey]:
        """All of them, oldest first."""

    def revoke(self, prefix: str, now: datetime, entry: AuditEntry) -> None:
        """
        From now on the key opens nothing.

        Raises
        ------
        UserNotFound
            No key has the prefix, or it was revoked before.
        """


@dataclass(frozen=True, slots=True)
class StartedSignIn:
    """A sign-in at an identity provider that has begun: where to send the browser, and what must come back."""

    address: str
    state: str
    nonce: str
    verifier: str


class IdentityProvider(Protocol):
    """Somebody else who says who a person is."""

    def begin(self, back_address: str) -> StartedSignIn:
        """
        Begin a sign-in that comes back to an address of ours.

        Raises
        ------
        GatewayFailed
        """

    def claims(self, code: str, started: StartedSignIn, back_address: str) -> Mapping[str, Any]:
        """
        What it says of the person who came back with a code.

        Raises
        ------
        SignInRefused
            What it says does not belong to this sign-in, is not signed by it, or is over.
        GatewayFailed
        """


class PushSubscriptions(Protocol):
    """Keeps which browsers asked to be told of which sites."""

    def keep(self, site_id: str, caller: str, subscription: PushSubscription, now: datetime) -> None:
        """Keep a browser's subscription to a site; a later one of the same browser replaces it."""

    def forget(self, endpoint: str) -> None:
        """Forget a browser."""


class Gateway(Protocol):
    """One outside system that orders are told to."""

    name: str
    group_size: int
    """The most entries of one site that are told at once."""

    def reaches(self, site_id: str) -> bool:
        """Whether it can tell this site anything."""

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """
        Tell changes of one site, in order, all or none of them; telling them twice does no harm.

        Raises
        ------
        GatewayFailed
            They did not arrive, or nobody knows whether they did.
        GatewayRefused
            They arrived, and the peer will never take them.
        GatewayHeldBack
            The gateway itself waits with them.
        """
