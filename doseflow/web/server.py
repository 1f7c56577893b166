"""The doors opened: uvicorn in the foreground for `doseflow serve`, in a thread for the demo and for tests."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator

import uvicorn

from doseflow.bootstrap import OpenCity
from doseflow.errors import EnvironmentUnfit
from doseflow.live.live_city import LiveCity
from doseflow.live.ticker import forget_old_inputs, run_cycles, run_relay
from doseflow.settings import Settings
from doseflow.web.app import create_app
from doseflow.web.living import WebParams
from doseflow.web.logger_listener import run_logger_listener

START_TIMEOUT_SECONDS = 30.0
STOP_TIMEOUT_SECONDS = 10.0
PERIODS_TO_BE_LATE = 3
LATE_AFTER_MINUTES = 15.0


async def serve_until_stopped(opened: OpenCity) -> None:
    """Serve HTTP, run a cycle each period and hand orders out, until the process is told to stop (SIGINT, SIGTERM)."""
    settings = opened.settings
    server = uvicorn.Server(_config(opened.live, settings))
    stop = asyncio.Event()
    beats = [
        asyncio.create_task(run_cycles(opened.live, settings.tick, stop)),
        asyncio.create_task(run_relay(opened.live, opened.gateways, settings.tick, settings.relay, stop)),
        asyncio.create_task(run_logger_listener(opened.live, settings.mqtt_loggers, stop)),
        asyncio.create_task(forget_old_inputs(opened.live, settings.store.keep_cycle_inputs_days, stop)),
    ]
    closing = asyncio.create_task(_close_feed_when_stopping(server, opened.live))
    try:
        await server.serve()
    finally:
        stop.set()
        await asyncio.gather(closing, *beats)


@contextlib.contextmanager
def serving(live: LiveCity, settings: Settings) -> Iterator[str]:
    """
    The doors open in a thread of their own; gives their address.

    Raises
    ------
    EnvironmentUnfit
        The server did not start.
    """
    server = uvicorn.Server(_config(live, settings))
    thread = threading.Thread(target=server.run, name="doors", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield f"http://{settings.http.host}:{settings.http.port}"
    finally:
        live.feed.close()
        server.should_exit = True
        thread.join(timeout=STOP_TIMEOUT_SECONDS)


def _config(live: LiveCity, settings: Settings) -> uvicorn.Config:
    http = settings.http
    late_after_minutes = PERIODS_TO_BE_LATE * settings.tick.period_seconds / 60
    params = WebParams(settings.intake.max_body_bytes, late_after_minutes=max(LATE_AFTER_MINUTES, late_after_minutes))
    app = create_app(live, allowed_hosts=http.allowed_hosts, params=params)
    return uvicorn.Config(
        app, host=http.host, port=http.port, log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    give_up_seconds = time.monotonic() + START_TIMEOUT_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > give_up_seconds:
            raise EnvironmentUnfit("the web server did not start; run `doseflow doctor` to see why")
        time.sleep(0.02)


async def _close_feed_when_stopping(server: uvicorn.Server, live: LiveCity) -> None:
    # uvicorn waits for open streams before it stops; they end when the feed does.
    while not server.should_exit:
        await asyncio.sleep(0.1)
    live.feed.close()
