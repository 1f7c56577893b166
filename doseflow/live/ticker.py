"""The beat of a serving city: a cycle on each five-minute mark of its clock, orders handed out in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import structlog

from doseflow.dispatch.gateway_line import GatewayLine
from doseflow.dispatch.relay import RelayParams, relay_line
from doseflow.domain.cycle import Cycle
from doseflow.domain.feature_classes import ReadingSource
from doseflow.live.live_city import LiveCity
from doseflow.telemetry.cycle_line import cycle_line

RETENTION_SECONDS = 3600.0
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TickParams:
    """When cycles run and orders are handed out."""

    period_seconds: float = 300.0
    """Time between two cycles."""
    grace_seconds: float = 20.0
    """Time after each mark that leaves the reports of that mark to arrive."""
    relay_seconds: float = 1.0
    """Time between two looks into the outbox."""

    def __post_init__(self) -> None:
        if not 1 <= self.period_seconds <= 3600:
            raise ValueError(f"period_seconds: must lie in 1..3600, got {self.period_seconds}")
        if not 0 <= self.grace_seconds < self.period_seconds:
            raise ValueError(f"grace_seconds: must lie in 0..period_seconds, got {self.grace_seconds}")
        if not 0.01 <= self.relay_seconds <= 60:
            raise ValueError(f"relay_seconds: must lie in 0.01..60, got {self.relay_seconds}")


async def run_cycles(live: LiveCity, params: TickParams, stop: asyncio.Event) -> None:
    """Run a cycle `grace_seconds` after each mark until `stop` is set; one that fails is recorded, not fatal."""
    while not await _stopped_within(stop, seconds_to_next_cycle(live, params)):
        try:
            log.info("cycle_completed", **told_of(await asyncio.to_thread(live.run_cycle)))
        except Exception:  # the beat is the boundary: one failed cycle must not end the service
            log.exception("cycle_failed")
            live.feed.publish("cycle_failed", {"at": live.clock.now().isoformat()})


def told_of(cycle: Cycle) -> dict[str, Any]:
    """What the log tells of a cycle: a line for people, and what a search wants."""
    has_reported = (cycle.state.source == ReadingSource.REPORTED).any(axis=1)
    line = cycle_line(
        planner=cycle.plan.planner,
        num_reported=int(has_reported.sum()),
        num_sites=len(has_reported),
        num_new_orders=len(cycle.new_orders),
        num_withdrawn=len(cycle.withdrawn_order_ids),
        stage_milliseconds=cycle.stage_milliseconds,
        why=cycle.plan.why_this_planner,
    )
    return {"cycle_id": cycle.cycle_id, "planner": cycle.plan.planner, "text": line}


async def run_relay(
    live: LiveCity, lines: Sequence[GatewayLine], params: TickParams, relay: RelayParams, stop: asyncio.Event
) -> None:
    """Hand out what is due in the outbox every `relay_seconds` until `stop` is set, each gateway at its own pace."""

    async def settle() -> None:
        while not await _stopped_within(stop, params.relay_seconds):
            try:
                await asyncio.to_thread(live.settle_approvals)
            except Exception:  # the beat is the boundary: orders that wait go on waiting
                log.exception("settling_failed")

    async def run_line(line: GatewayLine) -> None:
        while not await _stopped_within(stop, params.relay_seconds):
            try:
                await relay_line(live.outbox, line, live.clock, relay)
            except Exception:  # the beat is the boundary: the outbox keeps what was not told
                log.exception("relay_failed", gateway=line.name)

    await asyncio.gather(settle(), *(run_line(line) for line in lines))


async def run_retention(forget: Callable[[], Any], stop: asyncio.Event) -> None:
    """Once an hour, let go of what is older than it must be kept, until `stop` is set; `forget` says what went."""
    while not await _stopped_within(stop, RETENTION_SECONDS):
        try:
            log.info("old_things_forgotten", **asdict(await asyncio.to_thread(forget)))
        except Exception:  # the beat is the boundary: keeping too much is no reason to stop
            log.exception("forgetting_failed")


def seconds_to_next_cycle(live: LiveCity, params: TickParams) -> float:
    """Seconds from now to the next period mark plus the grace, above 0."""
    now = live.clock.now()
    since_mark = (now - timedelta(seconds=params.grace_seconds)).timestamp() % params.period_seconds
    return params.period_seconds - since_mark


async def _stopped_within(stop: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(stop.wait(), timeout=seconds)
    except TimeoutError:
        return False
    return True
