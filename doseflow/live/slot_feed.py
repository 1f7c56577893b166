"""SlotFeed: a publisher's free slots taken into the appointment book, poll after poll."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from doseflow.domain.appointment import SlotNotice, SourceMessage
from doseflow.errors import GatewayFailed, MessageRefused
from doseflow.gateways.slot_publisher import PollOutcome, SlotFeedParams, SlotPublisher
from doseflow.intake.smart_feed import FeedCatalogue
from doseflow.live.appointment_desk import AppointmentDesk

MAX_REFUSALS_KEPT = 5
"""Lines of one poll that go to quarantine; the rest is counted."""
log = structlog.get_logger(__name__)


class SlotFeed:
    """One publisher, its places as known so far, and the desk that its slots go to."""

    def __init__(self, publisher: SlotPublisher, desk: AppointmentDesk) -> None:
        self.source = f"slots:{publisher.host}"[:100]
        self._publisher = publisher
        self._desk = desk
        self._catalogue = FeedCatalogue()
        self._refused = 0

    async def poll(self) -> PollOutcome:
        """
        Read what has changed into the book.

        Raises
        ------
        GatewayFailed, StoreUnavailable, EnvironmentUnfit
        """
        self._refused = 0
        try:
            outcome = await self._publisher.poll(self.take)
        except GatewayFailed as error:
            await self._tell_failed(str(error))
            raise
        for sentence in outcome.failures:
            await self._tell_failed(sentence)
        if not outcome.failures:
            await asyncio.to_thread(self._desk.mark, self.source, ok=True)
        log.info(
            "slots_polled",
            source=self.source,
            files=outcome.read,
            unchanged=outcome.unchanged,
            failures=len(outcome.failures),
            refused_lines=self._refused,
        )
        return outcome

    async def _tell_failed(self, sentence: str) -> None:
        log.warning("slots_not_polled", source=self.source, reason=sentence)
        await asyncio.to_thread(self._desk.mark, self.source, ok=False, text=sentence)

    def take(self, kind: str, lines: Sequence[bytes]) -> None:
        """Take some lines of a file."""
        slots: list[SlotNotice] = []
        for line in lines:
            try:
                slot = self._catalogue.read_line(kind, line)
            except MessageRefused as error:
                self._refuse(error, len(line))
                continue
            if slot is not None:
                slots.append(slot)
        if slots:
            self._desk.take(SourceMessage(self.source, slots=tuple(slots)))

    def _refuse(self, error: MessageRefused, num_bytes: int) -> None:
        self._refused += 1
        if self._refused <= MAX_REFUSALS_KEPT:
            self._desk.refuse(error.field, f"{error.reason} ({self.source})", b"", num_bytes)


async def poll_slots(feed: SlotFeed, params: SlotFeedParams, stop: asyncio.Event) -> None:
    """Poll until `stop` is set; a publisher that fails is asked less and less often, and never stops the service."""
    failures = 0
    while True:
        wait_seconds = params.poll_seconds
        try:
            outcome = await feed.poll()
            failures = failures + 1 if outcome.failures else 0
        except GatewayFailed as error:
            failures += 1
            wait_seconds = max(wait_seconds, error.retry_after_seconds or 0.0)
        except Exception:  # the boundary of the poller: the service goes on
            failures += 1
            log.exception("slots_poll_failed", source=feed.source)
        wait_seconds = backed_off(wait_seconds, failures, params)
        try:
            await asyncio.wait_for(stop.wait(), timeout=wait_seconds)
        except TimeoutError:
            continue
        return


def backed_off(wait_seconds: float, failures: int, params: SlotFeedParams) -> float:
    """How long to wait after so many failures one after another: twice as long each time, up to the longest."""
    longest = max(params.max_wait_seconds, params.poll_seconds)
    return float(min(longest, wait_seconds * 2.0 ** min(failures, 30)))
