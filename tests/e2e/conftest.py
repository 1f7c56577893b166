"""A real Chromium before a real, small, living city."""

from __future__ import annotations

import contextlib
import copy
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from doseflow.bootstrap import OpenCity, open_city
from doseflow.domain.cycle import Cycle
from doseflow.live.clocks import SimulatedClock
from doseflow.live.event_feed import EventFeed
from doseflow.settings import HttpSettings, Settings, StoreSettings
from doseflow.simulate.city_choice import days_of
from doseflow.simulate.replayed_city import DEMO_DAY_ON, SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.web.server import serving

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE_NAME = "<img src=x onerror=\"document.title='broken into'\"> & <b>bold</b>"


@dataclass
class Stage:
    """A city behind its doors, played by hand."""

    opened: OpenCity
    city: SimulatedCity
    clock: SimulatedClock
    port: int
    doors: contextlib.ExitStack

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open_doors(self) -> None:
        # A feed that was closed with the doors has told its listeners to go; those who come again get a fresh one.
        self.opened.live.feed = EventFeed()
        self.doors.enter_context(serving(self.opened.live, Settings(http=HttpSettings(port=self.port))))

    def close_doors(self) -> None:
        self.doors.close()

    def play(self, num_cycles: int = 1) -> Cycle:
        for _ in range(num_cycles):
            self.city.advance(5)
            self.clock.set(self.city.now)
            self.opened.live.submit(b"[" + b",".join(self.city.reports()) + b"]")
            cycle = self.opened.live.run_cycle()
        return cycle

    def play_until_orders(self) -> Cycle:
        for _ in range(20):
            cycle = self.play()
            if self.opened.live.open_orders():
                return cycle
        raise AssertionError("twenty cycles made no order")


# A module, not a session: Playwright runs an event loop in this thread, in which no other test could start its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("NO CHROMIUM HERE, so the dashboard is NOT tested; `apt-get install chromium` brings one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def stage(tmp_path, request) -> Iterator[Stage]:
    """As `learned` the city is planned by the learned policy and has a model store; as `large` it has 200 sites."""
    sections: dict[str, Any] = {}
    param = getattr(request, "param", "")
    if param == "learned":
        sections["planner"], sections["breaker"] = "learned", {"deadline_milliseconds": 5000}
        sections["engines"] = {"deadline_milliseconds": 60_000}
        sections["models"] = {"folder": str(tmp_path / "models"), "allow_unsigned": True}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    city = copy.deepcopy(large_city() if param == "large" else hostile_city())
    clock = SimulatedClock(city.now)
    settings = Settings(store=StoreSettings(url=f"sqlite:///{tmp_path / 'stage.sqlite'}"), **sections)
    opened = open_city(settings, clock=clock, city=city.city)
    with contextlib.closing(opened), contextlib.ExitStack() as doors:
        stage = Stage(opened, city, clock, port, doors)
        stage.open_doors()
        yield stage


@cache
def large_city() -> SimulatedCity:
    return SimulatedCity.from_name("synthetic:200", faults=NO_FAULTS)


@cache
def hostile_city() -> SimulatedCity:
    """The small simulated city, whose first site has a name that is markup."""
    city = SimulatedCity.from_name("synthetic:12", faults=NO_FAULTS).city
    sites = (replace(city.sites[0], name=HOSTILE_NAME), *city.sites[1:])
    renamed = replace(city, sites=sites)
    return SimulatedCity(renamed, days_of(renamed, 1), DEMO_DAY_ON, 1, NO_FAULTS)


@dataclass
class Watched:
    """A page and everything that went wrong on it."""

    page: Page
    complaints: list[str]
    requested: list[str]


@pytest.fixture
def open_page(browser, stage) -> Iterator[Callable[..., Watched]]:
    contexts: list[BrowserContext] = []

    def open_page(
        *,
        width: int = 1440,
        height: int = 900,
        locale: str = "en-GB",
        path: str = "/",
        ready: str = '[data-part="link"][data-link="live"]',
        route: Mapping[str, Callable[[bytes], bytes]] | None = None,
        on_answer: Callable[[str, int], None] | None = None,
        **options,
    ) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": height}, locale=locale, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        watched = Watched(context.new_page(), [], [])
        page = watched.page
        page.on("request", lambda request: watched.requested.append(request.url))
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.on(
            "console",
            lambda message: watched.complaints.append(message.text) if message.type in ("error", "warning") else None,
        )
        for pattern, change in (route or {}).items():
            page.route(pattern, partial(_answer_changed, change))
        if on_answer is not None:
            page.on("requestfinished", lambda request: on_answer(request.url, request.sizes()["responseBodySize"]))
        page.goto(stage.url + path)
        page.wait_for_selector(ready)
        return watched

    yield open_page
    for context in contexts:
        context.close()


def _answer_changed(change: Callable[[bytes], bytes], route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=change(answer.body()))
