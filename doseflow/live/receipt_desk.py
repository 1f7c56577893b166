"""Takes receipts that come by other ways than our own door: a late or repeated one moves nothing, and is no error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog

from doseflow.domain.orders import OrderReceipt
from doseflow.errors import OrderNotFound, ReceiptRefused
from doseflow.live.live_city import LiveCity

NoteUnknown = Callable[[str, str, str, str, datetime], None]
"""Keeps a code that nobody knows: source, system, code, text, moment."""
Mark = Callable[[str, datetime, bool, str], None]
"""Notes that a source was heard, or why not: source, moment, whether, why."""
log = structlog.get_logger(__name__)


def log_unknown(source: str, system: str, code: str, text: str, at: datetime) -> None:
    """Say it in the log, where nothing else keeps it."""
    log.warning("unknown_code", source=source, system=system, code=code, text=text, at=at.isoformat())


def log_mark(source: str, at: datetime, ok: bool, text: str) -> None:
    """Say it in the log, where nothing else keeps it."""
    log.debug("source_heard" if ok else "source_failed", source=source, at=at.isoformat(), text=text)


class ReceiptDesk:
    """Applies receipts to the orders of a living city."""

    def __init__(self, live: LiveCity, note_unknown: NoteUnknown = log_unknown, mark: Mark = log_mark) -> None:
        self._live = live
        self._note_unknown = note_unknown
        self._mark = mark

    def take(self, source: str, order_id: str, receipt: OrderReceipt, site_id: str | None = None) -> None:
        """Apply a receipt; `site_id` is the site that it must be of, where the way it came on tells."""
        try:
            if site_id is not None and self._live.plans.order(order_id).site_id != site_id:
                raise ReceiptRefused("order_id", f"must be of an order to {site_id}")
            self._live.record_receipt(order_id, receipt)
        except (OrderNotFound, ReceiptRefused) as error:
            log.info(
                "receipt_moves_nothing", source=source, order_id=order_id, status=receipt.status, reason=str(error)
            )

    def note_unknown(self, source: str, system: str, code: str, text: str) -> None:
        """Keep a code that nobody knows."""
        self._note_unknown(source, system, code, text, self._live.clock.now())

    def mark(self, source: str, ok: bool, text: str = "") -> None:
        """Note that the source was heard, or that it failed and why."""
        self._mark(source, self._live.clock.now(), ok, text)
