"""SqlCommandDesk: what people in command do, each deed in one transaction with its entry in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from doseflow.domain.audit import AuditEntry
from doseflow.domain.commanding import Handover, OrderAction, OrderWish, Press, WishAnswer
from doseflow.domain.decisions import Decision
from doseflow.domain.orders import Order, OrderState
from doseflow.domain.playbooks import Playbook
from doseflow.store import audit, commands, handovers, order_wishes, overrides, playbooks
from doseflow.store.commands import CommandKind
from doseflow.store.order_wishes import Tell
from doseflow.store.orders import read_order
from doseflow.store.presses import once
from doseflow.store.transactions import Transactions

COMMAND_TO_WISH: dict[str, tuple[CommandKind, bool]] = {
    "freeze": (CommandKind.FREEZE, True),
    "unfreeze": (CommandKind.FREEZE, False),
    "suspend": (CommandKind.SUSPEND, True),
    "resume": (CommandKind.SUSPEND, False),
}
"""For each command of a site: the wish, and whether it is set or lifted."""


class SqlCommandDesk:
    """The desk on SQLite or PostgreSQL; thread-safe. `tell` fills the outbox."""

    def __init__(self, transactions: Transactions, tell: Tell) -> None:
        self._transactions = transactions
        self._tell = tell

    def decide(self, wishes: Sequence[OrderWish], press: Press, undo_for: timedelta) -> list[WishAnswer]:
        """Do each wish, or say why not; the others do not depend on it."""

        def deed(connection: Connection) -> list[WishAnswer]:
            return [order_wishes.answer_to(connection, wish, press, self._tell, undo_for) for wish in wishes]

        return self._answers(wishes, press, deed, "each")

    def decide_all(self, wishes: Sequence[OrderWish], press: Press, undo_for: timedelta) -> list[WishAnswer]:
        """
        Do all wishes, or none.

        Raises
        ------
        OrderNotFound, CommandRefused
        """

        def deed(connection: Connection) -> list[WishAnswer]:
            orders = [order_wishes.fulfil(connection, wish, press, self._tell, undo_for) for wish in wishes]
            return [WishAnswer(wish.order_id, wish.action, one.state) for wish, one in zip(wishes, orders, strict=True)]

        return self._answers(wishes, press, deed, "all")

    def settle_waiting(self, now: datetime) -> list[Order]:
        """Let orders that nobody answered in time go out or lapse, as their rule says; the orders as they are then."""
        with self._transactions.read() as connection:
            if not order_wishes.is_any_overdue(connection, now):
                return []
        with self._turn() as connection:
            return order_wishes.settle_waiting(connection, now, self._tell)

    def override(self, order_id: str, decision: Decision, press: Press) -> Order:
        """
        Replace an order by one in another quantity, which every plan keeps while it is open; the new order.

        Raises
        ------
        OrderNotFound, CommandRefused
        """
        wish = {"override": order_id, "quantity": float(decision.quantity)}
        return self._order_after(
            press, wish, lambda connection: overrides.override(connection, order_id, decision, press, self._tell)
        )

    def pin_order(self, order_id: str, press: Press) -> Order:
        """
        Keep an order's decision in every plan as long as an order for it is open.

        Raises
        ------
        OrderNotFound, CommandRefused
        """
        return self._order_after(
            press, {"pin": order_id}, lambda connection: overrides.pin_order(connection, order_id, press)
        )

    def unpin_order(self, order_id: str, press: Press) -> Order:
        """
        Leave an order's decision to the plans again.

        Raises
        ------
        OrderNotFound
        """
        return self._order_after(
            press, {"unpin": order_id}, lambda connection: overrides.unpin_order(connection, order_id, press)
        )

    def command_site(self, command: str, site_id: str, press: Press) -> None:
        """Freeze, unfreeze, suspend or resume a site; saying it twice changes nothing, and is written down twice."""
        kind, is_set = COMMAND_TO_WISH[command]
        with self._turn() as connection:

            def deed() -> None:
                before = commands.is_set(connection, kind, site_id)
                change = commands.set_for_site if is_set else commands.lift
                change(connection, kind, site_id, press.at)
                details = {"before": {kind.value: before}, "after": {kind.value: is_set}}
                entry = AuditEntry(press.at, press.by, f"site.{command}", site_id, press.reason, details)
                audit.append(connection, entry)

            once(connection, press, {str(command): site_id}, deed)

    def hand_over(self, from_officer: str, to_officer: str, note: str, press: Press) -> Handover:
        """Give the watch to the next officer, with a list of what is open."""
        wish = {"from": from_officer, "to": to_officer, "note": note}
        with self._turn() as connection:
            made = once(
                connection,
                press,
                wish,
                lambda: handovers.hand_over(connection, from_officer, to_officer, note, press).handover_id,
            )
            return handovers.read_handover(connection, made)

    def confirm_handover(self, handover_id: int, press: Press) -> Handover:
        """
        Take the watch.

        Raises
        ------
        HandoverNotFound, CommandRefused
        """
        with self._turn() as connection:
            once(
                connection,
                press,
                {"confirm": handover_id},
                lambda: handovers.confirm(connection, handover_id, press).handover_id,
            )
            return handovers.read_handover(connection, handover_id)

    def handovers(self, limit: int = 20) -> list[Handover]:
        """The latest first."""
        with self._transactions.read() as connection:
            return handovers.read_handovers(connection, limit)

    def open_items(self) -> dict[str, Any]:
        """What is open now."""
        with self._transactions.read() as connection:
            return handovers.open_items(connection)

    def start_playbook(self, playbook: Playbook, press: Press) -> Playbook:
        """Start a playbook; it binds the next plan."""
        started = replace(playbook, reason=press.reason, started_by=press.by, started_at=press.at)
        asked = replace(playbook, playbook_id="")
        with self._turn() as connection:

            def deed() -> str:
                playbooks.insert_playbook(connection, started, press.at)
                _write_playbook_down(connection, started, press, "playbook.start")
                return started.playbook_id

            made = once(connection, press, asked, deed)
            return next(one for one in playbooks.read_playbooks(connection, 10_000) if one.playbook_id == made)

    def end_playbook(self, playbook_id: str, press: Press) -> Playbook:
        """
        End a playbook; one that has ended stays as it is.

        Raises
        ------
        PlaybookNotFound
        """
        with self._turn() as connection:
            ended, was_running = playbooks.end_playbook(connection, playbook_id, press)
            if was_running:
                _write_playbook_down(connection, ended, press, "playbook.end")
            return ended

    def playbooks(self, limit: int = 100) -> list[Playbook]:
        """The latest first, running and ended."""
        with self._transactions.read() as connection:
            return playbooks.read_playbooks(connection, limit)

    def _answers(
        self,
        wishes: Sequence[OrderWish],
        press: Press,
        deed: Callable[[Connection], list[WishAnswer]],
        mode: str,
    ) -> list[WishAnswer]:
        with self._turn() as connection:
            answers = once(connection, press, {mode: list(wishes)}, lambda: deed(connection))
        return [
            WishAnswer(
                one["order_id"],
                OrderAction(one["action"]),
                None if one["state"] is None else OrderState(one["state"]),
                one["refused"],
            )
            for one in answers
        ]

    def _order_after(self, press: Press, wish: dict[str, Any], deed: Callable[[Connection], Order]) -> Order:
        with self._turn() as connection:
            order_id = once(connection, press, wish, lambda: deed(connection).order_id)
            return read_order(connection, order_id)

    @contextmanager
    def _turn(self) -> Iterator[Connection]:
        with self._transactions.write() as connection:
            audit.wait_for_turn(connection)
            yield connection


def _write_playbook_down(connection: Connection, playbook: Playbook, press: Press, action: str) -> None:
    details = {
        "kind": playbook.kind.value,
        "site_ids": list(playbook.site_ids),
        "fridge_id": playbook.fridge_id,
        "lot_number": playbook.lot_number,
        "factor": playbook.factor,
        "before": {"running": action == "playbook.end"},
        "after": {"running": action == "playbook.start"},
    }
    audit.append(connection, AuditEntry(press.at, press.by, action, playbook.playbook_id, press.reason, details))
