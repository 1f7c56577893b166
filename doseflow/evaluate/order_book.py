"""OrderBook: the orders of one played day in memory, living by the same rules as in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from doseflow.dispatch.order_life import (
    WITHDRAWABLE_STATES,
    answered_at,
    check_receipt,
    is_void,
    moved_on,
    still_binds,
)
from doseflow.domain.decisions import Decision
from doseflow.domain.orders import FINAL_STATES, Commitments, Order, OrderReceipt, OrderState
from doseflow.errors import OrderNotFound

SeenReceipt = tuple[str, str, str, str]


class OrderBook:
    """
    Orders of one day, oldest first: those that are open, and those refused lately.

    A final order leaves the book's open part, so that a cycle's cost follows what is open, not the day so far.
    """

    def __init__(self) -> None:
        self._open: dict[str, Order] = {}
        self._ended: dict[str, Order] = {}
        self._refused: dict[str, datetime] = {}
        self._seen_receipts: set[SeenReceipt] = set()
        self._order_no: dict[str, int] = {}

    def open_orders(self) -> list[Order]:
        """Orders not in a final state, newest first."""
        return list(self._open.values())[::-1]

    def sent_orders(self) -> list[Order]:
        """Orders that a site was told of and has not answered, newest first."""
        return [order for order in self.open_orders() if order.state is OrderState.SENT]

    def ended_orders(self) -> list[Order]:
        """Orders in a final state, in the order in which they ended."""
        return list(self._ended.values())

    def save(self, new_orders: Sequence[Order], withdrawn_order_ids: Sequence[str]) -> None:
        """Withdraw and make the orders of a cycle; an order that a site has answered stays, and is not made twice."""
        answered = set()
        for order_id in withdrawn_order_ids:
            order = self._known(order_id)
            if order.state in WITHDRAWABLE_STATES:
                self._put(replace(order, state=OrderState.WITHDRAWN))
            else:
                answered.add(order.decision.key)
        for order in new_orders:
            if order.decision.key not in answered and order.order_id not in self._order_no:
                self._order_no[order.order_id] = len(self._order_no)
                self._open[order.order_id] = order

    def hand_over(self) -> None:
        """Tell the sites every order that was made: it is `sent` then."""
        for order in self._open.values():
            if order.state is OrderState.PROPOSED:
                self._open[order.order_id] = replace(order, state=OrderState.SENT)

    def record_receipt(self, order_id: str, receipt: OrderReceipt) -> Order:
        """
        Apply a receipt; the same receipt twice changes nothing.

        Raises
        ------
        OrderNotFound, ReceiptRefused
        """
        check_receipt(receipt)
        order = self._known(order_id)
        seen = _seen_key(order_id, receipt)
        if seen in self._seen_receipts:
            return order
        moved = moved_on(order, receipt)
        self._seen_receipts.add(seen)
        if moved.state is OrderState.REFUSED:
            self._refused[order_id] = answered_at(order, receipt)
        self._put(moved)
        return moved

    def expire(self, now: datetime) -> list[str]:
        """Move to `expired` what time has ended; the ids, sorted."""
        void = sorted(order_id for order_id, order in self._open.items() if is_void(order, now))
        for order_id in void:
            self._put(replace(self._open[order_id], state=OrderState.EXPIRED))
        return void

    def commitments(self, now: datetime) -> Commitments:
        """What binds the next plan; nobody is in command of a played day."""
        by_state: dict[OrderState, list[Decision]] = {state: [] for state in OrderState}
        for order in self._open.values():
            by_state[order.state].append(order.decision)
        return Commitments(
            acknowledged=tuple(by_state[OrderState.ACKNOWLEDGED]),
            under_way=tuple(by_state[OrderState.UNDER_WAY]),
            sent=tuple(by_state[OrderState.SENT]),
            refused=self._refused_lately(now),
        )

    def _refused_lately(self, now: datetime) -> tuple[Decision, ...]:
        self._refused = {order_id: at for order_id, at in self._refused.items() if still_binds(at, now)}
        return tuple(self._ended[one].decision for one in sorted(self._refused, key=self._order_no.__getitem__))

    def _known(self, order_id: str) -> Order:
        order = self._open.get(order_id) or self._ended.get(order_id)
        if order is None:
            raise OrderNotFound(f"no order has the id {order_id!r}")
        return order

    def _put(self, order: Order) -> None:
        if order.state in FINAL_STATES:
            self._open.pop(order.order_id, None)
            self._ended[order.order_id] = order
        else:
            self._open[order.order_id] = order


def _seen_key(order_id: str, receipt: OrderReceipt) -> SeenReceipt:
    if receipt.receipt_id is not None:
        return order_id, receipt.receipt_id, "", ""
    return order_id, receipt.status, receipt.at.isoformat(), receipt.reason
