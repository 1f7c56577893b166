"""Hands out what waits in the outbox: at least once, in order for a site, many sites at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import structlog

from doseflow.errors import GatewayFailed
from doseflow.ports import Clock, Gateway, Outbox, OutboxEntry

log = structlog.get_logger(__name__)

MARK_SECONDS = 0.2
"""Deliveries are noted together this often, while slow sites are still being tried."""


@dataclass(frozen=True, slots=True)
class RelayParams:
    """
    How hard to try.

    The first retry comes after `first_retry_seconds`, each later one after twice the time, up to `max_retry_seconds`;
    after `max_attempts` failures an entry goes to the dead letters. `concurrency` is the number of sites told at once.
    """

    first_retry_seconds: float = 5.0
    max_retry_seconds: float = 300.0
    max_attempts: int = 10
    concurrency: int = 16
    max_entries: int = 500
    """Entries taken from the outbox at once."""

    def __post_init__(self) -> None:
        if not 0.1 <= self.first_retry_seconds <= 3600:
            raise ValueError(f"first_retry_seconds: must lie in 0.1..3600, got {self.first_retry_seconds}")
        if not self.first_retry_seconds <= self.max_retry_seconds <= 86_400:
            raise ValueError(f"max_retry_seconds: must lie in first_retry_seconds..86400, got {self.max_retry_seconds}")
        for name, high in (("max_attempts", 100), ("concurrency", 256), ("max_entries", 10_000)):
            if not 1 <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in 1..{high}, got {getattr(self, name)}")

    def retry_at(self, failed_attempts: int, now: datetime) -> datetime | None:
        """When to try again after so many failures, at least 1; None when no more."""
        if failed_attempts >= self.max_attempts:
            return None
        seconds = min(self.first_retry_seconds * 2.0 ** (failed_attempts - 1), self.max_retry_seconds)
        return now + timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class RelayResult:
    """What one round did: entries delivered, failed and to be retried, failed for good."""

    delivered: int = 0
    failed: int = 0
    dead: int = 0

    def __add__(self, other: RelayResult) -> RelayResult:
        return RelayResult(self.delivered + other.delivered, self.failed + other.failed, self.dead + other.dead)


@dataclass(frozen=True, slots=True)
class _SiteOutcome:
    """What was told to one site before the first failure, and that failure."""

    delivered: list[int]
    failed: OutboxEntry | None = None
    reason: str = ""


async def relay_once(outbox: Outbox, gateways: Sequence[Gateway], clock: Clock, params: RelayParams) -> RelayResult:
    """
    Tell every due entry to every gateway, once each.

    An entry counts as delivered when all gateways took it; when one fails, all are told again later. The site's later
    entries wait until then. The round may be cut off anywhere: what was not noted is told again.

    Raises
    ------
    StoreUnavailable
    """
    entries = await asyncio.to_thread(outbox.due, clock.now(), params.max_entries)
    free = asyncio.Semaphore(params.concurrency)
    by_site = groupby(sorted(entries, key=lambda entry: entry.order.site_id), key=lambda entry: entry.order.site_id)
    waiting = {asyncio.create_task(_tell_site(list(group), gateways, free)) for _, group in by_site}
    result = RelayResult()
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=MARK_SECONDS)
            result += await asyncio.to_thread(_note, outbox, [task.result() for task in done], clock.now(), params)
    finally:
        for task in waiting:
            task.cancel()
    return result


async def _tell_site(
    entries: Iterable[OutboxEntry], gateways: Sequence[Gateway], free: asyncio.Semaphore
) -> _SiteOutcome:
    delivered: list[int] = []
    async with free:
        for entry in entries:
            reason = await _tell(entry, gateways)
            if reason is not None:
                return _SiteOutcome(delivered, entry, reason)
            delivered.append(entry.entry_id)
    return _SiteOutcome(delivered)


async def _tell(entry: OutboxEntry, gateways: Sequence[Gateway]) -> str | None:
    """Why the first gateway that failed did so, or None."""
    for gateway in gateways:
        try:
            await gateway.deliver(entry)
        except GatewayFailed as error:
            return f"{gateway.name}: {error}"
        except Exception as error:  # a defect of one gateway must not keep other sites from their orders
            log.exception("gateway_defect", gateway=gateway.name, order_id=entry.order.order_id)
            return f"{gateway.name}: {type(error).__name__}: {error}"
    return None


def _note(outbox: Outbox, outcomes: Sequence[_SiteOutcome], now: datetime, params: RelayParams) -> RelayResult:
    delivered = [entry_id for outcome in outcomes for entry_id in outcome.delivered]
    outbox.mark_delivered(delivered, now)
    failed = dead = 0
    for outcome in outcomes:
        if outcome.failed is None:
            continue
        retry_at = params.retry_at(outcome.failed.attempts + 1, now)
        outbox.mark_failed(outcome.failed.entry_id, now, outcome.reason, retry_at)
        failed += retry_at is not None
        dead += retry_at is None
        log.warning(
            "delivery_failed",
            order_id=outcome.failed.order.order_id,
            site_id=outcome.failed.order.site_id,
            reason=outcome.reason,
            retry_at=retry_at and retry_at.isoformat(),
        )
    return RelayResult(len(delivered), failed, dead)
