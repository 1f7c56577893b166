"""A small simulated city that lives, with its store on disk and the real planner, behind a real server."""

from __future__ import annotations

import contextlib
import copy
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from doseflow.access.params import SignInParams
from doseflow.access.sign_in import SignIn, wall_now
from doseflow.bootstrap import OpenCity, open_city, open_sign_in
from doseflow.domain.cycle import Cycle
from doseflow.live.clocks import SimulatedClock
from doseflow.live.live_city import LiveCity
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.units import PERIOD_MINUTES
from doseflow.web.app import create_app


@dataclass
class PlayedCity:
    """A living city and the simulated one that reports to it."""

    opened: OpenCity
    city: SimulatedCity
    clock: SimulatedClock

    @property
    def live(self) -> LiveCity:
        return self.opened.live

    def live_on(self) -> list[bytes]:
        self.city.advance(PERIOD_MINUTES)
        self.clock.set(self.city.now)
        return self.city.reports()

    def play(self) -> Cycle:
        self.live.submit(b"[" + b",".join(self.live_on()) + b"]")
        return self.live.run_cycle()


@cache
def made_city(name: str, seed: int) -> SimulatedCity:
    """A city as it stands in the morning: making one takes a hundred times longer than copying it."""
    return SimulatedCity.from_name(name, seed=seed, faults=NO_FAULTS)


@pytest.fixture
def make_city(tmp_path) -> Iterator[Callable[[], PlayedCity]]:
    opened: list[OpenCity] = []

    def make(name: str = "synthetic:6", seed: int = 1, **sections: Any) -> PlayedCity:
        city = copy.deepcopy(made_city(name, seed))
        clock = SimulatedClock(city.now)
        store = StoreSettings(url=f"sqlite:///{tmp_path / f'{len(opened)}.sqlite'}")
        opened.append(open_city(Settings(store=store, **sections), clock=clock, city=city.city))
        return PlayedCity(opened[-1], city, clock)

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def played(make_city) -> PlayedCity:
    return make_city()


@contextlib.contextmanager
def served(app: FastAPI) -> Iterator[httpx.Client]:
    """A client of the application on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=20) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(timeout=10)


@pytest.fixture
def serve() -> Iterator[Callable[[FastAPI], httpx.Client]]:
    with contextlib.ExitStack() as stack:
        yield lambda app: stack.enter_context(served(app))


@pytest.fixture
def client(played, serve) -> Iterator[httpx.Client]:
    yield serve(create_app(played.live))
    played.live.feed.close()


@pytest.fixture(scope="module")
def quiet_client(tmp_path_factory) -> Iterator[httpx.Client]:
    """A client of a city in which nothing happens; for questions that change nothing."""
    city = made_city("synthetic:6", 1)
    store = StoreSettings(url=f"sqlite:///{tmp_path_factory.mktemp('quiet') / 'quiet.sqlite'}")
    opened = open_city(Settings(store=store), clock=SimulatedClock(city.now), city=city.city)
    with contextlib.closing(opened), served(create_app(opened.live)) as client:
        yield client


@dataclass
class SignedCity:
    """A city behind doors that ask who comes."""

    opened: OpenCity
    app: FastAPI
    client: httpx.Client
    sign_in: SignIn
    played: PlayedCity | None = None


@pytest.fixture(scope="module")
def module_city() -> Iterator[Callable[..., SignedCity]]:
    """Makes a quiet city with sign-in in a folder; sections of the settings may be given."""
    with contextlib.ExitStack() as stack:

        def make(folder: Path, *, now: Callable[[], datetime] = wall_now, **params: Any) -> SignedCity:
            city = made_city("synthetic:6", 1)
            store = StoreSettings(url=f"sqlite:///{folder / 'signed.sqlite'}")
            sign_in = SignInParams(is_on=True, user_file=str(folder / "users.json"), **params)
            settings = Settings(store=store, sign_in=sign_in)
            opened = open_city(settings, clock=SimulatedClock(city.now), city=city.city)
            stack.callback(opened.close)
            return _signed(stack, opened, now)

        yield make


@pytest.fixture
def signed_city(tmp_path) -> Iterator[Callable[[PlayedCity], SignedCity]]:
    """Puts doors that ask who comes before a city that is played."""
    with contextlib.ExitStack() as stack:

        def make(played: PlayedCity) -> SignedCity:
            params = SignInParams(is_on=True, user_file=str(tmp_path / "users.json"))
            settings = played.opened.settings.model_copy(update={"sign_in": params})
            played.opened.sign_in = open_sign_in(settings, played.opened.store)
            signed = _signed(stack, played.opened, wall_now)
            signed.played = played
            return signed

        yield make


def _signed(stack: contextlib.ExitStack, opened: OpenCity, now: Callable[[], datetime]) -> SignedCity:
    assert opened.sign_in is not None
    opened.sign_in.now = now
    opened.sign_in.recognition = replace(opened.sign_in.recognition, now=now)
    app = create_app(opened.live, signs_in=opened.sign_in)
    return SignedCity(opened, app, stack.enter_context(served(app)), opened.sign_in)
