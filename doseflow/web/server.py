"""The doors opened: uvicorn in the foreground for `doseflow serve`, in a thread for the demo and for tests."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn

from doseflow.access.sign_in import SignIn
from doseflow.appointment_doors import make_feeds, make_listener
from doseflow.bootstrap import OpenCity
from doseflow.dispatch.fhir_order import order_system
from doseflow.errors import EnvironmentUnfit, SettingsWrong
from doseflow.gateways.mllp_listener import listen
from doseflow.live.audit_heads import tell_audit_heads
from doseflow.live.live_city import LiveCity
from doseflow.live.slot_feed import poll_slots
from doseflow.live.ticker import run_cycles, run_relay, run_retention
from doseflow.order_gateways import ways_back
from doseflow.settings import HttpSettings, Settings, require_sign_in_on_a_network
from doseflow.web.app import create_app
from doseflow.web.client_certificates import CertifiedProtocol
from doseflow.web.living import WebParams
from doseflow.web.logger_listener import run_logger_listener

START_TIMEOUT_SECONDS = 30.0
STOP_TIMEOUT_SECONDS = 10.0
PERIODS_TO_BE_LATE = 3
LATE_AFTER_MINUTES = 15.0
COLLECT_AFTER = (50_000, 5, 1_000)
"""New objects before the youngest are looked at, and how often before the older ones are."""


async def serve_until_stopped(opened: OpenCity) -> None:
    """Serve HTTP, run a cycle each period and hand orders out, until the process is told to stop (SIGINT, SIGTERM)."""
    _spare_the_collector()
    settings = opened.settings
    server = uvicorn.Server(_config(opened.live, settings, opened.sign_in))
    stop = asyncio.Event()
    beats = [
        asyncio.create_task(run_cycles(opened.live, settings.tick, stop)),
        asyncio.create_task(run_relay(opened.live, opened.gateways, settings.tick, settings.relay, stop)),
        asyncio.create_task(tell_audit_heads(opened.live, stop)),
        asyncio.create_task(run_retention(opened.forget_old, stop)),
        *(
            asyncio.create_task(poll_slots(feed, settings.slot_feeds, stop))
            for feed in make_feeds(opened.live, settings)
        ),
        asyncio.create_task(run_logger_listener(opened.live, settings.mqtt_loggers, stop)),
    ]
    listener = make_listener(opened.live, settings)
    if listener is not None:
        beats.append(asyncio.create_task(listen(listener, stop)))
    back = ways_back(opened.gateways, opened.live, opened.store.positions, settings, stop)
    beats += [asyncio.create_task(loop) for loop in back]
    closing = asyncio.create_task(_close_feed_when_stopping(server, opened.live))
    try:
        await server.serve()
    finally:
        stop.set()
        await asyncio.gather(closing, *beats)


def _spare_the_collector() -> None:
    """
    Have the garbage collector look seldom, and never at what is there for good.

    Reports that wait for their cycle are tens of thousands of objects without circles: looking at them again and again
    took two fifths of the time of taking them, and stopped everything for up to 200 ms (docs/background/interfaces.md).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


@contextlib.contextmanager
def serving(live: LiveCity, settings: Settings, sign_in: SignIn | None = None) -> Iterator[str]:
    """
    The doors open in a thread of their own; gives their address.

    Parameters
    ----------
    sign_in
        Who knows callers; None lets everybody do everything, which only loopback allows.

    Raises
    ------
    EnvironmentUnfit
        The server did not start.
    """
    server = uvicorn.Server(_config(live, settings, sign_in))
    thread = threading.Thread(target=server.run, name="doors", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield f"{_scheme(settings)}://{settings.http.host}:{settings.http.port}"
    finally:
        live.feed.close()
        server.should_exit = True
        thread.join(timeout=STOP_TIMEOUT_SECONDS)


def _scheme(settings: Settings) -> str:
    return "http" if settings.http.tls_certificate is None else "https"


def _config(live: LiveCity, settings: Settings, sign_in: SignIn | None) -> uvicorn.Config:
    require_sign_in_on_a_network(settings)
    if settings.sign_in.is_on and sign_in is None:
        raise SettingsWrong("sign_in.is_on: these doors know no callers")
    http = settings.http
    late_after_minutes = PERIODS_TO_BE_LATE * settings.tick.period_seconds / 60
    params = WebParams(
        settings.intake.max_body_bytes,
        late_after_minutes=max(LATE_AFTER_MINUTES, late_after_minutes),
        fhir_order_system=order_system(settings.gateways.fhir.system_base.rstrip("/")),
    )
    app = create_app(live, allowed_hosts=http.allowed_hosts, params=params, signs_in=sign_in)
    return uvicorn.Config(
        app,
        host=http.host,
        port=http.port,
        # What uvicorn logs goes the way of all other logs, which takes secrets out.
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
        **_tls(http),
    )


def _tls(http: HttpSettings) -> dict[str, Any]:
    if http.tls_certificate is None:
        return {}
    for name in ("tls_certificate", "tls_key", "tls_client_authority"):
        path = getattr(http, name)
        if path is not None and not Path(path).is_file():
            raise SettingsWrong(f"http.{name}: there is no file {path}")
    tls = {"ssl_certfile": http.tls_certificate, "ssl_keyfile": http.tls_key}
    if http.tls_client_authority is None:
        return tls
    asked = ssl.CERT_REQUIRED if http.tls_client_is_required else ssl.CERT_OPTIONAL
    return {**tls, "ssl_ca_certs": http.tls_client_authority, "ssl_cert_reqs": asked, "http": CertifiedProtocol}


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
