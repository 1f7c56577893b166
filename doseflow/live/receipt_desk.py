"""Takes receipts that come by other ways than our own door: a late or repeated one moves nothing, and is no error."""

from __future__ import annotations

import structlog

from doseflow.domain.orders import OrderReceipt
from doseflow.errors import OrderNotFound, ReceiptRefused
from doseflow.live.live_city import LiveCity

log = structlog.get_logger(__name__)


class ReceiptDesk:
    """Applies receipts to the orders of a living city."""

    def __init__(self, live: LiveCity) -> None:
        self._live = live

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
        self._live.sources.book.note_unknown(source, system, code, text, self._live.clock.now())

    def mark(self, source: str, ok: bool, text: str = "") -> None:
        """Note that the source was heard, or that it failed and why."""
        self._live.sources.book.mark(source, self._live.clock.now(), ok, text)
