"""Hands out what waits in the outbox: at least once, in order for a site, each gateway for itself."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import structlog

from doseflow.dispatch.gateway_line import Failure, Fault, GatewayLine
from doseflow.ports import Clock, Outbox, OutboxEntry

log = structlog.get_logger(__name__)

MARK_SECONDS = 0.2
"""Deliveries are noted together this often, while slow sites are still being tried."""
MAX_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class RelayParams:
    """
    How hard to try.

    The first retry comes after `first_retry_seconds`, each later one after twice the time, up to `max_retry_seconds`,
    each longer or shorter by up to `jitter_share`. A gateway that fails `failures_to_open` times in a row is left alone
    for `cool_down_seconds`, again and again, and nothing of it becomes a dead letter by that; an entry does that failed
    `max_attempts` times while others got through. `concurrency` is the number of sites told at once by a gateway.
    """

    first_retry_seconds: float = 5.0
    max_retry_seconds: float = 300.0
    jitter_share: float = 0.2
    max_attempts: int = 10
    failures_to_open: int = 5
    cool_down_seconds: float = 30.0
    concurrency: int = 16
    max_entries: int = 500
    """Entries taken from the outbox at once."""
    round_seconds: float = 10.0
    """What was read longer ago is read again before it is told: its order may have been withdrawn."""

    def __post_init__(self) -> None:
        if not 0.1 <= self.first_retry_seconds <= 3600:
            raise ValueError(f"first_retry_seconds: must lie in 0.1..3600, got {self.first_retry_seconds}")
        if not self.first_retry_seconds <= self.max_retry_seconds <= 86_400:
            raise ValueError(f"max_retry_seconds: must lie in first_retry_seconds..86400, got {self.max_retry_seconds}")
        bounds = {
            "jitter_share": (0, 1),
            "max_attempts": (1, 100),
            "failures_to_open": (1, 1000),
            "cool_down_seconds": (0, 86_400),
            "concurrency": (1, 256),
            "max_entries": (1, 10_000),
            "round_seconds": (0.1, 600),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")

    def retry_at(self, failed_attempts: int, now: datetime, draw: Callable[[], float] = random.random) -> datetime:
        """When to try again after so many failures, at least 1; `draw` gives a number in 0..1."""
        doublings = min(failed_attempts - 1, MAX_DOUBLINGS)
        seconds = min(self.first_retry_seconds * 2.0**doublings, self.max_retry_seconds)
        return now + timedelta(seconds=seconds * (1 + self.jitter_share * (2 * draw() - 1)))


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
    """What was told to one site before the first failure, what is not for this gateway, and that failure."""

    delivered: Sequence[int] = ()
    not_reached: Sequence[int] = ()
    failed: OutboxEntry | None = None
    failure: Failure | None = None


async def relay_once(outbox: Outbox, lines: Sequence[GatewayLine], clock: Clock, params: RelayParams) -> RelayResult:
    """
    Tell every due entry to its gateway, once each; the gateways side by side.

    Raises
    ------
    StoreUnavailable
    """
    results = await asyncio.gather(*(relay_line(outbox, line, clock, params) for line in lines))
    return sum(results, RelayResult())


async def relay_line(outbox: Outbox, line: GatewayLine, clock: Clock, params: RelayParams) -> RelayResult:
    """
    Tell every due entry of one gateway, once each.

    When an entry fails the site's later ones wait until it is told. The round may be cut off anywhere: what was not
    noted is told again.

    Raises
    ------
    StoreUnavailable
    """
    if line.rests:
        return RelayResult()
    stop_at = clock.monotonic_seconds() + params.round_seconds
    entries = await asyncio.to_thread(outbox.due, clock.now(), params.max_entries, line.name)
    free = asyncio.Semaphore(params.concurrency)

    async def tell(site_id: str, entries: Sequence[OutboxEntry]) -> _SiteOutcome:
        async with free:
            if clock.monotonic_seconds() > stop_at:
                return _SiteOutcome()
            return await _tell_site(site_id, entries, line)

    waiting = {asyncio.create_task(tell(site_id, group)) for site_id, group in _by_site(entries)}
    result = RelayResult()
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=MARK_SECONDS)
            outcomes = [task.result() for task in done]
            result += await asyncio.to_thread(_note, outbox, line, outcomes, clock.now(), params)
    finally:
        for task in waiting:
            task.cancel()
    return result


def _by_site(entries: Sequence[OutboxEntry]) -> Iterator[tuple[str, Sequence[OutboxEntry]]]:
    """The entries by site; sites in any order, so that one that always fails is not always what is tried first."""

    def site_of(entry: OutboxEntry) -> str:
        return entry.order.site_id

    groups = [(site_id, tuple(group)) for site_id, group in groupby(sorted(entries, key=site_of), key=site_of)]
    random.shuffle(groups)
    yield from groups


async def _tell_site(site_id: str, entries: Sequence[OutboxEntry], line: GatewayLine) -> _SiteOutcome:
    if not await asyncio.to_thread(line.gateway.reaches, site_id):
        return _SiteOutcome(not_reached=[entry.entry_id for entry in entries])
    delivered: list[int] = []
    for start in range(0, len(entries), line.gateway.group_size):
        group = entries[start : start + line.gateway.group_size]
        failure = await line.tell(group)
        if failure is not None:
            return _SiteOutcome(delivered, (), group[0], failure)
        delivered += [entry.entry_id for entry in group]
    return _SiteOutcome(delivered)


def _note(
    outbox: Outbox, line: GatewayLine, outcomes: Sequence[_SiteOutcome], now: datetime, params: RelayParams
) -> RelayResult:
    delivered = [entry_id for outcome in outcomes for entry_id in outcome.delivered]
    outbox.mark_delivered(delivered, now)
    outbox.drop([entry_id for outcome in outcomes for entry_id in outcome.not_reached])
    result = RelayResult(len(delivered))
    for outcome in outcomes:
        if outcome.failed is not None and outcome.failure is not None:
            result += _note_failure(outbox, line, outcome.failed, outcome.failure, now, params)
    return result


def _note_failure(
    outbox: Outbox, line: GatewayLine, entry: OutboxEntry, failure: Failure, now: datetime, params: RelayParams
) -> RelayResult:
    if failure.fault is Fault.NOBODY:
        return RelayResult()
    is_dead = failure.fault is Fault.REFUSED or line.num_faults(entry.entry_id) >= params.max_attempts
    retry_at = None if is_dead else _retry_at(entry, failure, now, params)
    outbox.mark_failed(entry.entry_id, now, failure.reason, retry_at)
    log.warning(
        "delivery_failed",
        gateway=line.name,
        order_id=entry.order.order_id,
        site_id=entry.order.site_id,
        reason=failure.reason,
        retry_at=retry_at and retry_at.isoformat(),
    )
    return RelayResult(failed=int(not is_dead), dead=int(is_dead))


def _retry_at(entry: OutboxEntry, failure: Failure, now: datetime, params: RelayParams) -> datetime:
    own = params.retry_at(entry.attempts + 1, now)
    if failure.retry_after_seconds is None:
        return own
    return max(own, now + timedelta(seconds=min(failure.retry_after_seconds, params.max_retry_seconds)))
