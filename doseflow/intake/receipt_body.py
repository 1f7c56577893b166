"""A receipt as it came over the wire: what a site says of an order."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from doseflow.domain.orders import OrderReceipt, ReceiptStatus
from doseflow.errors import ReceiptRefused
from doseflow.intake.json_text import BYTE_ORDER_MARK, parse_json
from doseflow.intake.refusal_sentences import first_problem

MAX_RECEIPT_BYTES = 65_536
MAX_FUTURE_MINUTES = 10.0
"""A site's clock may run ahead this far."""
MAX_AGE_DAYS = 30.0
"""No order lives this long."""

_RECEIPT = TypeAdapter(OrderReceipt)


def read_receipt(body: bytes, now: datetime) -> OrderReceipt:
    """
    Read a receipt.

    Parameters
    ----------
    now
        The moment of receipt, aware.

    Raises
    ------
    ReceiptRefused
        The body is not a receipt, a refusal gives no reason, or `at` lies in the future or too far back.
    """
    if len(body) > MAX_RECEIPT_BYTES:
        raise ReceiptRefused("body", f"must have at most {MAX_RECEIPT_BYTES} bytes, got {len(body)}")
    try:
        parse_json(body)
        receipt = _RECEIPT.validate_json(body.removeprefix(BYTE_ORDER_MARK))
    except ValidationError as error:
        raise ReceiptRefused(*first_problem(error, "receipt")) from error
    except ValueError as error:
        raise ReceiptRefused("body", str(error)) from error
    if receipt.status is ReceiptStatus.REFUSED and not receipt.reason.strip():
        raise ReceiptRefused("reason", "must be given when the status is refused")
    _check_at(receipt.at, now)
    return receipt


def _check_at(at: datetime, now: datetime) -> None:
    age = now - at
    shown_now, shown_at = now.isoformat(timespec="seconds"), at.isoformat(timespec="seconds")
    if age < timedelta(minutes=-MAX_FUTURE_MINUTES):
        raise ReceiptRefused(
            "at", f"must be at most {MAX_FUTURE_MINUTES:g} minutes ahead of {shown_now}, got {shown_at}"
        )
    if age > timedelta(days=MAX_AGE_DAYS):
        raise ReceiptRefused("at", f"must be at most {MAX_AGE_DAYS:g} days before {shown_now}, got {shown_at}")
