"""Appointments through the real doors of a served city, into the bookings that its next cycle plans with."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import timedelta
from pathlib import Path

import httpx
import numpy as np
import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.operationoutcome import OperationOutcome

from doseflow.appointment_doors import make_feeds, make_listener
from doseflow.domain.caller import Caller, CallerRole
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.errors import StoreUnavailable
from doseflow.gateways.mllp_listener import MllpParams
from doseflow.gateways.slot_publisher import SlotFeedParams
from doseflow.live.appointment_params import AppointmentParams
from doseflow.live.live_city import LiveCity
from doseflow.settings import FhirSettings
from doseflow.web.app import create_app

DOOR = "/api/v1/fhir/Appointment"
EXAMPLES = Path(__file__).parents[1] / "data" / "interfaces"


@pytest.fixture
def sections(tmp_path) -> dict:
    return {
        "appointments": AppointmentParams(
            key_file=str(tmp_path / "ids.key"),
            locations={
                "AIL-3.4|GH Clinic": "site-00001",
                "RXA-11.4|NIST-Clinic-1": "site-00002",
                "vtrcks|RA1000116": "site-00003",
            },
        ),
        "fhir": FhirSettings(is_on=True),
        "hl7": MllpParams(is_on=True, port=0),
    }


@pytest.fixture
def city(make_city, sections):
    return make_city(**sections)


@pytest.fixture
def doors(city, serve) -> httpx.Client:
    yield serve(create_app(city.live))
    city.live.feed.close()


def site_ids(city) -> list[str]:
    return [site.site_id for site in city.live.city.sites]


def booked(city, site_id: str, minutes: int, own_id: str = "a", **parts) -> dict:
    start = city.clock.now() + timedelta(minutes=minutes)
    return {
        "resourceType": "Appointment",
        "id": own_id,
        "status": "booked",
        "start": start.isoformat(),
        "end": (start + timedelta(minutes=10)).isoformat(),
        "participant": [
            {"actor": {"reference": f"Location/{site_id}"}, "status": "accepted"},
            {"actor": {"reference": "Patient/77", "display": "Chalmers, Peter"}, "status": "accepted"},
        ],
    } | parts


def post(doors: httpx.Client, resource, **headers: str) -> httpx.Response:
    body = resource if isinstance(resource, bytes) else json.dumps(resource).encode()
    answer = doors.post(DOOR, content=body, headers={"content-type": "application/fhir+json", **headers})
    model = Bundle if answer.json()["resourceType"] == "Bundle" else OperationOutcome
    model.model_validate(answer.json())
    assert answer.headers["content-type"] == "application/fhir+json"
    return answer


def bookings_of_state(live: LiveCity, site_id: str) -> list[float]:
    return live.latest.state.booked_people[live.city.site_to_idx[site_id]].tolist()


def test_an_appointment_posted_is_planned_with_in_the_next_cycle(city, doors) -> None:
    site = site_ids(city)[0]
    assert post(doors, booked(city, site, 20)).status_code == 201
    cycle = city.live.run_cycle()
    assert bookings_of_state(city.live, site) == [0, 1, 0, 0, 0, 0, 0, 0]
    source = cycle.state.source[:, FeatureClass.BOOKED_AHEAD]
    assert source[city.live.city.site_to_idx[site]] == ReadingSource.REPORTED
    # Of all else, and of all other sites, nothing was told.
    assert (cycle.state.source[:, FeatureClass.ARRIVALS] == ReadingSource.UNKNOWN).all()
    assert (source == ReadingSource.REPORTED).sum() == 1


def test_a_site_of_which_only_bookings_are_told_still_counts_as_never_reported(city, doors) -> None:
    site = site_ids(city)[0]
    post(doors, booked(city, site, 20))
    city.live.run_cycle()
    [row] = [one for one in doors.get("/api/v1/sites").json()["sites"] if one["site_id"] == site]
    assert row["age_minutes"] is None


def test_what_the_site_itself_told_stands_beside_the_bookings_of_others(city, doors) -> None:
    before = city.play().state
    site = site_ids(city)[0]
    city.clock.set(city.clock.now() + timedelta(seconds=1))
    post(doors, booked(city, site, 20))
    after = city.live.run_cycle().state
    for name in (
        "arrivals_people",
        "waiting_people",
        "observed_wait_minutes",
        "doses_given",
        "stations_open",
        "seats_taken",
    ):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    assert after.lots.lot_number == before.lots.lot_number
    assert after.fridges.fridge_id == before.fridges.fridge_id
    assert len(after.staff.people) == len(before.staff.people)
    site_idx = city.live.city.site_to_idx[site]
    assert bookings_of_state(city.live, site) == [0, 1, 0, 0, 0, 0, 0, 0]
    np.testing.assert_array_equal(
        np.delete(after.booked_people, site_idx, 0), np.delete(before.booked_people, site_idx, 0)
    )


def test_a_cancellation_takes_it_back_and_a_repeat_of_the_booking_does_not_bring_it_again(city, doors) -> None:
    site = site_ids(city)[0]
    booking = booked(city, site, 20)
    post(doors, booking)
    assert post(doors, booking | {"status": "cancelled"}).status_code == 201
    assert post(doors, booking).status_code == 200
    city.live.run_cycle()
    assert sum(bookings_of_state(city.live, site)) == 0


def test_the_same_cycle_told_twice_counts_nobody_twice_and_fills_no_quarantine(city, doors) -> None:
    site = site_ids(city)[0]
    post(doors, booked(city, site, 20))
    assert [city.live.appointments.tell() for _ in range(3)] == [1, 0, 0]
    another = booked(city, site, 50, "b")
    city.clock.set(city.clock.now() + timedelta(seconds=1))
    post(doors, another)
    assert city.live.appointments.tell() == 1
    city.live.run_cycle()
    assert bookings_of_state(city.live, site) == [0, 1, 0, 1, 0, 0, 0, 0]
    assert city.live.reports.quarantined() == []


def test_a_batch_keeps_its_good_entries_and_says_of_each_what_became_of_it(city, doors) -> None:
    site = site_ids(city)[0]
    entries = [
        booked(city, site, 20, "a"),
        booked(city, site, 20, "b", start=None),
        {"resourceType": "Patient", "id": "77"},
    ]
    entries = [{"resource": {name: value for name, value in one.items() if value is not None}} for one in entries]
    answer = post(doors, {"resourceType": "Bundle", "type": "batch", "entry": entries})
    assert answer.status_code == 200
    assert answer.json()["type"] == "batch-response"
    assert [one["response"]["status"] for one in answer.json()["entry"]] == ["201", "422", "200"]
    city.live.run_cycle()
    assert sum(bookings_of_state(city.live, site)) == 1


def test_a_transaction_with_one_bad_entry_keeps_nothing(city, doors) -> None:
    site = site_ids(city)[0]
    entries = [
        {"resource": booked(city, site, 20, "a")},
        {"resource": {"resourceType": "Appointment", "status": "booked"}},
    ]
    answer = post(doors, {"resourceType": "Bundle", "type": "transaction", "entry": entries})
    assert answer.status_code == 422
    assert answer.json()["issue"][0]["expression"][0].startswith("Bundle.entry[1].resource / Appointment")
    assert doors.get("/api/v1/appointments").json()["sites"] == []
    entries[1]["resource"] = booked(city, site, 35, "b")
    assert (
        post(doors, {"resourceType": "Bundle", "type": "transaction", "entry": entries}).json()["type"]
        == "transaction-response"
    )
    assert doors.get("/api/v1/appointments").json()["sites"] == [
        {"site_id": site, "booked_people": [0, 1, 1, 0, 0, 0, 0, 0]}
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'{"resourceType":"Patient"}', 400),
        (b'{"resourceType":"Appointment"}', 422),
    ],
)
def test_a_refusal_is_an_operation_outcome_and_its_size_is_kept(city, doors, body: bytes, status: int) -> None:
    assert post(doors, body).status_code == status
    [kept] = city.live.reports.quarantined()
    assert kept.num_bytes == len(body)


def test_a_place_of_no_site_is_kept_and_listed_with_its_names(city, doors) -> None:
    answer = post(doors, booked(city, "east-wing", 20))
    assert answer.status_code == 201
    assert answer.json()["issue"][0]["severity"] == "warning"
    [row] = doors.get("/api/v1/appointments").json()["unplaced"]
    assert (row["source"], row["place"], row["number"]) == ("fhir", ["Location/east-wing"], 1)


def test_a_caller_may_speak_for_its_own_sites_alone(city) -> None:
    first, second = site_ids(city)[:2]
    caller = Caller("clinic", frozenset({CallerRole.MACHINE}), frozenset({first}))
    bundle = {
        "resourceType": "Bundle",
        "type": "batch",
        "entry": [{"resource": booked(city, one, 20)} for one in (first, second)],
    }
    _, results = city.live.fhir_door.take(json.dumps(bundle).encode(), caller)
    assert [one.is_foreign for one in results] == [False, True]


def test_the_door_is_shut_unless_the_settings_open_it(client) -> None:
    assert post(client, b"{}").status_code == 404
    assert client.get("/api/v1/appointments").json()["is_on"] is False


def test_too_much_is_too_much_and_a_store_that_fails_is_said_so(city, doors, monkeypatch) -> None:
    def fails(*_args) -> None:
        raise StoreUnavailable("the database does not answer")

    assert post(doors, b"x" * (9 * 2**20)).status_code == 413
    monkeypatch.setattr(city.live.appointments.book, "take", fails)
    answer = post(doors, booked(city, site_ids(city)[0], 20))
    assert answer.status_code == 503
    assert answer.json()["issue"][0]["code"] == "transient"


def send(port: int, *messages: bytes) -> list[bytes]:
    """What an MLLP sender is answered, message by message."""
    answers = []
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for message in messages:
            connection.sendall(b"\x0b" + message + b"\x1c\r")
            said = b""
            while not said.endswith(b"\x1c\r"):
                said += connection.recv(65536)
            answers.append(said.strip(b"\x0b\x1c\r"))
    return answers


def through_mllp(city, *messages: bytes) -> list[bytes]:
    """Send messages through a real listener of the city."""

    async def play() -> list[bytes]:
        listener = make_listener(city.live, city.opened.settings)
        await listener.start()
        try:
            return await asyncio.to_thread(send, listener.port, *messages)
        finally:
            await listener.stop()

    return asyncio.run(play())


def code_of(answer: bytes) -> str:
    return answer.split(b"\rMSA|")[1][:2].decode()


def siu(city, event: str, minutes: int, sent_minutes: int, control: str) -> bytes:
    zone = "+0000"
    sent, start = (city.clock.now() + timedelta(minutes=one) for one in (sent_minutes, minutes))
    lines = (
        f"MSH|^~\\&|SCH|FAC|||{sent:%Y%m%d%H%M%S}{zone}||SIU^{event}|{control}|P|2.5.1",
        "SCH|p9|f9",
        f"TQ1|1||||||{start:%Y%m%d%H%M%S}{zone}",
        "PID|1||123^^^MR||EVERYMAN^ADAM||19800101",
        "AIL|1||055^Room01^^GH Clinic",
    )
    return "\r".join(lines).encode()


def test_messages_by_mllp_are_acknowledged_and_out_of_order_ones_change_nothing(city) -> None:
    booking, moved = siu(city, "S12", 20, -60, "1"), siu(city, "S13", 50, -40, "2")
    cancelled = siu(city, "S15", 50, -20, "3")
    assert [code_of(one) for one in through_mllp(city, booking, moved)] == ["AA", "AA"]
    city.live.run_cycle()
    assert bookings_of_state(city.live, "site-00001") == [0, 0, 0, 1, 0, 0, 0, 0]
    city.clock.set(city.clock.now() + timedelta(seconds=1))
    assert [code_of(one) for one in through_mllp(city, cancelled, booking, moved)] == ["AA", "AA", "AA"]
    city.live.run_cycle()
    assert sum(bookings_of_state(city.live, "site-00001")) == 0


@pytest.mark.parametrize(
    ("message", "code", "error"),
    [
        (b"MSH|^~\\&|A|F|||20260504||ADT^A01|1|P|2.5\rPID|1", "AR", b"200"),
        (b"MSH|^~\\&|A|F|||20260504||SIU^S99|1|P|2.5\rSCH|1|2", "AR", b"201"),
        (b"MSH|^~\\&|A|F|||20260504||SIU^S12|1|P|2.5\rSCH|1|2", "AE", b"101"),
        (b"MSH|^~\\&|A|F|||20260504||SIU^S12|1|P|2.5", "AE", b"100"),
        (b"MSH|^~\\&|A|F|||20260504||VXU^V04|1|P|2.5\rRXA|0|1|20260504||x|1|||00|||", "AE", b"204"),
        (b"PID|nobody", "AR", b"100"),
    ],
)
def test_what_cannot_be_used_is_answered_by_a_code_and_kept_without_anybody(city, message, code, error) -> None:
    [answer] = through_mllp(city, message)
    assert code_of(answer) == code
    assert b"|" + error + b"^" in answer.split(b"\rERR|")[1]
    [kept] = city.live.reports.quarantined()
    assert kept.num_bytes == len(message)
    assert b"nobody" not in kept.raw


def test_a_store_that_fails_is_answered_so_that_the_sender_comes_again(city, monkeypatch) -> None:
    def fails(*_args) -> None:
        raise StoreUnavailable("the database does not answer")

    with monkeypatch.context() as broken:
        broken.setattr(city.live.appointments.book, "take", fails)
        [answer] = through_mllp(city, siu(city, "S12", 20, 0, "1"))
    assert code_of(answer) == "AR"
    assert b"|207^" in answer
    assert [code_of(one) for one in through_mllp(city, siu(city, "S12", 20, 0, "1"))] == ["AA"]
    city.live.run_cycle()
    assert sum(bookings_of_state(city.live, "site-00001")) == 1


def test_doses_of_a_vaccination_update_are_shown_and_never_a_sites_own_count(city, doors) -> None:
    message = (
        (EXAMPLES / "hl7v2" / "VXU.hl7")
        .read_bytes()
        .replace(b"|20150624||49281", f"|{city.clock.now():%Y%m%d}||49281".encode())
    )
    assert [code_of(one) for one in through_mllp(city, message, message)] == ["AA", "AA"]
    [row] = doors.get("/api/v1/appointments").json()["doses"]
    assert (row["site_id"], row["doses"]) == ("site-00002", 1)
    cycle = city.live.run_cycle()
    assert (cycle.state.source[:, FeatureClass.DOSES_GIVEN] == ReadingSource.UNKNOWN).all()


def test_a_restart_goes_on_with_the_book_and_tells_nothing_twice(make_city, sections) -> None:
    city = make_city(**sections)
    through_mllp(city, siu(city, "S12", 20, 0, "1"))
    assert city.live.appointments.tell() == 1
    url = city.opened.settings.store.url
    city.opened.close()
    from doseflow.bootstrap import open_city

    again = open_city(city.opened.settings.model_copy(), clock=city.clock, city=city.city.city)
    try:
        assert again.settings.store.url == url
        assert again.live.appointments.tell() == 0
        again.live.run_cycle()
        assert bookings_of_state(again.live, "site-00001") == [0, 1, 0, 0, 0, 0, 0, 0]
        assert again.live.reports.quarantined() == []
    finally:
        again.close()


NAMES = [b"Smith", b"SMITH", b"EVERYMAN", b"ADAM", b"Wong", b"Elise", b"Chalmers", b"MAINSTREET", b"1234567^", b"36996",
         b"608)271", b"19830615", b"Bozeman", b"isp.com", b"Location at"]  # fmt: skip


def test_nobody_of_the_examples_is_anywhere_in_the_database(city, doors) -> None:
    messages = [path.read_bytes() for path in sorted((EXAMPLES / "hl7v2").glob("*.hl7"))]
    refused = [message.replace(b"TQ1|", b"ZZZ|").replace(b"AIS|", b"ZZZ|") for message in messages]
    through_mllp(
        city, *messages, *refused, *(message.replace(b"SIU^", b"ADT^") for message in messages), messages[0][200:]
    )
    for path in sorted((EXAMPLES / "fhir_r4").glob("*.json")):
        post(doors, path.read_bytes())
        post(doors, path.read_bytes().replace(b'"start"', b'"Chalmers"'))
    post(doors, b'{"resourceType":"Appointment","status":"Peter Chalmers","start":"Smith","participant":"Wong"}')
    city.live.run_cycle()
    city.opened.close()
    database = Path(city.opened.settings.store.url.removeprefix("sqlite:///"))
    content = b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))
    # The probe finds what is there: a place is kept by its name, and so is an appointment's site.
    assert b"GH Clinic" in content
    assert [name for name in NAMES if name in content] == []


def test_a_publishers_slots_are_shown_by_site_and_book_nobody(make_city, sections, serve) -> None:
    from doseflow.web.app import create_app

    folder = EXAMPLES / "rite_aid_nj"
    urls = ("http://127.0.0.1:1/$bulk-publish",)
    city = make_city(**sections, slot_feeds=SlotFeedParams(urls=urls))
    [feed] = make_feeds(city.live, city.opened.settings)
    for kind, name in (("Location", "locations-NJ"), ("Schedule", "schedules-NJ")):
        feed.take(kind, (folder / f"{name}.ndjson").read_bytes().splitlines())
    day, shown = "2023-03-25", f"{city.clock.now() + timedelta(days=1):%Y-%m-%d}"
    lines = (folder / "slots-NJ.ndjson").read_bytes().replace(day.encode(), shown.encode()).splitlines()
    feed.take("Slot", [*lines, b"{cut"])
    answer = serve(create_app(city.live)).get("/api/v1/appointments").json()
    [row] = answer["slots"]
    assert (row["source"], row["site_id"], row["slots"], row["capacity_left"]) == (
        "slots:127.0.0.1",
        "site-00003",
        1,
        33,
    )
    assert sum(one["number"] for one in answer["unplaced"]) == 98
    assert city.live.appointments.tell() == 0
    assert [one.field for one in city.live.reports.quarantined()] == ["Slot"]
    city.live.feed.close()
