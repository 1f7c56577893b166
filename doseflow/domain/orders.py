"""Orders and what became of them; and the commitments that they, and people in command, lay on the next plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from annotated_types import MaxLen, MinLen
from pydantic import AwareDatetime, ConfigDict

from doseflow.domain.approvals import Approval
from doseflow.domain.decisions import Decision
from doseflow.domain.playbooks import NO_INCIDENTS, Incidents


class OrderState(StrEnum):
    """Life of an order. `done`, `refused`, `expired` and `withdrawn` are final."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    """By a person, or by time where that is the rule; orders that nobody is asked about skip it."""
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    UNDER_WAY = "under_way"
    DONE = "done"
    REFUSED = "refused"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


FINAL_STATES = frozenset({OrderState.DONE, OrderState.REFUSED, OrderState.EXPIRED, OrderState.WITHDRAWN})
BINDING_STATES = frozenset({OrderState.ACKNOWLEDGED, OrderState.UNDER_WAY})
"""States in which a site is carrying the order out: its people, doses and van are taken."""

NEXT_STATES: dict[OrderState, frozenset[OrderState]] = {
    OrderState.PROPOSED: frozenset(
        {OrderState.APPROVED, OrderState.SENT, OrderState.REFUSED, OrderState.WITHDRAWN, OrderState.EXPIRED}
    ),
    OrderState.APPROVED: frozenset({OrderState.SENT, OrderState.WITHDRAWN, OrderState.EXPIRED}),
    OrderState.SENT: frozenset(
        {
            OrderState.ACKNOWLEDGED,
            OrderState.UNDER_WAY,
            OrderState.DONE,
            OrderState.REFUSED,
            OrderState.WITHDRAWN,
            OrderState.EXPIRED,
        }
    ),
    OrderState.ACKNOWLEDGED: frozenset({OrderState.UNDER_WAY, OrderState.DONE, OrderState.REFUSED, OrderState.EXPIRED}),
    OrderState.UNDER_WAY: frozenset({OrderState.DONE, OrderState.REFUSED, OrderState.EXPIRED}),
    OrderState.DONE: frozenset(),
    OrderState.REFUSED: frozenset(),
    OrderState.EXPIRED: frozenset(),
    OrderState.WITHDRAWN: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Order:
    """
    A decision addressed to the site that must act.

    `order_id` is derived from the cycle and the decision's key, so that the same order made twice is one order.
    `approval` says whether it waits for a person while it is proposed, and `decide_by` until when, None for ever.
    """

    order_id: str
    cycle_id: str
    site_id: str
    expecting_site_id: str | None
    decision: Decision
    reason_en: str
    reason_zh: str
    state: OrderState
    created_at: datetime
    due_at: datetime
    refusal_reason: str = ""
    approval: Approval = Approval.AUTOMATIC
    decide_by: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a person: nobody is told of it, and the plan is made without counting on it."""
        return self.state is OrderState.PROPOSED and self.approval is not Approval.AUTOMATIC


class ReceiptStatus(StrEnum):
    """What a site says of an order."""

    ACKNOWLEDGED = "acknowledged"
    UNDER_WAY = "under_way"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class OrderReceipt:
    """What a site says of an order, and when; a refusal must give its reason."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)
    status: ReceiptStatus
    at: AwareDatetime
    receipt_id: Annotated[str, MinLen(1), MaxLen(100)] | None = None
    reason: Annotated[str, MaxLen(1000)] = ""


@dataclass(frozen=True, slots=True)
class Commitments:
    """
    What binds the next plan.

    Parameters
    ----------
    acknowledged
        Decisions that a site has promised and not begun: its report still shows the people or doses, which are taken.
    under_way
        Decisions begun: what they move has left the giver's report and not reached the receiver's.
    sent
        Decisions that were sent and not answered, or wait for approval; the next plan may keep or withdraw them.
    refused
        Decisions refused within the last hour: the next plan must not ask for them again.
    pinned
        Decisions that a person in command wants in the plan, whatever the policy says.
    frozen_site_ids
        Sites that a person in command wants left as they are.
    suspended_site_ids
        Sites that may not vaccinate: everything there closes, nobody and nothing is sent there.
    overridden
        Those pinned decisions whose quantity a person has set: the plan holds no more and no less of them.
    incidents
        What running playbooks forbid and allow.
    """

    acknowledged: tuple[Decision, ...] = ()
    under_way: tuple[Decision, ...] = ()
    sent: tuple[Decision, ...] = ()
    refused: tuple[Decision, ...] = ()
    pinned: tuple[Decision, ...] = ()
    frozen_site_ids: frozenset[str] = frozenset()
    suspended_site_ids: frozenset[str] = frozenset()
    overridden: tuple[Decision, ...] = ()
    incidents: Incidents = NO_INCIDENTS
