import json

import pytest
from intake_samples import NOW

from doseflow.domain.orders import ReceiptStatus
from doseflow.errors import ReceiptRefused
from doseflow.intake.receipt_body import read_receipt


def body(**changes) -> bytes:
    document = {"status": "acknowledged", "at": "2026-05-04T08:00:00Z", "receipt_id": "r1"} | changes
    return json.dumps({name: value for name, value in document.items() if value is not ...}).encode()


def test_a_receipt_is_read():
    receipt = read_receipt(body(status="refused", reason="fridge is broken"), NOW)
    assert (receipt.status, receipt.reason, receipt.receipt_id) == (ReceiptStatus.REFUSED, "fridge is broken", "r1")
    assert read_receipt(b"\xef\xbb\xbf" + body(receipt_id=...), NOW).receipt_id is None


@pytest.mark.parametrize(
    ("raw", "field", "reason"),
    [
        (body(status=...), "status", "must be given"),
        (
            body(status="maybe"),
            "status",
            "must be one of 'acknowledged', 'under_way', 'done' or 'refused', got \"maybe\"",
        ),
        (body(status="refused"), "reason", "must be given when the status is refused"),
        (body(status="refused", reason=" "), "reason", "must be given when the status is refused"),
        (body(at="2026-05-04T08:11:00Z"), "at", "must be at most 10 minutes ahead of 2026-05-04T08:00:20+00:00"),
        (body(at="0001-01-01T00:00:00+14:00"), "at", "must be at most 30 days before"),
        (body(at="2026-05-04T08:00:00"), "at", "must be a moment with its offset from UTC"),
        (body(reason="x" * 1001), "reason", "must have at most 1000 characters"),
        (body(stauts="done"), "stauts", "is not a field that is known here"),
        (b"[]", "receipt", "must be an object, got []"),
        (b"{", "body", "must be JSON, broken at byte 1"),
        (b"\xff", "body", "must be UTF-8, broken at byte 0"),
        (b" " * 70_000, "body", "must have at most 65536 bytes, got 70000"),
    ],
)
def test_a_bad_receipt_is_refused_with_its_field(raw, field, reason):
    with pytest.raises(ReceiptRefused) as caught:
        read_receipt(raw, NOW)
    assert caught.value.field == field
    assert caught.value.reason.startswith(reason)
