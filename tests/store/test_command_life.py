"""Orders under command in the store against a small model in plain Python: approval, undo, time, repeated presses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from store_samples import START, WHY, make_city, make_cycle

from doseflow.dispatch.approval import asked_about
from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.approvals import Approval, ApprovalParams, ApprovalRule
from doseflow.domain.commanding import OrderAction, OrderWish, Press
from doseflow.domain.decisions import SendWalkIns
from doseflow.domain.orders import OrderReceipt, ReceiptStatus
from doseflow.errors import CommandRefused, ReceiptRefused
from doseflow.store.audit_lines import check_lines
from doseflow.store.engine import Store
from doseflow.store.tables import audit_log, cycle_inputs, cycles, orders, outbox, plans, presses, receipts

UNDO_FOR = timedelta(seconds=30)
PRESS_TAKES = timedelta(seconds=2)
MINUTES = 20
MODES = {
    "site-0000": Approval.AUTOMATIC,
    "site-0001": Approval.GOES_OUT,
    "site-0002": Approval.LAPSES,
    "site-0003": Approval.ALWAYS_ASK,
}
RULES = ApprovalParams(
    tuple(
        ApprovalRule(mode, site_ids=(site_id,), minutes=MINUTES if mode in ("goes_out", "lapses") else None)
        for site_id, mode in MODES.items()
    )
)
OPEN = ("proposed", "approved", "sent", "acknowledged")
CITY = make_city(5)
SITES = st.sampled_from(tuple(MODES))
WANTED = st.dictionaries(SITES, st.integers(1, 2), max_size=4)


@dataclass
class Model:
    """An order as the model knows it."""

    site_id: str
    people: int
    approval: str
    due: datetime
    decide_by: datetime | None
    state: str = "proposed"
    goes_at: datetime | None = None
    """When it may be told, None while it may not."""
    can_undo_until: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        return self.state == "proposed" and self.approval != "automatic"


class CommandLife(RuleBasedStateMachine):
    """Random cycles, presses, deliveries, receipts and time; one kind of order, which is told to one gateway."""

    store: Store

    def __init__(self) -> None:
        super().__init__()
        with self.store.plans._transactions.write() as connection:
            for table in (receipts, outbox, orders, plans, cycle_inputs, cycles, audit_log, presses):
                connection.execute(table.delete())
        self.now, self.count, self.deeds = START, 0, 0
        self.orders: dict[str, Model] = {}
        self.pressed: list[tuple[OrderWish, Press, list]] = []

    @rule(wanted=WANTED)
    def cycle(self, wanted: dict[str, int]) -> None:
        self.settle()
        self.count += 1
        standing = tuple(self.store.plans.orders(states=OPEN_STATES))
        decisions = tuple(SendWalkIns(site_id, "site-0004", people, 9.0, WHY) for site_id, people in wanted.items())
        made = make_cycle(CITY, f"c{self.count}", decisions, as_of=self.now, open_orders=standing)
        commitments = self.store.plans.commitments(self.now)
        made = replace(made, new_orders=asked_about(made.new_orders, standing, commitments, RULES))
        self.store.plans.save_cycle(made, [])
        before = {one.site_id: one.decide_by for one in self.orders.values() if one.is_waiting}
        stands = {(one.site_id, one.people) for one in self.orders.values() if one.state in OPEN}
        for one in self.orders.values():
            if one.state in ("proposed", "approved", "sent") and wanted.get(one.site_id) != one.people:
                one.state, one.can_undo_until = "withdrawn", None
        for order in made.new_orders:
            site_id, mode = order.site_id, MODES[order.site_id]
            assert (site_id, order.decision.people) not in stands
            clock = self.now + timedelta(minutes=MINUTES) if mode in ("goes_out", "lapses") else None
            if clock is not None and before.get(site_id) is not None:
                clock = min(clock, before[site_id])
            goes_at = self.now if mode == "automatic" else None
            self.orders[order.order_id] = Model(
                site_id, order.decision.people, mode.value, self.now + timedelta(minutes=30), clock, goes_at=goes_at
            )
        assert {(one.site_id, one.people) for one in self.orders.values() if one.state in OPEN} >= set(wanted.items())

    @precondition(lambda self: self.orders)
    @rule(data=st.data(), action=st.sampled_from(OrderAction), reason=st.sampled_from(("", "too many")))
    def press(self, data: st.DataObject, action: OrderAction, reason: str) -> None:
        order_id = data.draw(st.sampled_from(sorted(self.orders)), label="order")
        one = self.orders[order_id]
        wish = OrderWish(order_id, action, reason)
        press = Press("officer", self.now, client_key=f"key-{len(self.pressed)}")
        if not self.is_allowed(one, action, reason):
            with pytest.raises(CommandRefused):
                self.store.desk.decide_all([wish], press, UNDO_FOR)
            (answer,) = self.store.desk.decide([wish], Press("officer", self.now), UNDO_FOR)
            assert answer.state is None
            assert answer.refused
            return
        self.move(one, action)
        answers = self.store.desk.decide_all([wish], press, UNDO_FOR)
        assert [answer.state for answer in answers] == [one.state]
        self.pressed.append((wish, press, answers))
        self.deeds += 1

    def is_allowed(self, one: Model, action: OrderAction, reason: str) -> bool:
        if action in ("approve", "reject"):
            return one.is_waiting and bool(reason or action == "approve")
        if action == "withdraw":
            return one.state in ("proposed", "approved", "sent") and bool(reason)
        in_time = one.can_undo_until is not None and self.now < one.can_undo_until
        twins = [other for other in self.orders.values() if other.site_id == one.site_id and other is not one]
        return in_time and not any(other.state in OPEN for other in twins)

    def move(self, one: Model, action: OrderAction) -> None:
        answerable = max(one.due, self.now + timedelta(minutes=10)) + timedelta(microseconds=1)
        if action == "approve":
            one.state, one.goes_at = "approved", self.now + UNDO_FOR
            one.due = self.now + UNDO_FOR + timedelta(minutes=30)
            one.can_undo_until = self.now + UNDO_FOR - PRESS_TAKES
        elif action == "reject":
            one.state, one.can_undo_until, one.due = "refused", answerable, answerable
        elif action == "withdraw":
            is_secret = one.goes_at is None or one.goes_at > self.now + PRESS_TAKES
            one.state, one.can_undo_until = "withdrawn", answerable if is_secret else None
            one.due = answerable
        else:
            one.state, one.goes_at, one.can_undo_until = "proposed", None, None

    @precondition(lambda self: self.pressed)
    @rule(data=st.data())
    def press_again(self, data: st.DataObject) -> None:
        wish, press, answers = data.draw(st.sampled_from(self.pressed), label="press")
        later = replace(press, at=self.now)
        assert self.store.desk.decide_all([wish], later, UNDO_FOR) == answers
        with pytest.raises(CommandRefused, match="client_key"):
            self.store.desk.decide_all([replace(wish, reason="another")], later, UNDO_FOR)

    @rule()
    def deliver(self) -> None:
        due = self.store.outbox.due(self.now)
        self.store.outbox.mark_delivered([entry.entry_id for entry in due], self.now)
        for entry in due:
            one = self.orders[entry.order.order_id]
            if entry.topic == "order":
                assert one.goes_at is not None
                assert one.goes_at <= self.now
                one.state = "sent" if one.state in ("proposed", "approved") else one.state
                one.can_undo_until = None

    @precondition(lambda self: any(one.state != "withdrawn" for one in self.orders.values()))
    @rule(data=st.data(), status=st.sampled_from((ReceiptStatus.ACKNOWLEDGED, ReceiptStatus.DONE)))
    def answer(self, data: st.DataObject, status: ReceiptStatus) -> None:
        order_id = data.draw(st.sampled_from(sorted(self.orders)), label="order")
        one = self.orders[order_id]
        receipt = OrderReceipt(status, self.now, f"r{data.draw(st.integers(0, 10**9))}")
        may = {"proposed": not one.is_waiting, "approved": True, "sent": True, "acknowledged": status == "done"}
        if not may.get(one.state, False):
            with pytest.raises(ReceiptRefused):
                self.store.plans.record_receipt(order_id, receipt)
            return
        self.store.plans.record_receipt(order_id, receipt)
        one.state, one.can_undo_until = status.value, None

    @rule(seconds=st.sampled_from((5, 29, 31, 300, 1260, 2000)))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        self.settle()

    def settle(self) -> None:
        settled = {order.order_id: order.state.value for order in self.store.desk.settle_waiting(self.now)}
        over = {key: one for key, one in self.orders.items() if one.is_waiting and one.decide_by}
        over = {key: one for key, one in over.items() if one.decide_by <= self.now}
        assert settled == {key: self.fall_back(one) for key, one in over.items()}
        for key, one in over.items():
            one.state = settled[key]
            if one.state == "approved":
                one.goes_at, one.due = self.now, self.now + timedelta(minutes=30)
        self.deeds += len(over)
        self.store.plans.expire_orders(self.now)
        for one in self.orders.values():
            grace = timedelta(minutes=60 if one.state == "acknowledged" else 0)
            if one.state in OPEN and not one.is_waiting and one.due + grace < self.now:
                one.state, one.can_undo_until = "expired", None

    def fall_back(self, one: Model) -> str:
        """What goes out half an hour late or later is stale: that is the time in which it was to be carried out."""
        is_late = self.now > one.decide_by + timedelta(minutes=30)
        return "approved" if one.approval == "goes_out" and not is_late else "expired"

    @invariant()
    def states_agree(self) -> None:
        kept = {order.order_id: order.state.value for order in self.store.plans.orders()}
        assert kept == {order_id: order.state for order_id, order in self.orders.items()}

    @invariant()
    def nobody_is_told_of_what_waits(self) -> None:
        far_ahead = self.now + timedelta(days=1)
        told = {entry.order.order_id for entry in self.store.outbox.due(far_ahead) if entry.topic == "order"}
        assert not told & {order_id for order_id, one in self.orders.items() if one.is_waiting}

    @invariant()
    def every_deed_is_in_the_log_once(self) -> None:
        head, wrong = check_lines(self.store.audit.lines())
        assert not wrong
        assert head.entry_no == self.deeds


def test_commanded_orders_live_as_the_model_says(store: Store) -> None:
    CommandLife.store = store
    run_state_machine_as_test(CommandLife, settings=settings(max_examples=25, stateful_step_count=25))
