"""The application: routers, doors and pages round one living city."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

from doseflow.live.live_city import LiveCity
from doseflow.web import (
    anomalies,
    commands,
    cycles,
    day,
    drift,
    events,
    health,
    metrics,
    models,
    orders,
    plans,
    reports,
    sites,
)
from doseflow.web.answer_cache import AnswerCache
from doseflow.web.cycle_watch import CycleWatch
from doseflow.web.door_checks import LOOPBACK_HOSTS, DoorChecks
from doseflow.web.error_responses import add_error_responses
from doseflow.web.living import Living, WebParams
from doseflow.web.openapi import openapi_document
from doseflow.web.pages import add_pages
from doseflow.web.room import add_room
from doseflow.web.security_headers import SecurityHeaders
from doseflow.web.told_forecasts import ToldForecasts
from doseflow.web.unexpected_errors import UnexpectedErrors

ROUTERS = (health, metrics, reports, day, sites, anomalies, drift, cycles, plans, orders, events, commands, models)


def create_app(
    live: LiveCity, *, allowed_hosts: Sequence[str] = LOOPBACK_HOSTS, params: WebParams | None = None
) -> FastAPI:
    """
    The ASGI application of a living city.

    Parameters
    ----------
    allowed_hosts
        Host names served, without ports; `*` serves every name and gives up the protection against DNS rebinding.
    """
    count = live.metrics
    told = ToldForecasts(live.city.num_sites)
    watch = CycleWatch(live, count, told)
    app = FastAPI(
        title="doseflow",
        docs_url=None,
        redoc_url=None,
        # Any content type is read as JSON, as the other doors do; foreign pages are stopped by the origin check.
        strict_content_type=False,
        lifespan=_watching(watch),
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(DoorChecks, allowed_hosts=allowed_hosts),
            Middleware(UnexpectedErrors),
        ],
    )
    app.state.living = Living(live, count, watch, params or WebParams(), AnswerCache(), told)
    for module in ROUTERS:
        app.include_router(module.router)
    add_pages(app)
    add_room(app)
    add_error_responses(app)
    app.openapi = partial(openapi_document, app)  # type: ignore[method-assign]
    return app


def _watching(watch: CycleWatch) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(watch.run())
        try:
            yield
        finally:
            task.cancel()

    return lifespan
