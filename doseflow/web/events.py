"""GET /api/v1/events: one stream of server-sent events for a whole screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent

from doseflow.domain.caller import Caller
from doseflow.live.event_feed import Event
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller, AskStillKnown
from doseflow.web.error_responses import documented
from doseflow.web.living import AskLiving

RETRY_MILLISECONDS = 2000
router = APIRouter(prefix="/api/v1", tags=["events"])


@router.get("/events", response_class=EventSourceResponse, responses=documented())
@needs("event.read")
async def get_events(
    living: AskLiving, caller: AskCaller, is_still_known: AskStillKnown
) -> AsyncIterator[ServerSentEvent]:
    """
    Events: `cycle_completed`, `cycle_failed`, `reports_received`, `receipt_recorded`, `site_commanded`,
    `order_decided`, `handover_given`, `playbook_started`, `playbook_ended`.

    The first event is `connected`: from then on nothing is missed, so a screen reads everything once when it comes.
    Nothing is replayed after a gap. A comment every 15 seconds keeps the line open; the stream ends when the service
    stops, and before the next event once the caller has signed out or their key was revoked. Events of a site are
    told to those alone who may see it.
    """
    events = living.live.feed.subscribe()
    upcoming = asyncio.ensure_future(anext(events))
    with living.metrics.event_listeners.track_inprogress():
        try:
            await asyncio.sleep(0)  # lets the subscription begin before the screen is told that it has
            yield ServerSentEvent(event="connected", data={}, retry=RETRY_MILLISECONDS)
            while True:
                event = await upcoming
                if not await is_still_known():
                    return
                if _may_hear(caller, event):
                    yield _sent(event)
                upcoming = asyncio.ensure_future(anext(events))
        except StopAsyncIteration:
            return
        finally:
            upcoming.cancel()


def _may_hear(caller: Caller, event: Event) -> bool:
    site_id = event.payload.get("site_id")
    return site_id is None or caller.may_touch(site_id)


def _sent(event: Event) -> ServerSentEvent:
    return ServerSentEvent(event=event.name, data=event.payload, id=str(event.event_id))
