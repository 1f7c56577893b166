"""
An order as FHIR R4 (hl7.org/fhir/R4): a Task, and for doses what its focus is.

- Doses carried to another site: focus is a SupplyRequest (8.21). Doses moved between fridges of one site, or taken out
  of use: focus is a SupplyDelivery (8.22), since nobody requests them from anywhere. Anything else has no focus.
- What is to be done stands in `Task.code`, `Task.description` and, field by field, in `Task.input`.
- `Task.owner` may not be a Location in R4: the site is the owner as an Organization, and `Task.location` as a Location,
  both by identifier, so that the peer needs to know no id of ours.
- What Task cannot tell: the figures behind a reason; they stay in doseflow.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from doseflow.domain.decisions import DoseTransfer, FridgeMove, MarkUnusable
from doseflow.domain.orders import Order, OrderState

Resource = dict[str, Any]

STATE_TO_TASK_STATUS = {
    OrderState.ACKNOWLEDGED: "accepted",
    OrderState.UNDER_WAY: "in-progress",
    OrderState.DONE: "completed",
    OrderState.REFUSED: "rejected",
    OrderState.EXPIRED: "failed",
    OrderState.WITHDRAWN: "cancelled",
}
"""Task.status of the states of an order; of any other it is `requested`."""
WITHDRAWN_REASON = "withdrawn by a later plan"
EXPIRED_REASON = "not answered before it was due"
_STATE_TO_SUPPLY_STATUS = {"cancelled": "cancelled", "rejected": "cancelled", "failed": "cancelled"}
_STATE_TO_DELIVERY_STATUS = {"cancelled": "abandoned", "rejected": "abandoned", "failed": "abandoned"}


def order_system(base: str) -> str:
    """The system of order ids as identifiers."""
    return f"{base}/order-id"


def task_of(order: Order, base: str, now: datetime, focus: Resource | None = None) -> Resource:
    """
    The Task of an order.

    Parameters
    ----------
    base
        What the systems of codes and identifiers begin with, a URI without a slash at its end.
    focus
        A Reference to the resource that `focus_of` gives, where it gives one.
    """
    status = STATE_TO_TASK_STATUS.get(order.state, "requested")
    task: Resource = {
        "resourceType": "Task",
        "identifier": [{"system": order_system(base), "value": order.order_id}],
        "groupIdentifier": {"system": f"{base}/cycle-id", "value": order.cycle_id},
        "status": status,
        "intent": "order",
        "priority": "routine",
        "code": {"coding": [{"system": f"{base}/order-kind", "code": order.decision.kind.value}]},
        "description": order.reason_en,
        "authoredOn": _instant(order.created_at),
        "lastModified": _instant(now),
        "requester": {"display": "doseflow"},
        "owner": _site(order.site_id, "Organization", base),
        "location": _site(order.site_id, "Location", base),
        "restriction": {"period": {"start": _instant(order.created_at), "end": _instant(order.due_at)}},
        "input": _inputs(order),
    }
    if focus is not None:
        task["focus"] = focus
    reason = _status_reason(order)
    if reason:
        task["statusReason"] = {"text": reason}
    return {name: value for name, value in task.items() if value not in ("", [])}


def focus_of(order: Order, base: str) -> Resource | None:
    """The SupplyRequest or SupplyDelivery that an order for doses is about; None for any other order."""
    decision = order.decision
    status = STATE_TO_TASK_STATUS.get(order.state, "requested")
    if isinstance(decision, DoseTransfer):
        return _supply_request(order, decision, status, base)
    if isinstance(decision, FridgeMove | MarkUnusable):
        return _supply_delivery(order, decision, status, base)
    return None


def _supply_request(order: Order, decision: DoseTransfer, status: str, base: str) -> Resource:
    done = "completed" if status == "completed" else "active"
    return {
        "resourceType": "SupplyRequest",
        "identifier": [{"system": order_system(base), "value": order.order_id}],
        "status": _STATE_TO_SUPPLY_STATUS.get(status, done),
        "itemCodeableConcept": _product(decision.product_id, decision.lot_number, base),
        "quantity": _doses(decision.doses),
        "occurrencePeriod": {"start": _instant(order.created_at), "end": _instant(order.due_at)},
        "authoredOn": _instant(order.created_at),
        "deliverFrom": _site(decision.from_site_id, "Location", base),
        "deliverTo": _site(decision.to_site_id, "Location", base),
    }


def _supply_delivery(order: Order, decision: FridgeMove | MarkUnusable, status: str, base: str) -> Resource:
    done = "completed" if status == "completed" else "in-progress"
    to_fridge = decision.to_fridge_id if isinstance(decision, FridgeMove) else "waste"
    place = f"{decision.site_id}/{to_fridge}"
    return {
        "resourceType": "SupplyDelivery",
        "identifier": [{"system": order_system(base), "value": order.order_id}],
        "status": _STATE_TO_DELIVERY_STATUS.get(status, done),
        "suppliedItem": {
            "quantity": _doses(decision.doses),
            "itemCodeableConcept": _product(decision.product_id, decision.lot_number, base),
        },
        "occurrencePeriod": {"start": _instant(order.created_at), "end": _instant(order.due_at)},
        "destination": {"type": "Location", "identifier": {"system": f"{base}/fridge-id", "value": place}},
    }


def _inputs(order: Order) -> list[Resource]:
    decision = order.decision
    names = [one.name for one in fields(decision) if one.name not in {"why", "kind"}]
    return [{"type": {"text": name}, **_value(getattr(decision, name))} for name in names]


def _value(value: Any) -> Resource:
    if isinstance(value, datetime):
        return {"valueDateTime": _instant(value)}
    if isinstance(value, int):
        return {"valueInteger": value}
    if isinstance(value, float):
        return {"valueDecimal": value}
    return {"valueString": str(value)}


def _status_reason(order: Order) -> str:
    if order.state is OrderState.WITHDRAWN:
        return WITHDRAWN_REASON
    if order.state is OrderState.EXPIRED:
        return EXPIRED_REASON
    return order.refusal_reason


def _site(site_id: str, kind: str, base: str) -> Resource:
    return {"type": kind, "identifier": {"system": f"{base}/site-id", "value": site_id}}


def _product(product_id: str, lot_number: str, base: str) -> Resource:
    return {
        "coding": [{"system": f"{base}/product-id", "code": product_id}],
        "text": f"{product_id}, lot {lot_number}",
    }


def _doses(doses: int) -> Resource:
    return {"value": doses, "unit": "doses", "system": "http://unitsofmeasure.org", "code": "{dose}"}


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
