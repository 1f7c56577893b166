"""The order book of a played day and the store of a serving city: the same events, the same commitments."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_samples import START, make_city, make_cycle, one_of_each_kind

from doseflow.domain.orders import OrderReceipt, OrderState, ReceiptStatus
from doseflow.errors import OrderNotFound, ReceiptRefused
from doseflow.evaluate.order_book import OrderBook
from doseflow.store.engine import Store, open_store

CITY = make_city()
CHOICES = one_of_each_kind(2)[:5] + one_of_each_kind(3)[:3]

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("cycle"), st.sets(st.integers(0, len(CHOICES) - 1), max_size=5)),
        st.tuples(st.just("hand_over"), st.none()),
        st.tuples(st.just("wait"), st.sampled_from((1, 5, 14, 61))),
        st.tuples(
            st.just("answer"),
            st.tuples(
                st.integers(0, 30),
                st.sampled_from(ReceiptStatus),
                st.sampled_from(("", "nobody is free")),
                st.sampled_from((None, "r1", "r2")),
                st.integers(-90, 90),
            ),
        ),
    ),
    max_size=25,
)


class Both:
    """The same events told to the book and to a store."""

    def __init__(self, store: Store) -> None:
        self.store, self.book, self.now = store, OrderBook(), START
        self.order_ids: list[str] = []
        self.cycle_no = itertools.count()

    def cycle(self, picked: set[int]) -> None:
        decisions = {CHOICES[one].key: CHOICES[one] for one in sorted(picked)}
        self.now += timedelta(minutes=1)
        open_orders = self.book.open_orders()
        assert [one.order_id for one in open_orders] == [
            one.order_id for one in self.store.plans.orders(states=_open_states(), limit=1000)
        ]
        cycle = make_cycle(
            CITY, f"c{next(self.cycle_no)}", tuple(decisions.values()), as_of=self.now, open_orders=tuple(open_orders)
        )
        self.store.plans.save_cycle(cycle, [])
        self.book.save(cycle.new_orders, cycle.withdrawn_order_ids)
        self.order_ids += [order.order_id for order in cycle.new_orders]

    def hand_over(self, _: None) -> None:
        while due := self.store.outbox.due(self.now):
            self.store.outbox.mark_delivered([entry.entry_id for entry in due], self.now)
        self.book.hand_over()

    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        assert self.book.expire(self.now) == self.store.plans.expire_orders(self.now)

    def answer(self, drawn: tuple) -> None:
        position, status, reason, receipt_id, minutes = drawn
        if not self.order_ids:
            return
        order_id = self.order_ids[position % len(self.order_ids)]
        receipt = OrderReceipt(status, self.now + timedelta(minutes=minutes), receipt_id, reason)
        said = [_outcome(one.record_receipt, order_id, receipt) for one in (self.book, self.store.plans)]
        assert said[0] == said[1]


def _open_states() -> list[OrderState]:
    return [OrderState(one) for one in ("proposed", "sent", "acknowledged", "under_way")]


def _outcome(record, order_id: str, receipt: OrderReceipt) -> object:
    try:
        order = record(order_id, receipt)
    except ReceiptRefused as error:
        return str(error)
    return order.state, order.refusal_reason, order.decision


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(events=EVENTS)
def test_the_book_and_the_store_give_the_same_commitments(events) -> None:
    with TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'store.sqlite'}")
        try:
            both = Both(store)
            for name, detail in events:
                getattr(both, name)(detail)
                assert both.book.commitments(both.now) == store.plans.commitments(both.now)
        finally:
            store.close()


def test_an_order_nobody_made_is_not_found() -> None:
    with pytest.raises(OrderNotFound):
        OrderBook().record_receipt("none", OrderReceipt(ReceiptStatus.DONE, START))


def test_a_refusal_binds_for_an_hour_and_no_longer() -> None:
    book, cycle = OrderBook(), make_cycle(CITY, "c", CHOICES[:1])
    book.save(cycle.new_orders, ())
    book.hand_over()
    book.record_receipt(cycle.new_orders[0].order_id, OrderReceipt(ReceiptStatus.REFUSED, START, reason="no bus"))
    assert _refused(book, START + timedelta(minutes=60)) == (CHOICES[0],)
    assert _refused(book, START + timedelta(minutes=61)) == ()


def _refused(book: OrderBook, now: datetime) -> tuple:
    return book.commitments(now).refused
