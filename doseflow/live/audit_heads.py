"""Once an hour the head of the audit log goes into the service's own log, where it is kept by others."""

from __future__ import annotations

import asyncio

import structlog

from doseflow.live.live_city import LiveCity

TELL_SECONDS = 3600.0
log = structlog.get_logger(__name__)


async def tell_audit_heads(live: LiveCity, stop: asyncio.Event) -> None:
    """Tell the head at the start and every hour until `stop` is set: who keeps it sees later when entries are gone."""
    while True:
        try:
            log.info("audit_head", head=str(await asyncio.to_thread(live.audit.head)))
        except Exception:  # the boundary of a loop: the next hour tells it again
            log.exception("audit_head_failed")
        try:
            await asyncio.wait_for(stop.wait(), timeout=TELL_SECONDS)
        except TimeoutError:
            continue
        return
