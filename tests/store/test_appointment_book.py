"""The book's promises, on SQLite always and on PostgreSQL where the machine has one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres_server import NoPostgres, postgres_server

from doseflow.domain.appointment import (
    AppointmentNotice,
    AppointmentStatus,
    DosesNotice,
    Place,
    SlotNotice,
    SlotStatus,
    SourceMessage,
    UnknownCode,
)
from doseflow.ports import TakenMessage
from doseflow.store.appointments import SqlAppointmentBook
from doseflow.store.engine import Store, open_store

NOW = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NORTH = Place(("clinic|north",))
SITES = {"clinic|north": "site-1", "clinic|south": "site-2"}
BOOKED = AppointmentNotice(
    "a1", AppointmentStatus.BOOKED, NOW + 20 * MINUTE, NOW + 30 * MINUTE, 2, NORTH, NOW - 60 * MINUTE
)


@pytest.fixture(scope="module")
def book_of_postgres() -> Iterator[Store]:
    try:
        with postgres_server() as url:
            store = open_store(url)
            yield store
            store.close()
    except NoPostgres as reason:
        pytest.skip(f"THE BOOK IS NOT TESTED ON POSTGRESQL HERE: {reason}")


@pytest.fixture(params=["sqlite", "postgresql"])
def book(request: pytest.FixtureRequest) -> SqlAppointmentBook:
    store: Store = request.getfixturevalue("store" if request.param == "sqlite" else "book_of_postgres")
    store.appointments.forget_before(NOW + timedelta(days=3000))
    return store.appointments


def site_of(place: Place) -> str | None:
    return next((SITES[key] for key in place.keys if key in SITES), None)


def take(book: SqlAppointmentBook, *notices: AppointmentNotice, at: datetime = NOW, **parts) -> TakenMessage:
    message = SourceMessage(parts.pop("source", "hl7:test"), parts.pop("message_id", None), notices, **parts)
    return book.take(message, site_of, lambda text: text.encode().hex()[-32:], at)


def bins(book: SqlAppointmentBook, start: datetime = NOW) -> dict[str, tuple[int, ...]]:
    return book.booked_people(start, heard_since=NOW - timedelta(days=1), first_before=NOW + timedelta(days=1))


def test_people_are_counted_in_the_quarter_hour_of_their_start(book) -> None:
    starts = [0, 14, 15, 119, 120, -1]
    take(book, *(replace(BOOKED, outside_id=str(start), starts_at=NOW + start * MINUTE) for start in starts))
    assert bins(book) == {"site-1": (4, 2, 0, 0, 0, 0, 0, 2)}


WORDS = [
    replace(BOOKED, changed_at=NOW - 50 * MINUTE),
    replace(BOOKED, changed_at=NOW - 40 * MINUTE, starts_at=NOW + 65 * MINUTE),
    replace(BOOKED, changed_at=NOW - 30 * MINUTE, status=AppointmentStatus.CANCELLED, starts_at=None, place=Place()),
]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_words_that_come_in_any_order_end_where_the_newest_says(book, order) -> None:
    take(book)
    for position in order:
        take(book, WORDS[position])
    assert sum(bins(book).get("site-1", (0,))) == 0
    take(book, replace(WORDS[1], changed_at=NOW - 20 * MINUTE))
    assert bins(book)["site-1"] == (0, 0, 0, 0, 2, 0, 0, 0)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(AppointmentStatus), st.integers(0, 7)),
        max_size=12,
    )
)
def test_the_book_agrees_with_a_list_read_from_the_newest_word_back(store, words) -> None:
    book = store.appointments
    book.forget_before(NOW + timedelta(days=3000))
    said = [
        (minute, version, replace(
            BOOKED, outside_id="x", status=status, starts_at=NOW + bin_idx * 15 * MINUTE,
            changed_at=NOW - (60 - minute) * MINUTE, version=version, people=1,
        ), bin_idx)
        for minute, version, status, bin_idx in words
    ]  # fmt: skip
    take(book, *(one[2] for one in said))
    expected = [0] * 8
    if said:
        _, _, last, bin_idx = max(enumerate(said), key=lambda each: (each[1][0], each[1][1], each[0]))[1]
        expected[bin_idx] += last.status == AppointmentStatus.BOOKED
    assert bins(book).get("site-1", (0,) * 8) == tuple(expected)


def test_a_message_again_changes_nothing_even_after_newer_ones(book) -> None:
    without_moment = replace(BOOKED, changed_at=None)
    assert take(book, without_moment, message_id="7") == TakenMessage(False, 1, 0, ())
    take(book, replace(without_moment, status=AppointmentStatus.CANCELLED), message_id="8", at=NOW + MINUTE)
    assert take(book, without_moment, message_id="7", at=NOW + 2 * MINUTE).is_repeat
    assert sum(bins(book)["site-1"]) == 0


def test_a_clock_that_runs_ahead_does_not_shut_out_what_comes_after_it(book) -> None:
    take(book, replace(BOOKED, changed_at=NOW + timedelta(days=400)))
    take(book, replace(BOOKED, changed_at=NOW + 2 * MINUTE, status=AppointmentStatus.CANCELLED), at=NOW + 2 * MINUTE)
    assert sum(bins(book)["site-1"]) == 0


def test_the_same_id_of_two_sources_is_two_appointments(book) -> None:
    take(book, BOOKED)
    take(book, BOOKED, source="fhir")
    assert bins(book)["site-1"][1] == 4


def test_a_place_of_no_site_is_listed_and_counts_once_it_is_named(book) -> None:
    taken = take(book, replace(BOOKED, place=Place(("clinic|east", "Location/7"))))
    assert taken.unplaced == ("clinic|east\nLocation/7",)
    [row] = book.unplaced()
    assert (row.source, row.place, row.number) == ("hl7:test", ("clinic|east", "Location/7"), 1)
    assert "site-3" not in bins(book)
    assert book.place_again(lambda place: "site-3" if "Location/7" in place.keys else None) == 1
    assert bins(book)["site-3"][1] == 2
    assert book.unplaced() == []


def test_a_site_is_known_only_while_its_source_is_heard_and_after_the_warm_up(book) -> None:
    take(book, replace(BOOKED, status=AppointmentStatus.CANCELLED), source="hl7:warm")
    zeros = (0,) * 8
    assert book.booked_people(NOW, heard_since=NOW, first_before=NOW)["site-1"] == zeros
    assert "site-1" not in book.booked_people(NOW, heard_since=NOW + MINUTE, first_before=NOW)
    assert book.booked_people(NOW, heard_since=NOW, first_before=NOW - timedelta(days=9000)) == {}


def test_slots_are_known_by_schedule_and_start_and_the_newest_word_replaces(book) -> None:
    slot = SlotNotice("Schedule/1@x", SlotStatus.FREE, NOW, NOW + 600 * MINUTE, 33, NORTH)
    take(book, slots=(slot, replace(slot, slot_key="Schedule/1@y", capacity_left=None)), source="slots:a")
    take(book, slots=(replace(slot, capacity_left=30),), source="slots:a")
    [left] = book.slots_left(NOW, NOW + MINUTE)
    assert (left.source, left.site_id, left.slots, left.capacity_left) == ("slots:a", "site-1", 2, 30)
    take(book, slots=(replace(slot, status=SlotStatus.BUSY, capacity_left=0),), source="slots:a")
    assert book.slots_left(NOW, NOW + MINUTE)[0].capacity_left is None
    assert book.booked_people(NOW, heard_since=NOW - MINUTE, first_before=NOW - timedelta(days=9000)) == {}


def test_doses_of_a_day_add_up_once_a_message(book) -> None:
    doses = (DosesNotice(date(2026, 5, 4), 1, NORTH), DosesNotice(date(2026, 5, 4), 1, NORTH))
    for message_id in ("1", "1", "2"):
        take(book, doses=doses, message_id=message_id)
    assert book.doses_told(NOW) == [("hl7:test", "site-1", "2026-05-04", 4)]


def test_what_is_over_is_forgotten_and_what_is_to_come_is_not(book) -> None:
    take(
        book, BOOKED, replace(BOOKED, outside_id="a2", starts_at=NOW + timedelta(days=2), ends_at=None), message_id="1"
    )
    assert book.forget_before(NOW + timedelta(days=1)) == 2
    assert not take(book, message_id="1").is_repeat
    assert bins(book, NOW + timedelta(days=2))["site-1"][0] == 2


def test_an_unknown_code_is_noted_in_the_transaction_of_its_message(store_url) -> None:
    noted = []
    store = open_store(store_url)
    book = SqlAppointmentBook(store.appointments._transactions, lambda *told: noted.append(told[1:]))
    take(book, BOOKED, unknown_codes=(UnknownCode("HL70278", "Elvis"),))
    assert noted == [("hl7:test", "HL70278", "Elvis", "", NOW)]
    store.close()


def test_a_source_is_marked_heard_with_its_message_and_failed_with_a_sentence(store_url) -> None:
    marked = []
    store = open_store(store_url)
    book = SqlAppointmentBook(store.appointments._transactions, mark_source=lambda *told: marked.append(told[1:]))
    take(book, BOOKED)
    book.mark("slots:a", NOW, False, "answered 500")
    assert marked == [("hl7:test", NOW, True, ""), ("slots:a", NOW, False, "answered 500")]
    store.close()
