"""A receipt that names its order itself, since no address of a door does: one JSON object, as MQTT brings it."""

from __future__ import annotations

from datetime import datetime

import orjson

from doseflow.domain.orders import OrderReceipt
from doseflow.errors import ReceiptRefused
from doseflow.intake.json_text import BYTE_ORDER_MARK, parse_json
from doseflow.intake.receipt_body import MAX_RECEIPT_BYTES, read_receipt

MAX_ORDER_ID_LETTERS = 100


def read_addressed_receipt(body: bytes, now: datetime) -> tuple[str, OrderReceipt]:
    """
    The id of the order, and the receipt: the fields of a receipt with `order_id` beside them.

    Raises
    ------
    ReceiptRefused
    """
    if len(body) > MAX_RECEIPT_BYTES:
        raise ReceiptRefused("body", f"must have at most {MAX_RECEIPT_BYTES} bytes, got {len(body)}")
    try:
        value = parse_json(body.removeprefix(BYTE_ORDER_MARK))
    except ValueError as error:
        raise ReceiptRefused("body", str(error)) from error
    order_id = value.pop("order_id", None) if isinstance(value, dict) else None
    if not isinstance(order_id, str) or not 0 < len(order_id) <= MAX_ORDER_ID_LETTERS:
        raise ReceiptRefused("order_id", f"must be the id of an order, of 1..{MAX_ORDER_ID_LETTERS} letters")
    try:
        return order_id, read_receipt(orjson.dumps(value), now)
    except orjson.JSONEncodeError as error:
        raise ReceiptRefused("body", str(error)) from error
