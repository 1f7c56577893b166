"""The door for HL7 v2 over a real store: whatever comes is answered, and stored before it is said to be."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parents[1] / "intake"))
sys.path.append(str(Path(__file__).parents[1] / "store"))

from interface_files import HL7_FILES
from store_samples import START, make_city

from doseflow.intake.hl7_message import read_message
from doseflow.intake.site_places import SitePlaces
from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.live.appointment_params import AppointmentParams
from doseflow.live.clocks import SimulatedClock
from doseflow.live.hl7_door import Hl7Door
from doseflow.store.engine import open_store

EXAMPLES = [path.read_bytes() for path in HL7_FILES]
TABLE = {"AIL-3.4|GH Clinic": "site-0001", "RXA-11.4|NIST-Clinic-1": "site-0002"}


@pytest.fixture(scope="module")
def door(tmp_path_factory) -> Iterator[Hl7Door]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('door') / 'store.sqlite'}")
    places = SitePlaces(make_city(), TABLE)
    desk = AppointmentDesk(
        store.appointments, store.reports, places, SimulatedClock(START), lambda _body: None, str, AppointmentParams()
    )
    yield Hl7Door(desk, "Europe/Prague")
    store.close()


def said(answer: bytes) -> tuple[str, str]:
    """MSA-1, and ERR-3 where there is one."""
    read = read_message(answer)
    error = read.first("ERR")
    return read.named("MSA")[0].text(1), error.text(3) if error else ""


@pytest.mark.parametrize("path", HL7_FILES, ids=lambda path: path.name)
def test_every_example_is_accepted(door, path) -> None:
    assert said(door.answer(path.read_bytes())) == ("AA", "")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(EXAMPLES), st.integers(0, 3000), st.binary(max_size=12), st.integers(0, 60))
def test_an_example_with_any_bytes_changed_is_answered_for_good(door, raw, at, put, cut) -> None:
    code, error = said(door.answer(raw[:at] + put + raw[at + cut :]))
    assert code in {"AA", "AE", "AR"}
    # 207 would have the sender come again with the same message for ever.
    assert error != "207"


def test_the_name_of_a_source_has_nothing_in_it_that_a_database_refuses(door) -> None:
    raw = EXAMPLES[0].replace(b"SCHApp", b"SCH\x00App\x07")
    assert said(door.answer(raw)) == ("AA", "")
    assert all(source.isprintable() for source in door._desk.book.sources())
