"""
A FHIR R4 Task that comes back (hl7.org/fhir/R4/task.html) as what a site says of an order.

It can tell that an order is accepted, under way, done or refused, and why (`statusReason`). It cannot tell a refusal in
part. Traps: a peer may send the Task without `lastModified`, without `meta`, or with a status of its own; a status that
nobody knows is handed on as it is, for people to see, and moves nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from doseflow.domain.orders import OrderReceipt, ReceiptStatus
from doseflow.errors import ReceiptRefused
from doseflow.intake.receipt_body import MAX_AGE_DAYS, MAX_FUTURE_MINUTES

TASK_STATUS_SYSTEM = "http://hl7.org/fhir/task-status"
STATUS_TO_RECEIPT = {
    "received": ReceiptStatus.ACKNOWLEDGED,
    "accepted": ReceiptStatus.ACKNOWLEDGED,
    "ready": ReceiptStatus.ACKNOWLEDGED,
    "in-progress": ReceiptStatus.UNDER_WAY,
    "completed": ReceiptStatus.DONE,
    "rejected": ReceiptStatus.REFUSED,
    "failed": ReceiptStatus.REFUSED,
    "cancelled": ReceiptStatus.REFUSED,
    "entered-in-error": ReceiptStatus.REFUSED,
}
SAYS_NOTHING = frozenset({"draft", "requested", "on-hold"})
MAX_REASON_LETTERS = 1000
MAX_ID_LETTERS = 100


@dataclass(frozen=True, slots=True)
class TaskTold:
    """
    What a Task says: of which order, and its receipt.

    `receipt` is None where the status says nothing new; `unknown_status` is a status that R4 does not have.
    """

    order_id: str
    receipt: OrderReceipt | None
    unknown_status: str = ""


def read_task(task: Any, system: str, now: datetime) -> TaskTold:
    """
    Read a Task.

    Parameters
    ----------
    system
        The system of order ids as identifiers.

    Raises
    ------
    ReceiptRefused
        It is not a Task, or not one of an order of ours.
    """
    if not isinstance(task, dict) or task.get("resourceType") != "Task":
        raise ReceiptRefused("resourceType", "must be Task")
    order_id = _order_id(task, system)
    status = task.get("status")
    if not isinstance(status, str) or not status.strip():
        raise ReceiptRefused("status", "must be a code of Task.status")
    status = status.strip()
    if status in SAYS_NOTHING:
        return TaskTold(order_id, None)
    if status not in STATUS_TO_RECEIPT:
        return TaskTold(order_id, None, status[:MAX_ID_LETTERS])
    receipt_status = STATUS_TO_RECEIPT[status]
    reason = _reason(task)
    if receipt_status is ReceiptStatus.REFUSED and not reason:
        reason = f"the task is {status}; no reason was given"
    receipt = OrderReceipt(receipt_status, _at(task, now), _receipt_id(task, status, reason), reason)
    return TaskTold(order_id, receipt)


def _order_id(task: dict[str, Any], system: str) -> str:
    for identifier in _list(task.get("identifier")):
        if isinstance(identifier, dict) and identifier.get("system") == system:
            value = identifier.get("value")
            if isinstance(value, str) and 0 < len(value) <= MAX_ID_LETTERS:
                return value
    raise ReceiptRefused("identifier", f"must hold one of the system {system}, whose value is the id of an order")


def _reason(task: dict[str, Any]) -> str:
    """The text of `statusReason`, or of its codings."""
    concept = task.get("statusReason")
    if not isinstance(concept, dict):
        return ""
    codings = [one for one in _list(concept.get("coding")) if isinstance(one, dict)]
    said = [concept.get("text"), *(one.get("display") or one.get("code") for one in codings)]
    return next((text.strip() for text in said if isinstance(text, str) and text.strip()), "")[:MAX_REASON_LETTERS]


def _receipt_id(task: dict[str, Any], status: str, reason: str) -> str:
    """The same however often, and on whichever way, this version of the Task comes."""
    meta = task.get("meta")
    version = meta.get("versionId") if isinstance(meta, dict) else None
    mark = version if isinstance(version, str) else task.get("lastModified")
    content = "\n".join((str(task.get("id", "")), str(mark), status, reason))
    return f"fhir:{status}:{hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _at(task: dict[str, Any], now: datetime) -> datetime:
    meta = task.get("meta")
    said = (task.get("lastModified"), meta.get("lastUpdated") if isinstance(meta, dict) else None)
    moments = [moment for text in said if (moment := moment_of(text)) is not None]
    earliest, latest = now - timedelta(days=MAX_AGE_DAYS), now + timedelta(minutes=MAX_FUTURE_MINUTES)
    return next((moment for moment in moments if earliest <= moment <= latest), now)


def moment_of(text: Any) -> datetime | None:
    """A FHIR instant or dateTime with a time, aware; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
