"""What the desk tells of a city, and when it tells nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "store"))

from store_samples import START, make_city

from doseflow.domain.appointment import AppointmentNotice, AppointmentStatus, Place, SourceMessage
from doseflow.intake.site_places import SitePlaces
from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.live.appointment_params import AppointmentParams
from doseflow.live.clocks import SimulatedClock
from doseflow.store.engine import Store, open_store

MINUTE = timedelta(minutes=1)


class Told:
    """Bodies of reports as they were submitted."""

    def __init__(self) -> None:
        self.reports: list[dict] = []

    def __call__(self, body: bytes) -> None:
        self.reports += json.loads(body)


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield opened
    opened.close()


def desk_of(store: Store, told: Told, **params) -> tuple[AppointmentDesk, SimulatedClock]:
    clock = SimulatedClock(START + 7 * MINUTE)
    places = SitePlaces(make_city(), {})
    desk = AppointmentDesk(store.appointments, store.reports, places, clock, told, str, AppointmentParams(**params))
    return desk, clock


def book(desk: AppointmentDesk, minutes: int, **parts) -> None:
    place = Place(("Location/site-0001",))
    notice = AppointmentNotice("a", AppointmentStatus.BOOKED, START + minutes * MINUTE, place=place)
    desk.take(SourceMessage("fhir", None, (replace(notice, **parts),)))


def test_a_report_is_valid_at_the_mark_of_the_period_and_holds_bookings_alone(store) -> None:
    told = Told()
    desk, _ = desk_of(store, told)
    book(desk, 21)
    assert desk.tell() == 1
    [report] = told.reports
    assert report.pop("report_id").startswith("20260302T0905Z-bookings-")
    assert report == {
        "site_id": "site-0001",
        "valid_at": (START + 5 * MINUTE).isoformat(),
        "booked_people": [0, 1, 0, 0, 0, 0, 0, 0],
    }


def test_each_period_is_told_again_and_in_between_only_what_changed(store) -> None:
    told = Told()
    desk, clock = desk_of(store, told)
    book(desk, 21)
    assert (desk.tell(), desk.tell()) == (1, 0)
    book(desk, 36, outside_id="b")
    assert desk.tell() == 1
    clock.set(START + 10 * MINUTE)
    assert desk.tell() == 1
    assert len({report["report_id"] for report in told.reports}) == 3


def test_a_source_gone_silent_makes_its_sites_unknown_and_not_empty(store) -> None:
    told = Told()
    desk, clock = desk_of(store, told, silent_after_hours=1)
    book(desk, 21)
    clock.set(START + 68 * MINUTE)
    assert desk.tell() == 0
    assert told.reports == []


def test_a_site_is_told_of_only_after_the_warm_up(store) -> None:
    told = Told()
    desk, clock = desk_of(store, told, warm_up_hours=2)
    book(desk, 200)
    assert desk.tell() == 0
    clock.set(START + 130 * MINUTE)
    assert desk.tell() == 1
    assert sum(told.reports[0]["booked_people"]) == 1


def test_what_is_over_is_let_go_after_the_days_of_the_setting(store) -> None:
    told = Told()
    desk, clock = desk_of(store, told, keep_days=1)
    book(desk, 21, place=Place(("nowhere",)))
    assert len(desk.book.unplaced()) == 1
    clock.set(START + timedelta(days=2))
    desk.tell()
    assert desk.book.unplaced() == []
