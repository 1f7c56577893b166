"""The life of orders in the store against a small model of it in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from store_samples import START, WHY, make_city, make_cycle

from doseflow.dispatch.due_times import due_at
from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.decisions import Decision, SendWalkIns, StationChange
from doseflow.domain.orders import OrderReceipt, ReceiptStatus
from doseflow.domain.roles import Stage
from doseflow.errors import ReceiptRefused, ResendRefused
from doseflow.store.engine import Store
from doseflow.store.tables import cycle_inputs, cycles, orders, outbox, plans, receipts

CITY = make_city()
OPEN = ("proposed", "sent", "acknowledged", "under_way")
UNANSWERED = ("proposed", "sent")
MAY_SAY = {
    "proposed": ("acknowledged", "under_way", "done", "refused"),
    "sent": ("acknowledged", "under_way", "done", "refused"),
    "acknowledged": ("under_way", "done", "refused"),
    "under_way": ("done", "refused"),
}
DECISIONS = st.lists(
    st.builds(
        lambda site, number: StationChange(f"site-{site:04d}", Stage.VACCINATION, 1, number, WHY),
        *[st.integers(0, 2)] * 2,
    )
    | st.builds(lambda people: SendWalkIns("site-0001", "site-0000", people, 9.0, WHY), st.integers(1, 2)),
    max_size=4,
    unique_by=lambda one: one.key,
)


@dataclass
class ModelOrder:
    """An order as the model knows it."""

    site_id: str
    decision: Decision
    due: datetime
    state: str = "proposed"
    refused_at: datetime | None = None


@dataclass
class ModelEntry:
    """Something to be told, as the model knows it."""

    topic: str
    order_id: str
    next_at: datetime
    is_dead: bool = False


class OrderLife(RuleBasedStateMachine):
    """Random cycles, deliveries, failures, receipts and time."""

    store: Store

    def __init__(self) -> None:
        super().__init__()
        with self.store.plans._transactions.write() as connection:
            for table in (receipts, outbox, orders, plans, cycle_inputs, cycles):
                connection.execute(table.delete())
        self.now = START
        self.num_cycles = 0
        self.orders: dict[str, ModelOrder] = {}
        self.queue: list[ModelEntry] = []

    @rule(decisions=DECISIONS, again=st.booleans())
    def cycle(self, decisions: list[Decision], again: bool) -> None:
        self.num_cycles += 1
        standing = tuple(self.store.plans.orders(states=OPEN_STATES))
        cycle = make_cycle(CITY, f"c{self.num_cycles}", tuple(decisions), as_of=self.now, open_orders=standing)
        for _ in range(2 if again else 1):
            self.store.plans.save_cycle(cycle, [])

        def asks(order: ModelOrder, decision: Decision) -> bool:
            return (order.decision.key, order.decision.quantity) == (decision.key, decision.quantity)

        stands = [order for order in self.orders.values() if order.state in OPEN]
        new = [one for one in decisions if not any(asks(order, one) for order in stands)]
        for order_id in sorted(self.orders, key=list(self.orders).index):
            order = self.orders[order_id]
            if order.state in UNANSWERED and not any(asks(order, one) for one in decisions):
                order.state = "withdrawn"
                self.queue = [one for one in self.queue if one.order_id != order_id]
                self.queue.append(ModelEntry("withdrawal", order_id, self.now))
        assert [order.decision for order in cycle.new_orders] == new
        for made in cycle.new_orders:
            self.orders[made.order_id] = ModelOrder(made.site_id, made.decision, due_at(made.decision, self.now))
            self.queue.append(ModelEntry("order", made.order_id, self.now))

    def due(self) -> list[ModelEntry]:
        blocked: set[str] = set()
        due = []
        for entry in self.queue:
            site_id = self.orders[entry.order_id].site_id
            if entry.is_dead or site_id in blocked:
                continue
            if entry.next_at > self.now:
                blocked.add(site_id)
            else:
                due.append(entry)
        return due

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        kept = self.store.outbox.due(self.now)
        how_many = data.draw(st.integers(1, len(kept)), label="how many")
        self.store.outbox.mark_delivered([entry.entry_id for entry in kept[:how_many]], self.now)
        for entry in self.due()[:how_many]:
            self.queue.remove(entry)
            order = self.orders[entry.order_id]
            if entry.topic == "order" and order.state == "proposed":
                order.state = "sent"

    @precondition(lambda self: self.due())
    @rule(data=st.data(), minutes=st.sampled_from((None, 1, 7)))
    def fail(self, data: st.DataObject, minutes: int | None) -> None:
        position = data.draw(st.integers(0, len(self.due()) - 1), label="position")
        retry_at = None if minutes is None else self.now + timedelta(minutes=minutes)
        entry = self.due()[position]
        self.store.outbox.mark_failed(self.store.outbox.due(self.now)[position].entry_id, self.now, "no", retry_at)
        entry.is_dead = retry_at is None
        entry.next_at = retry_at or self.now

    @precondition(lambda self: any(entry.is_dead for entry in self.queue))
    @rule()
    def resend(self) -> None:
        entry = next(entry for entry in self.queue if entry.is_dead)
        letter = self.store.outbox.dead_letters()[0]
        if entry.topic == "order" and self.orders[entry.order_id].state == "expired":
            with pytest.raises(ResendRefused):
                self.store.outbox.resend(letter.entry_id, self.now)
            self.store.outbox.dismiss(letter.entry_id, self.now)
            self.queue.remove(entry)
            return
        self.store.outbox.resend(letter.entry_id, self.now)
        entry.is_dead, entry.next_at = False, self.now

    @precondition(lambda self: self.orders)
    @rule(data=st.data(), status=st.sampled_from(ReceiptStatus), reason=st.sampled_from(("", "nobody is free")))
    def answer(self, data: st.DataObject, status: ReceiptStatus, reason: str) -> None:
        order_id = data.draw(st.sampled_from(sorted(self.orders)), label="order")
        receipt = OrderReceipt(status, self.now, f"{data.draw(st.integers(0, 10**9))}", reason)
        order = self.orders[order_id]
        if status.value not in MAY_SAY.get(order.state, ()) or (status == "refused" and not reason):
            with pytest.raises(ReceiptRefused):
                self.store.plans.record_receipt(order_id, receipt)
            return
        for _ in range(2):
            assert self.store.plans.record_receipt(order_id, receipt).state == status.value
        order.state = status.value
        order.refused_at = self.now if status == "refused" else None

    def _is_void(self, order) -> bool:
        """An order not answered is void once it is due, one that was answered an hour later."""
        grace = timedelta(minutes=0 if order.state in ("proposed", "sent") else 60)
        return order.due + grace < self.now

    @rule(minutes=st.sampled_from((1, 4, 15, 61)))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        expired = [order_id for order_id, one in self.orders.items() if one.state in OPEN and self._is_void(one)]
        assert self.store.plans.expire_orders(self.now) == sorted(expired)
        for order_id in expired:
            self.orders[order_id].state = "expired"
            for entry in self.queue:
                entry.is_dead = entry.is_dead or entry.order_id == order_id

    @invariant()
    def states_agree(self) -> None:
        kept = {order.order_id: (order.state.value, order.decision) for order in self.store.plans.orders()}
        assert kept == {order_id: (order.state, order.decision) for order_id, order in self.orders.items()}

    @invariant()
    def outbox_agrees(self) -> None:
        def told(entries: list) -> list[tuple[str, str]]:
            return [(entry.topic, entry.order.order_id) for entry in entries]

        assert told(self.store.outbox.due(self.now)) == [(one.topic, one.order_id) for one in self.due()]
        dead = [(one.topic, one.order_id) for one in self.queue if one.is_dead]
        assert told(self.store.outbox.dead_letters()) == dead

    @invariant()
    def commitments_agree(self) -> None:
        binding = self.store.plans.commitments(self.now)
        for name in ("acknowledged", "under_way", "sent"):
            assert getattr(binding, name) == tuple(one.decision for one in self.orders.values() if one.state == name)
        hour = timedelta(minutes=60)
        refused = [one for one in self.orders.values() if one.refused_at and one.refused_at + hour >= self.now]
        assert binding.refused == tuple(one.decision for one in refused)


def test_orders_live_as_the_model_says(store: Store) -> None:
    OrderLife.store = store
    run_state_machine_as_test(OrderLife, settings=settings(max_examples=15, stateful_step_count=20))
