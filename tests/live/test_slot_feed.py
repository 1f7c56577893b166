"""The polling of a publisher that comes and goes, with the real client, the real book and the packaged example."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.responses import Response

sys.path.append(str(Path(__file__).parents[1] / "gateways"))
sys.path.append(str(Path(__file__).parents[1] / "store"))

from slot_server import Published, publishing
from store_samples import make_city

from doseflow.gateways.slot_publisher import SlotFeedParams, SlotPublisher
from doseflow.intake.site_places import SitePlaces
from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.live.appointment_params import AppointmentParams
from doseflow.live.clocks import SimulatedClock
from doseflow.live.slot_feed import SlotFeed, backed_off, poll_slots
from doseflow.store.engine import Store, open_store

FOLDER = Path(__file__).parents[1] / "data" / "interfaces" / "rite_aid_nj"
NOW = datetime(2023, 3, 24, 20, 30, tzinfo=UTC)
PIN = "vtrcks|RA1000116"


@pytest.fixture(scope="module")
def server() -> Iterator[Published]:
    with publishing() as published:
        yield published


@pytest.fixture
def published(server: Published) -> Published:
    server.instead, server.asked = {}, []
    files = {
        f"{kind}_NJ": (FOLDER / f"{kind.lower()}s-NJ.ndjson").read_bytes() for kind in ("Location", "Schedule", "Slot")
    }
    server.offer(**files)
    return server


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield opened
    opened.close()


def feed_of(published: Published, store: Store, params: SlotFeedParams, **names: str) -> SlotFeed:
    places = SitePlaces(make_city(), names if names else {PIN: "site-0001"})
    desk = AppointmentDesk(
        store.appointments, store.reports, places, SimulatedClock(NOW), lambda _body: None, str, AppointmentParams()
    )
    return SlotFeed(SlotPublisher(published.url, params), desk)


def test_the_example_publisher_is_polled_into_the_book_slot_by_slot(published, store) -> None:
    feed = feed_of(published, store, SlotFeedParams())
    outcome = asyncio.run(feed.poll())
    assert (outcome.read, outcome.failures) == (3, ())
    [left] = store.appointments.slots_left(NOW, NOW + timedelta(days=365))
    lines = [line for line in (FOLDER / "slots-NJ.ndjson").read_text().splitlines() if '"Schedule/116"' in line]
    free = [line for line in lines if '"status":"free"' in line]
    assert (left.site_id, left.slots) == ("site-0001", len(free))
    assert left.capacity_left == sum(int(line.rsplit('"valueInteger":')[1].split("}")[0]) for line in free)
    assert asyncio.run(feed.poll()).unchanged == 3
    assert store.appointments.slots_left(NOW, NOW + timedelta(days=365)) == [left]


def test_a_publisher_that_fails_is_asked_again_until_it_answers_and_the_poller_stops_when_told(
    published, store
) -> None:
    params = SlotFeedParams(poll_seconds=0.05, max_wait_seconds=0.1, timeout_seconds=2)
    feed = feed_of(published, store, params)
    published.instead["/$bulk-publish"] = Response(status_code=500)

    async def play() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(poll_slots(feed, params, stop))
        while len(published.asked) < 3:
            await asyncio.sleep(0.02)
        published.instead.clear()
        while not store.appointments.slots_left(NOW, NOW + timedelta(days=365)):
            await asyncio.sleep(0.02)
        stop.set()
        await asyncio.wait_for(task, 5)

    asyncio.run(asyncio.wait_for(play(), 30))
    assert [status for _, _, status in published.asked[:3]] == [500, 500, 500]


def test_the_wait_doubles_with_each_failure_up_to_the_longest() -> None:
    params = SlotFeedParams(poll_seconds=60, max_wait_seconds=600)
    assert [backed_off(60, failures, params) for failures in (0, 1, 2, 3, 4, 1000)] == [60, 120, 240, 480, 600, 600]
    assert backed_off(900, 0, params) == 600


def test_a_place_named_later_places_the_slots_that_wait_for_it(published, store) -> None:
    asyncio.run(feed_of(published, store, SlotFeedParams(), other="site-0001").poll())
    assert store.appointments.slots_left(NOW, NOW + timedelta(days=365)) == []
    feed_of(published, store, SlotFeedParams())
    [left] = store.appointments.slots_left(NOW, NOW + timedelta(days=365))
    assert left.site_id == "site-0001"
