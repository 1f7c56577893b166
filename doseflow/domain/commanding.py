"""What a person in command asks for, who asks, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from doseflow.domain.orders import OrderState


@dataclass(frozen=True, slots=True)
class Press:
    """
    One press of a button: who, when, and why.

    `client_key` is the client's own name of this press: the same one again, after a lost connection, does nothing
    twice and is answered as before. Empty is no such name.
    """

    by: str
    at: datetime
    reason: str = ""
    client_key: str = ""


class OrderAction(StrEnum):
    """What a person may do with an order."""

    APPROVE = "approve"
    """Let it go out."""
    REJECT = "reject"
    """Stop it before it goes out; like a refusal it is not asked for again within the hour."""
    WITHDRAW = "withdraw"
    """Take it back, told or not, unless the site has promised it; the next plan may ask again."""
    UNDO = "undo"
    """Take back the answer given last, as long as nobody was told of it: the order waits again."""


REASON_NEEDED = frozenset({OrderAction.REJECT, OrderAction.WITHDRAW})


@dataclass(frozen=True, slots=True)
class OrderWish:
    """One action on one order."""

    order_id: str
    action: OrderAction
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WishAnswer:
    """What became of a wish: the order's state then, or in words why nothing was done."""

    order_id: str
    action: OrderAction
    state: OrderState | None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Handover:
    """
    One officer gives the watch to the next.

    `open_items` is what was open then, as plain JSON values; it is in the next one's hands from `confirmed_at` on.
    """

    handover_id: int
    from_officer: str
    to_officer: str
    note: str
    open_items: dict[str, object]
    given_by: str
    given_at: datetime
    confirmed_by: str | None = None
    confirmed_at: datetime | None = None
