"""The difference between a plan and the orders that stand: what must be ordered, and what must be withdrawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from doseflow.dispatch.due_times import due_at
from doseflow.domain.decisions import Decision, acting_site_id, expecting_site_id
from doseflow.domain.orders import FINAL_STATES, NEXT_STATES, Order, OrderState
from doseflow.domain.plan import Plan, PlannedDecision, RepairPath

OPEN_STATES: tuple[OrderState, ...] = tuple(state for state in OrderState if state not in FINAL_STATES)
"""States of orders that stand: a plan is compared with these."""

Identity = tuple[tuple[str, ...], float]
"""Key and quantity of a decision: what it and the order for it are matched by."""

_ID_BYTES = 8


def orders_from_difference(
    plan: Plan, open_orders: Sequence[Order], cycle_id: str
) -> tuple[tuple[Order, ...], tuple[str, ...]]:
    """
    New orders, and the ids of orders to withdraw.

    A decision that an open order already asks for, in the same quantity, needs no new one. An order that no site has
    answered and that the plan no longer holds so is withdrawn; one that a site has promised or begun never is. A plan
    that holds everything withdraws nothing.
    """
    standing = [(_identity(order.decision), order) for order in open_orders if order.state in OPEN_STATES]
    planned = {_identity(planned.decision): planned for planned in plan.decisions}
    new = planned.keys() - {identity for identity, _ in standing}
    orders = tuple(_order(identity, one, plan, cycle_id) for identity, one in planned.items() if identity in new)
    if plan.repair_path is RepairPath.HELD:
        return orders, ()
    withdrawn = tuple(
        order.order_id
        for identity, order in standing
        if identity not in planned and OrderState.WITHDRAWN in NEXT_STATES[order.state]
    )
    return orders, withdrawn


def order_id(cycle_id: str, identity: Identity) -> str:
    """
    Id of the order for a decision of a cycle: the same wherever and however often it is made.

    The cycle leads it, so that ids grow with time and a database writes neighbours next to each other.
    """
    key, quantity = identity
    parts = (*key, repr(quantity))
    # Lengths keep apart what joined text would confuse.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return f"{cycle_id}-{hashlib.blake2b(text.encode(), digest_size=_ID_BYTES).hexdigest()}"


def _identity(decision: Decision) -> Identity:
    return decision.key, float(decision.quantity)


def _order(identity: Identity, planned: PlannedDecision, plan: Plan, cycle_id: str) -> Order:
    decision = planned.decision
    return Order(
        order_id=order_id(cycle_id, identity),
        cycle_id=cycle_id,
        site_id=acting_site_id(decision),
        expecting_site_id=expecting_site_id(decision),
        decision=decision,
        reason_en=planned.reason_en,
        reason_zh=planned.reason_zh,
        state=OrderState.PROPOSED,
        created_at=plan.as_of,
        due_at=due_at(decision, plan.as_of),
    )
