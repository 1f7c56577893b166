"""SqlPlanStore: cycles whole, orders and receipts, and what binds the next plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import structlog
from sqlalchemy import Connection, text

from doseflow.domain.city import City
from doseflow.domain.cycle import Cycle
from doseflow.domain.orders import Commitments, Order, OrderReceipt, OrderState
from doseflow.domain.plan import Plan
from doseflow.domain.report import ReceivedReport
from doseflow.domain.state import CityState
from doseflow.errors import CycleNotFound
from doseflow.store import audit, commands, cycles, orders, outbox, receipts
from doseflow.store.cities import KeptCities
from doseflow.store.decision_codec import DecisionIdentity, key_text
from doseflow.store.plan_digest import plan_digest
from doseflow.store.plan_json import order_ids_of, plan_bytes
from doseflow.store.reports import mark_taken
from doseflow.store.state_codec import decode_state, encode_state
from doseflow.store.transactions import Transactions

log = structlog.get_logger(__name__)
_WRITE_NOTHING_NEW = text("UPDATE alembic_version SET version_num = version_num")


class SqlPlanStore:
    """The plan store on SQLite or PostgreSQL; thread-safe."""

    def __init__(self, transactions: Transactions, after_cycle: Callable[[], None] = lambda: None) -> None:
        self._transactions = transactions
        self._after_cycle = after_cycle
        self._cities = KeptCities(transactions)
        self._city_digest: str | None = None

    def save_city(self, city: City) -> None:
        """Keep the city; from now on this store's latest state is the latest of this city."""
        self._city_digest = self._cities.keep(city)

    def save_cycle(self, cycle: Cycle, taken: Sequence[ReceivedReport]) -> None:
        """Keep a cycle whole, in one transaction; again changes nothing."""
        city_digest = self._cities.keep(cycle.state.city)
        state = encode_state(cycle.state)
        with self._transactions.write() as connection:
            audit.wait_for_turn(connection)
            if not cycles.insert_cycle(connection, cycle, city_digest, len(taken)):
                return
            order_ids = _save_orders(connection, cycle)
            if len(order_ids) < len(cycle.plan.decisions):
                order_ids = orders.open_order_ids(connection) | order_ids
            plan = plan_bytes(cycle, order_ids)
            cycles.insert_plan(connection, cycle.cycle_id, plan, state)
            mark_taken(connection, cycle.cycle_id, taken)
        self._after_cycle()

    def latest_state(self) -> CityState | None:
        """
        The state of the latest cycle: of the city saved last by this process, or of any city where it saved none.

        None where there is none, or where another version has kept it in a way that this one cannot read.
        """
        with self._transactions.read() as connection:
            kept = cycles.latest_inputs(connection, self._city_digest)
        if kept is None:
            return None
        city_digest, state = kept
        try:
            return decode_state(state, self._cities.read(city_digest))
        except ValueError as error:
            log.warning("kept_state_unreadable", reason=str(error))
            return None

    def cycle_inputs(self, cycle_id: str) -> tuple[CityState, cycles.CycleRecord]:
        """
        The state a cycle was planned on, and its record.

        Raises
        ------
        CycleNotFound
            There is no such cycle, or its inputs are no longer kept or readable.
        """
        with self._transactions.read() as connection:
            record = cycles.read_record(connection, cycle_id)
            state = cycles.read_inputs(connection, cycle_id)
        try:
            return decode_state(state, self._cities.read(record["city_digest"])), record
        except ValueError as error:
            raise CycleNotFound(f"the inputs of cycle {cycle_id} cannot be read: {error}") from error

    def check_writable(self) -> None:
        """
        Write what is there already.

        Raises
        ------
        StoreUnavailable
        """
        with self._transactions.write() as connection:
            connection.execute(_WRITE_NOTHING_NEW)

    def cycle_ids_between(self, city: City, start: datetime, end: datetime) -> list[str]:
        """Ids of a city's cycles from `start` to before `end` whose inputs are kept, oldest first."""
        digest = self._cities.keep(city)
        with self._transactions.read() as connection:
            return cycles.ids_with_inputs(connection, digest, start, end)

    def digest_of(self, plan: Plan) -> str:
        """Digest of what a plan decides."""
        return plan_digest(plan)

    def latest_cycle(self) -> cycles.CycleRecord | None:
        """The record of the latest cycle, ready to be sent as JSON."""
        with self._transactions.read() as connection:
            return cycles.latest_record(connection)

    def plan(self, plan_id: str) -> dict[str, object]:
        """
        A plan as kept, ready to be sent as JSON.

        Raises
        ------
        PlanNotFound
        """
        with self._transactions.read() as connection:
            return cycles.read_plan(connection, plan_id)

    def orders(
        self, *, states: Sequence[OrderState] | None = None, site_id: str | None = None, limit: int = 1000
    ) -> list[Order]:
        """Orders, newest first; `site_id` is the site that must act."""
        with self._transactions.read() as connection:
            return orders.read_orders(connection, states, site_id, limit)

    def order(self, order_id: str) -> Order:
        """
        One order.

        Raises
        ------
        OrderNotFound
        """
        with self._transactions.read() as connection:
            return orders.read_order(connection, order_id)

    def commitments(self, now: datetime) -> Commitments:
        """What binds the next plan."""
        with self._transactions.read() as connection:
            return orders.commitments(connection, now)

    def record_receipt(self, order_id: str, receipt: OrderReceipt) -> Order:
        """
        Apply a receipt; the same receipt twice changes nothing.

        Raises
        ------
        OrderNotFound, ReceiptRefused
        """
        with self._transactions.write() as connection:
            return receipts.record(connection, order_id, receipt)

    def expire_orders(self, now: datetime) -> list[str]:
        """Move open orders past their due moment to `expired`, what was not told of them to the dead letters."""
        with self._transactions.write() as connection:
            expired = orders.expire_orders(connection, now)
            if expired:
                outbox.give_up(connection, expired, now)
        return expired


def _save_orders(connection: Connection, cycle: Cycle) -> dict[DecisionIdentity, str]:
    """Withdraw and make the cycle's orders, tell what is told, withdrawals first; ids of the orders made."""
    now = cycle.plan.as_of
    commands.lift_spent(connection, now)
    dropped = orders.withdraw_waiting(connection, cycle.withdrawn_order_ids, now)
    withdrawn = orders.withdraw_orders(connection, cycle.withdrawn_order_ids, now)
    # A site or a person who answered while the plan was made keeps the order, and gets no second one for the same.
    answered = orders.keys_of(
        connection, [one for one in cycle.withdrawn_order_ids if one not in withdrawn and one not in dropped]
    )
    made = cycle.new_orders
    if answered:
        made = tuple(order for order in made if key_text(order.decision) not in answered)
        cycles.correct_counts(connection, cycle.cycle_id, len(made), len(withdrawn) + len(dropped))
    orders.insert_orders(connection, made)
    outbox.drop_untold(connection, list(withdrawn))
    withdrawals = [(outbox.WITHDRAWAL, order_id, site_id) for order_id, site_id in withdrawn.items()]
    told = [(outbox.ORDER, one.order_id, one.site_id) for one in made if not one.is_waiting]
    _tell(connection, withdrawals + told, now)
    return order_ids_of(made)


def _tell(connection: Connection, to_tell: Sequence[outbox.ToTell], now: datetime) -> None:
    """Put what is decided into the outbox, due at `now`: the only way in."""
    outbox.put(connection, to_tell, now)
