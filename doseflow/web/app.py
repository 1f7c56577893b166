"""The application: routers, doors and pages round one living city."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

from doseflow.access.sign_in import SignIn
from doseflow.live.live_city import LiveCity
from doseflow.web import (
    anomalies,
    appointments,
    audit,
    cold_chain,
    commands,
    cycles,
    day,
    dead_letters,
    drift,
    events,
    fhir_appointments,
    fhir_tasks,
    handovers,
    health,
    metrics,
    models,
    order_actions,
    orders,
    plans,
    playbooks,
    push,
    reports,
    schemas,
    sign_in,
    sites,
    sources,
    summaries,
    uploads,
    what_if,
)
from doseflow.web.answer_cache import AnswerCache
from doseflow.web.away_note import AwayNotes
from doseflow.web.cycle_watch import CycleWatch
from doseflow.web.door_checks import LOOPBACK_HOSTS, DoorChecks
from doseflow.web.error_responses import add_error_responses
from doseflow.web.living import Living, WebParams
from doseflow.web.openapi import openapi_document
from doseflow.web.pages import add_pages
from doseflow.web.permission_door import PermissionDoor
from doseflow.web.room import add_room
from doseflow.web.security_headers import SecurityHeaders
from doseflow.web.sign_in import SignInDoor
from doseflow.web.told_forecasts import ToldForecasts
from doseflow.web.unexpected_errors import UnexpectedErrors
from doseflow.what_if.workers import WhatIfWorkers

ROUTERS = (
    health,
    metrics,
    sign_in,
    reports,
    schemas,
    cold_chain,
    sources,
    uploads,
    day,
    sites,
    anomalies,
    drift,
    cycles,
    plans,
    push,
    orders,
    order_actions,
    events,
    commands,
    handovers,
    playbooks,
    audit,
    models,
    appointments,
    fhir_appointments,
    dead_letters,
    fhir_tasks,
    what_if,
    summaries,
)


def create_app(
    live: LiveCity,
    *,
    allowed_hosts: Sequence[str] = LOOPBACK_HOSTS,
    params: WebParams | None = None,
    signs_in: SignIn | None = None,
) -> FastAPI:
    """
    The ASGI application of a living city.

    Parameters
    ----------
    allowed_hosts
        Host names served, without ports; `*` serves every name and gives up the protection against DNS rebinding.
    signs_in
        Who knows callers; None lets everybody do everything.
    """
    count = live.metrics
    told = ToldForecasts(live.city.num_sites)
    watch = CycleWatch(live, count, told)
    workers = WhatIfWorkers()
    app = FastAPI(
        title="doseflow",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        # Any content type is read as JSON, as the other doors do; foreign pages are stopped by the origin check.
        strict_content_type=False,
        lifespan=_watching(watch, workers),
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(DoorChecks, allowed_hosts=allowed_hosts),
            Middleware(UnexpectedErrors),
            *([] if signs_in is None else [Middleware(PermissionDoor, signs_in)]),
        ],
    )
    app.state.sign_in_door = None if signs_in is None else SignInDoor(signs_in, AwayNotes())
    app.state.living = Living(live, count, watch, params or WebParams(), AnswerCache(), told)
    app.state.what_if_workers = workers
    for module in ROUTERS:
        app.include_router(module.router)
    add_pages(app)
    add_room(app)
    add_error_responses(app)
    app.openapi = partial(openapi_document, app)  # type: ignore[method-assign]
    return app


def _watching(watch: CycleWatch, workers: WhatIfWorkers) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(watch.run())
        try:
            yield
        finally:
            task.cancel()
            workers.close()

    return lifespan
